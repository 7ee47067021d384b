"""Apple's joint law: as the additive law, with power laws of size and tokens whose height depends on the mixture.

    L(N, D, h) = E + 1 / (sum_j C_j (h_j + f)^g_j) + (sum_j P_j h_j)^p N^-a + (sum_j Q_j h_j)^q D^-b

======  =============================================  ============  ======
symbol  meaning                                        unit          shape
======  =============================================  ============  ======
E       irreducible loss                               loss          scalar
C_j     worth of domain j for the target               1/loss        (K,)
g_j     returns of a domain's share                    1             (K,)
P_j     what domain j asks of size, at N = 1e8         loss^(1/p)    (K,)
Q_j     what domain j asks of data, at D = 1e9         loss^(1/q)    (K,)
p, q    bend of the two sums                           1             scalar
a, b    exponents                                      1             scalar
f       floor that keeps empty domains finite          1             1e-4
======  =============================================  ============  ======

All parameters are positive and stored as logarithms. Source: Shukor et al., arXiv 2507.09404, equation 5 ("joint"),
where P, Q, p, q read C_A, C_B, gamma_A, gamma_B.

Gauge: p and P trade off where P_j is almost the same for all domains (the sum is then flat in h, and only P^p counts).

Use it as the published reference for a mixture that moves with scale. It has 5 + 4 K parameters: with few runs it
follows noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mixlaw.laws.base import Example, Floats, Inputs, Law, Need, Parameter
from mixlaw.laws.terms import Blend, Scale, blend_starts, by_row, clipped, exponent, powers_of, split, weights_of

HEIGHTS = (("P", "p", "a"), ("Q", "q", "b"))
"""Weights, bend and exponent of the term of size and of the term of data."""


@dataclass(frozen=True)
class Joint:
    """The law; theta = log (E, a, b, p, q, C_1 ..., g_1 ..., P_1 ..., Q_1 ...)."""

    name: str = "joint"
    needs: frozenset[Need] = frozenset({"params", "tokens", "mix"})
    reduced: tuple[Law, ...] = ()

    def parameters(self, domains: Sequence[str]) -> tuple[Parameter, ...]:
        """The scalars, then C, g, P and Q per domain."""
        bends = [Parameter(name, lower=np.log(0.02), upper=np.log(4.0)) for name in "pq"]
        scalars = (Scale().parameters()[0], exponent("a"), exponent("b"), *bends)
        heights = (*weights_of("P", domains, upper=12.0), *weights_of("Q", domains, upper=12.0))
        return (*scalars, *weights_of("C", domains), *powers_of("g", domains), *heights)

    def _split(self, theta: Floats, inputs: Inputs) -> dict[str, Floats]:
        return split(theta, dict.fromkeys("Eabpq", 1) | dict.fromkeys("CgPQ", len(inputs.domains)))

    def _height(self, part: dict[str, Floats], names: tuple[str, str, str], inputs: Inputs) -> tuple[Blend, Floats]:
        """The inner sum on each mixture, and the term of each row (..., n)."""
        weights, bend, power = names
        blend = Blend.of(part[weights], None, inputs)
        scale = inputs.log_params if power == "a" else inputs.log_tokens
        return blend, np.exp(by_row(np.exp(part[bend]) * blend.log, inputs) - np.exp(part[power]) * scale)

    def predict(self, theta: Floats, inputs: Inputs) -> Floats:
        """Loss of each row, shape (..., n)."""
        part = self._split(theta, inputs)
        mixture = by_row(np.exp(-Blend.of(part["C"], part["g"], inputs).log), inputs)
        return np.exp(part["E"]) + mixture + sum(self._height(part, names, inputs)[1] for names in HEIGHTS)

    def gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Derivative of the loss by theta, shape (..., n, P)."""
        part = self._split(theta, inputs)
        out = np.empty((*theta.shape[:-1], len(inputs), theta.shape[-1]))
        slot = self._split(out, inputs)
        slot["E"][...] = np.exp(part["E"])[..., None, :]
        blend = Blend.of(part["C"], part["g"], inputs)
        slope = -np.exp(-blend.log)[..., None]
        slot["C"][...] = by_row(blend.by_weight * slope, inputs, axis=-2)
        slot["g"][...] = by_row(blend.by_power * slope, inputs, axis=-2)
        for weights, bend, power in HEIGHTS:
            blend, term = self._height(part, (weights, bend, power), inputs)
            steep = np.exp(part[bend])
            scale = inputs.log_params if power == "a" else inputs.log_tokens
            slot[power][...] = (-term * np.exp(part[power]) * scale)[..., None]
            slot[bend][...] = (term * by_row(steep * blend.log, inputs))[..., None]
            np.multiply(by_row(blend.by_weight, inputs, axis=-2), (steep * term)[..., None], out=slot[weights])
        return out

    def share_gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Derivative of the loss by the shares of each row's mixture, shape (..., n, K)."""
        part = self._split(theta, inputs)
        blend = Blend.of(part["C"], part["g"], inputs)
        out = by_row(blend.by_share * -np.exp(-blend.log)[..., None], inputs, axis=-2)
        for names in HEIGHTS:
            blend, term = self._height(part, names, inputs)
            out = out + by_row(blend.by_share, inputs, axis=-2) * (np.exp(part[names[1]]) * term)[..., None]
        return np.asarray(out)

    def starts(self, inputs: Inputs, y: Floats, rng: np.random.Generator, count: int) -> Floats:
        """The additive law's starts, with P and Q scattered about one height for all domains."""
        domains = len(inputs.domains)
        share = rng.uniform(0.1, 0.6, (count, 1))
        scale = split(Scale().starts(inputs, y, rng, count, part=1 - share[:, 0]), dict.fromkeys("EABab", 1))
        rest = np.maximum(np.median(y) - np.exp(scale["E"]), 0.05) * share
        worth, power = blend_starts(1 / rest, rng, domains)
        bends = np.log(rng.uniform(0.3, 1.5, (2, count, 1)))
        spread = 0.5 * rng.standard_normal((2, count, domains))
        size, data = (scale[name] / np.exp(b) + s for name, b, s in zip("AB", bends, spread, strict=True))
        theta = np.concatenate([scale["E"], scale["a"], scale["b"], *bends, worth, power, size, data], axis=1)
        return clipped(theta, self.parameters(inputs.domains))


LAW = Joint()

EXAMPLE = Example(
    domains=("web", "code", "math"),
    theta=(0.4, -1.1, -0.9, -0.3, -0.2, 0.5, -0.4, 0.2, -0.7, -0.3, -0.9, -0.7, 0.5, -0.2, -0.4, 0.3, -0.9),
    mixtures=40,
)
