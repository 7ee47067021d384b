"""Mixture times scale: the part of the loss that can be learned is divided by the worth of the mixture.

    L(N, D, h) = E + (1 + A N^-a + B D^-b) / (sum_j C_j (h_j + f)^g_j)

======  =========================================  =======  ======
symbol  meaning                                    unit     shape
======  =========================================  =======  ======
E       irreducible loss                           loss     scalar
C_j     worth of domain j for the target           1/loss   (K,)
g_j     returns of a domain's share                1        (K,)
A, B    parts due to N = 1e8 and to D = 1e9        1        scalar
a, b    exponents                                  1        scalar
f       floor that keeps empty domains finite      1        1e-4
======  =========================================  =======  ======

All parameters are positive and stored as logarithms. Source: this project; a variant of Shukor et al.,
arXiv 2507.09404, in which mixture and scale multiply instead of add.

Gauge: in ``(G + A N^-a + B D^-b) / sum_j C_j h_j^g_j`` a common factor of G, A, B and C cancels; G = 1 here. A part of
the loss that vanishes with scale altogether is the limit of large A, B and C.

Reduced forms: with one D the term of D, with one N that of N is left out. The best mixture does not move with scale:
use it as a reference between ``additive`` and ``capacity``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mixlaw.laws.base import Example, Floats, Inputs, Law, Need, Parameter
from mixlaw.laws.terms import Blend, Scale, blend_starts, by_row, clipped, needs_of, powers_of, split, weights_of


@dataclass(frozen=True)
class Product:
    """The law, or a form without the term of N or of D; theta = log (E, A, B, a, b, C_1 ... C_K, g_1 ... g_K)."""

    name: str = "product"
    scale: Scale = field(default_factory=Scale)
    reduced: tuple[Law, ...] = ()

    @property
    def needs(self) -> frozenset[Need]:
        """Columns that must take several values."""
        return needs_of(sized=self.scale.sized, timed=self.scale.timed)

    def parameters(self, domains: Sequence[str]) -> tuple[Parameter, ...]:
        """The scalars, then C and g per domain."""
        return (*self.scale.parameters(), *weights_of("C", domains), *powers_of("g", domains))

    def _split(self, theta: Floats, inputs: Inputs) -> dict[str, Floats]:
        count = len(inputs.domains)
        return split(theta, {"scale": self.scale.size, "C": count, "g": count})

    def _parts(self, theta: Floats, inputs: Inputs) -> tuple[Blend, Floats, Floats]:
        """The worth of each mixture, its inverse per row (..., n), and the loss that it divides (..., n)."""
        part = self._split(theta, inputs)
        blend = Blend.of(part["C"], part["g"], inputs)
        inverse = by_row(np.exp(-blend.log), inputs)
        terms = self.scale.terms(part["scale"], inputs)
        return blend, inverse, np.asarray((1 + sum(term for name, term in terms.items() if name != "E")) * inverse)

    def predict(self, theta: Floats, inputs: Inputs) -> Floats:
        """Loss of each row, shape (..., n)."""
        return np.asarray(np.exp(theta[..., :1]) + self._parts(theta, inputs)[2])

    def gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Derivative of the loss by theta, shape (..., n, P)."""
        blend, inverse, divided = self._parts(theta, inputs)
        out = np.empty((*theta.shape[:-1], len(inputs), theta.shape[-1]))
        slot = self._split(out, inputs)
        slot["scale"][...] = self.scale.gradient(self._split(theta, inputs)["scale"], inputs)
        slot["scale"][..., 1:] *= inverse[..., None]
        np.multiply(by_row(blend.by_weight, inputs, axis=-2), -divided[..., None], out=slot["C"])
        np.multiply(by_row(blend.by_power, inputs, axis=-2), -divided[..., None], out=slot["g"])
        return out

    def share_gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Derivative of the loss by the shares of each row's mixture, shape (..., n, K)."""
        blend, _, divided = self._parts(theta, inputs)
        return by_row(blend.by_share, inputs, axis=-2) * -divided[..., None]

    def starts(self, inputs: Inputs, y: Floats, rng: np.random.Generator, count: int) -> Floats:
        """The constant takes part of what E leaves of the median loss, the terms of N and D the rest."""
        scale = self.scale.starts(inputs, y, rng, count)
        rest = np.maximum(np.median(y) - np.exp(scale[:, :1]), 0.05) * rng.uniform(0.2, 0.8, (count, 1))
        amplitudes = [i for i, name in enumerate(self.scale.names) if name in "AB"]
        scale[:, amplitudes] -= np.log(rest)
        weight, power = blend_starts(1 / rest, rng, len(inputs.domains))
        return clipped(np.concatenate([scale, weight, power], axis=1), self.parameters(inputs.domains))


SIZED = Product("product-params", Scale(timed=False))
TIMED = Product("product-tokens", Scale(sized=False))
LAW = Product(reduced=(SIZED, TIMED))

EXAMPLE = Example(
    domains=("web", "code", "math"),
    theta=(0.4, -0.5, -0.4, -1.1, -0.9, 0.3, -0.4, 0.2, -0.7, -0.3, -0.9),
    mixtures=30,
)
