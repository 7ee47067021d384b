"""A mixture term that grows or shrinks with scale, beside separate power laws of size and tokens.

    L(N, D, h) = E + N^u D^v / (sum_j C_j (h_j + f)^g_j) + A N^-a + B D^-b

======  =========================================  =======  ======
symbol  meaning                                    unit     shape
======  =========================================  =======  ======
E       irreducible loss                           loss     scalar
A, B    loss at N = 1e8 and at D = 1e9 above       loss     scalar
a, b    exponents                                  1        scalar
u, v    how the mixture term moves with N and D    1        scalar
C_j     worth of domain j at N = 1e8 and D = 1e9   1/loss   (K,)
g_j     returns of a domain's share                1        (K,)
f       floor that keeps empty domains finite      1        1e-4
======  =========================================  =======  ======

u and v may have either sign; the others are positive and stored as logarithms. Source: this project; Shukor et al.,
arXiv 2507.09404, equation 4, is the case u = v = 0.

Gauge: none while N and D vary independently; with one D/N for all runs u and v trade off, and a and b.

Reduced forms: with one D the term of D and v, with one N the term of N and u are left out. For one target the best
mixture does not move with scale, but the balance between targets does, since each has its own u and v.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mixlaw.laws.base import Example, Floats, Inputs, Law, Need, Parameter
from mixlaw.laws.terms import Blend, Scale, blend_starts, by_row, clipped, needs_of, powers_of, split, weights_of


@dataclass(frozen=True)
class Modulated:
    """The law, or a form without N or without D; theta = (log (E, A, B, a, b), u, v, log C_1 ..., log g_1 ...)."""

    name: str = "modulated"
    scale: Scale = field(default_factory=Scale)
    reduced: tuple[Law, ...] = ()

    @property
    def needs(self) -> frozenset[Need]:
        """Columns that must take several values."""
        return needs_of(sized=self.scale.sized, timed=self.scale.timed)

    @property
    def _drifts(self) -> tuple[str, ...]:
        return tuple(name for name, there in (("u", self.scale.sized), ("v", self.scale.timed)) if there)

    def parameters(self, domains: Sequence[str]) -> tuple[Parameter, ...]:
        """The scalars, then C and g per domain."""
        drifts = (Parameter(name, log=False, lower=-1.0, upper=1.0) for name in self._drifts)
        return (*self.scale.parameters(), *drifts, *weights_of("C", domains), *powers_of("g", domains))

    def _split(self, theta: Floats, inputs: Inputs) -> dict[str, Floats]:
        count = len(inputs.domains)
        return split(theta, {"scale": self.scale.size, "drift": len(self._drifts), "C": count, "g": count})

    def _logs(self, inputs: Inputs) -> Floats:
        """Log N and log D where they enter, shape (n, 1) or (n, 2)."""
        columns = {"u": inputs.log_params, "v": inputs.log_tokens}
        return np.stack([columns[name] for name in self._drifts], axis=-1)

    def _term(self, theta: Floats, inputs: Inputs) -> tuple[Blend, Floats]:
        """The worth of each mixture, and the mixture term of each row (..., n)."""
        part = self._split(theta, inputs)
        blend = Blend.of(part["C"], part["g"], inputs)
        return blend, np.exp(part["drift"] @ self._logs(inputs).T - by_row(blend.log, inputs))

    def predict(self, theta: Floats, inputs: Inputs) -> Floats:
        """Loss of each row, shape (..., n)."""
        _, term = self._term(theta, inputs)
        return self.scale.predict(self._split(theta, inputs)["scale"], inputs) + term

    def gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Derivative of the loss by theta, shape (..., n, P)."""
        blend, term = self._term(theta, inputs)
        out = np.empty((*theta.shape[:-1], len(inputs), theta.shape[-1]))
        slot = self._split(out, inputs)
        slot["scale"][...] = self.scale.gradient(self._split(theta, inputs)["scale"], inputs)
        slot["drift"][...] = term[..., None] * self._logs(inputs)
        np.multiply(by_row(blend.by_weight, inputs, axis=-2), -term[..., None], out=slot["C"])
        np.multiply(by_row(blend.by_power, inputs, axis=-2), -term[..., None], out=slot["g"])
        return out

    def share_gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Derivative of the loss by the shares of each row's mixture, shape (..., n, K)."""
        blend, term = self._term(theta, inputs)
        return by_row(blend.by_share, inputs, axis=-2) * -term[..., None]

    def starts(self, inputs: Inputs, y: Floats, rng: np.random.Generator, count: int) -> Floats:
        """The null law's starts on part of the loss, the rest left to a mixture term with small u and v."""
        part = rng.uniform(0.1, 0.6, (count, 1))
        scale = self.scale.starts(inputs, y, rng, count, part=1 - part[:, 0])
        rest = np.maximum(np.median(y) - np.exp(scale[:, :1]), 0.05) * part
        drift = 0.05 * rng.standard_normal((count, len(self._drifts)))
        middle = (drift * np.median(self._logs(inputs), axis=0)).sum(axis=1, keepdims=True)
        weight, power = blend_starts(np.exp(middle) / rest, rng, len(inputs.domains))
        return clipped(np.concatenate([scale, drift, weight, power], axis=1), self.parameters(inputs.domains))


SIZED = Modulated("modulated-params", Scale(timed=False))
TIMED = Modulated("modulated-tokens", Scale(sized=False))
LAW = Modulated(reduced=(SIZED, TIMED))

EXAMPLE = Example(
    domains=("web", "code", "math"),
    theta=(0.4, -0.7, -0.4, -1.1, -0.9, -0.1, 0.05, 0.5, -0.4, 0.2, -0.7, -0.3, -0.9),
    mixtures=30,
)
