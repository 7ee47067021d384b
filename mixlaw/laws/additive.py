"""Apple's additive law: a mixture term beside separate power laws of size and tokens.

    L(N, D, h) = E + 1 / (sum_j C_j h_j^g_j) + A N^-a + B D^-b

======  =======================================  =======  ======
symbol  meaning                                  unit     shape
======  =======================================  =======  ======
E       irreducible loss                         loss     scalar
C_j     worth of domain j for the target         1/loss   (K,)
g_j     returns of a domain's share              1        (K,)
A, B    loss at N = 1e8 and at D = 1e9 above     loss     scalar
a, b    exponents                                1        scalar
======  =======================================  =======  ======

All parameters are positive and stored as logarithms. Source: Shukor et al., arXiv 2507.09404, equation 4 ("additive").
We add a floor of 1e-4 to every share, so that domains with share 0 have derivatives.

Gauge: none while N and D vary independently and every share takes several values.

Reduced forms: with one D the term of D, with one N that of N is left out.

The best mixture under this law does not move with N or D: use it as the published reference, not to choose a mixture
for a run that is much larger than the proxies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mixlaw.laws.base import Example, Floats, Inputs, Law, Need, Parameter
from mixlaw.laws.terms import Blend, Scale, blend_starts, by_row, clipped, needs_of, powers_of, split, weights_of


@dataclass(frozen=True)
class Additive:
    """The law, or a form without the term of N or of D; theta = log (E, A, B, a, b, C_1 ... C_K, g_1 ... g_K)."""

    name: str = "additive"
    scale: Scale = field(default_factory=Scale)
    reduced: tuple[Law, ...] = ()

    @property
    def needs(self) -> frozenset[Need]:
        """Columns that must take several values."""
        return needs_of(sized=self.scale.sized, timed=self.scale.timed)

    def parameters(self, domains: Sequence[str]) -> tuple[Parameter, ...]:
        """The scalars of the null law, then C and g per domain."""
        return (*self.scale.parameters(), *weights_of("C", domains), *powers_of("g", domains))

    def _split(self, theta: Floats, inputs: Inputs) -> tuple[Floats, Blend]:
        """The scalars, and the worth of each mixture."""
        count = len(inputs.domains)
        part = split(theta, {"scale": self.scale.size, "C": count, "g": count})
        return part["scale"], Blend.of(part["C"], part["g"], inputs)

    def predict(self, theta: Floats, inputs: Inputs) -> Floats:
        """Loss of each row, shape (..., n)."""
        scale, blend = self._split(theta, inputs)
        return self.scale.predict(scale, inputs) + by_row(np.exp(-blend.log), inputs)

    def gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Derivative of the loss by theta, shape (..., n, P)."""
        scale, blend = self._split(theta, inputs)
        slope = -np.exp(-blend.log)[..., None]
        mixture = np.concatenate([blend.by_weight * slope, blend.by_power * slope], axis=-1)
        return np.concatenate([self.scale.gradient(scale, inputs), by_row(mixture, inputs, axis=-2)], axis=-1)

    def share_gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Derivative of the loss by the shares of each row's mixture, shape (..., n, K)."""
        _, blend = self._split(theta, inputs)
        return by_row(blend.by_share * -np.exp(-blend.log)[..., None], inputs, axis=-2)

    def starts(self, inputs: Inputs, y: Floats, rng: np.random.Generator, count: int) -> Floats:
        """The null law's starts on part of the loss, the rest left to the mixture term."""
        part = rng.uniform(0.1, 0.6, (count, 1))
        scale = self.scale.starts(inputs, y, rng, count, part=1 - part[:, 0])
        rest = np.maximum(np.median(y) - np.exp(scale[:, :1]), 0.05) * part
        weight, power = blend_starts(1 / rest, rng, len(inputs.domains))
        return clipped(np.concatenate([scale, weight, power], axis=1), self.parameters(inputs.domains))


SIZED = Additive("additive-params", Scale(timed=False))
TIMED = Additive("additive-tokens", Scale(sized=False))
LAW = Additive(reduced=(SIZED, TIMED))

EXAMPLE = Example(
    domains=("web", "code", "math"),
    theta=(0.4, -0.7, -0.4, -1.1, -0.9, 0.5, -0.4, 0.2, -0.7, -0.3, -0.9),
    mixtures=30,
)
