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

The best mixture under this law does not move with N or D: use it as the published reference, not to choose a mixture
for a run that is much larger than the proxies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mixlaw.laws.base import Example, Floats, Inputs, Law, Need, Parameter
from mixlaw.laws.terms import FLOOR, Scale


@dataclass(frozen=True)
class Additive:
    """The law; theta = log (E, A, B, a, b, C_1 ... C_K, g_1 ... g_K)."""

    name: str = "additive"
    needs: frozenset[Need] = frozenset({"params", "tokens", "mix"})
    reduced: tuple[Law, ...] = ()

    def parameters(self, domains: Sequence[str]) -> tuple[Parameter, ...]:
        """The scalars of the null law, then C and g per domain."""
        worth = (Parameter(f"C[{d}]", lower=-12.0, upper=18.0, prior=0.0) for d in domains)
        powers = (Parameter(f"g[{d}]", lower=np.log(0.02), upper=np.log(4.0), prior=-0.7) for d in domains)
        return (*Scale.parameters(), *worth, *powers)

    def _mixture(self, theta: Floats, inputs: Inputs) -> tuple[Floats, Floats]:
        """Worth per mixture and domain (..., m, K) and the mixture term (..., m)."""
        worth, power = np.split(theta[..., Scale.size :], 2, axis=-1)
        terms = np.exp(worth[..., None, :] + np.exp(power)[..., None, :] * np.log(inputs.mixtures + FLOOR))
        return terms, 1 / terms.sum(axis=-1)

    def predict(self, theta: Floats, inputs: Inputs) -> Floats:
        """Loss of each row, shape (..., n)."""
        _, term = self._mixture(theta, inputs)
        return Scale.predict(theta[..., : Scale.size], inputs) + np.take(term, inputs.code, axis=-1)

    def gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Derivative of the loss by theta, shape (..., n, P)."""
        terms, total = self._mixture(theta, inputs)
        by_worth = -terms * total[..., None] ** 2
        power = np.exp(np.split(theta[..., Scale.size :], 2, axis=-1)[1])[..., None, :]
        by_power = by_worth * power * np.log(inputs.mixtures + FLOOR)
        mixture = np.take(np.concatenate([by_worth, by_power], axis=-1), inputs.code, axis=-2)
        return np.concatenate([Scale.gradient(theta[..., : Scale.size], inputs), mixture], axis=-1)

    def share_gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Derivative of the loss by the shares of each row's mixture, shape (..., n, K)."""
        terms, total = self._mixture(theta, inputs)
        power = np.exp(np.split(theta[..., Scale.size :], 2, axis=-1)[1])[..., None, :]
        change = -terms * power / (inputs.mixtures + FLOOR) * total[..., None] ** 2
        return np.take(change, inputs.code, axis=-2)

    def starts(self, inputs: Inputs, y: Floats, rng: np.random.Generator, count: int) -> Floats:
        """The null law's starts on part of the loss, the rest left to the mixture term."""
        domains = len(inputs.domains)
        scale = Scale.starts(inputs, y, rng, count)
        part = rng.uniform(0.1, 0.6, (count, 1))
        scale[:, 1:3] += np.log1p(-part)
        rest = np.maximum(np.median(y) - np.exp(scale[:, :1]), 0.05) * part
        power = np.log(rng.uniform(0.2, 1.0, (count, domains)))
        worth = -np.log(rest * domains) - np.exp(power) * np.log(1 / domains)
        worth += 0.5 * rng.standard_normal((count, domains))
        return np.concatenate([scale, worth, power], axis=-1)


LAW = Additive()

EXAMPLE = Example(
    domains=("web", "code", "math"),
    theta=(0.4, -0.7, -0.4, -1.1, -0.9, 0.5, -0.4, 0.2, -0.7, -0.3, -0.9),
    mixtures=30,
)
