"""The data mixing law: a constant plus an exponential of a weighted sum of shares.

    L(h) = c + exp(sum_j t_j h_j)

======  ==================================  =====  ======
symbol  meaning                             unit   shape
======  ==================================  =====  ======
c       loss that no mixture removes        loss   scalar
t_j     log loss that domain j alone adds   1      (K,)
======  ==================================  =====  ======

c is positive and stored as a logarithm, t is free. Source: Ye et al., arXiv 2403.16952, equation 7, where
``c + k exp(sum_j t_j h_j)`` is printed.

Gauge: on the simplex k is redundant (adding d to every t_j multiplies k by e^d); k = 1 here.

Use it for one model size and one token count. It has neither N nor D in it: with several sizes in the table it
averages over them. With c at 0 it is the log-linear law of the regression literature.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mixlaw.laws.base import Example, Floats, Inputs, Law, Need, Parameter


@dataclass(frozen=True)
class Exponential:
    """The law; theta = (log c, t_1 ... t_K)."""

    name: str = "exp"
    needs: frozenset[Need] = frozenset({"mix"})
    reduced: tuple[Law, ...] = ()

    def parameters(self, domains: Sequence[str]) -> tuple[Parameter, ...]:
        """Log c, then t per domain."""
        slopes = (Parameter(f"t[{d}]", log=False, lower=-50.0, upper=20.0) for d in domains)
        return (Parameter("c", lower=-7.0, upper=3.0, prior=0.5), *slopes)

    def _by_mixture(self, theta: Floats, inputs: Inputs) -> Floats:
        return np.asarray(np.exp(theta[..., 1:] @ inputs.mixtures.T))

    def predict(self, theta: Floats, inputs: Inputs) -> Floats:
        """Loss of each row, shape (..., n)."""
        return np.exp(theta[..., :1]) + np.take(self._by_mixture(theta, inputs), inputs.code, axis=-1)

    def gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Derivative of the loss by theta, shape (..., n, P)."""
        slopes = self._by_mixture(theta, inputs)[..., None] * inputs.mixtures
        constant = np.broadcast_to(np.exp(theta[..., None, :1]), (*slopes.shape[:-1], 1))
        return np.take(np.concatenate([constant, slopes], axis=-1), inputs.code, axis=-2)

    def share_gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Derivative of the loss by the shares of each row's mixture, shape (..., n, K)."""
        term = np.take(self._by_mixture(theta, inputs), inputs.code, axis=-1)
        return np.asarray(term[..., None] * theta[..., None, 1:])

    def starts(self, inputs: Inputs, y: Floats, rng: np.random.Generator, count: int) -> Floats:
        """A constant below the smallest loss; t from least squares on the log of what remains."""
        floor = np.min(y) * rng.uniform(0.05, 0.95, count)
        shares = inputs.shares
        slopes = [np.linalg.lstsq(shares, np.log(y - c), rcond=1e-6)[0] for c in floor]
        noise = 0.1 * rng.standard_normal((count, shares.shape[1]))
        start = np.column_stack([np.log(floor), np.stack(slopes) + noise])
        bounds = self.parameters(inputs.domains)
        return np.asarray(np.clip(start, [p.lower for p in bounds], [p.upper for p in bounds]))


LAW = Exponential()

EXAMPLE = Example(domains=("web", "code", "math"), theta=(0.7, 0.3, -0.4, 0.1), params=(1e8,), tokens=(1e9,))
