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

Published code also calls this law log-linear. ``loglinear`` here is the form with c = 0, linear regression on the log
loss: one convex problem, one start, and a weak baseline, since it knows no floor.

Use it for one model size and one token count. It has neither N nor D in it: with several sizes in the table it
averages over them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mixlaw.laws.base import Example, Floats, Inputs, Law, Need, Parameter
from mixlaw.laws.terms import by_row, clipped


@dataclass(frozen=True)
class Exponential:
    """The law; theta = (log c, t_1 ... t_K), or without c."""

    name: str = "exp"
    constant: bool = True
    needs: frozenset[Need] = frozenset({"mix"})
    reduced: tuple[Law, ...] = ()

    def parameters(self, domains: Sequence[str]) -> tuple[Parameter, ...]:
        """Log c, then t per domain."""
        slopes = (Parameter(f"t[{d}]", log=False, lower=-50.0, upper=20.0) for d in domains)
        return (*([Parameter("c", lower=-7.0, upper=3.0, prior=0.5)] if self.constant else []), *slopes)

    def _by_mixture(self, theta: Floats, inputs: Inputs) -> Floats:
        """The exponential on each mixture, shape (..., m)."""
        return np.asarray(np.exp(theta[..., int(self.constant) :] @ inputs.mixtures.T))

    def predict(self, theta: Floats, inputs: Inputs) -> Floats:
        """Loss of each row, shape (..., n)."""
        term = by_row(self._by_mixture(theta, inputs), inputs)
        return np.exp(theta[..., :1]) + term if self.constant else term

    def gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Derivative of the loss by theta, shape (..., n, P)."""
        slopes = self._by_mixture(theta, inputs)[..., None] * inputs.mixtures
        if self.constant:
            constant = np.broadcast_to(np.exp(theta[..., None, :1]), (*slopes.shape[:-1], 1))
            slopes = np.concatenate([constant, slopes], axis=-1)
        return by_row(slopes, inputs, axis=-2)

    def share_gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Derivative of the loss by the shares of each row's mixture, shape (..., n, K)."""
        term = by_row(self._by_mixture(theta, inputs), inputs)
        return np.asarray(term[..., None] * theta[..., None, int(self.constant) :])

    def starts(self, inputs: Inputs, y: Floats, rng: np.random.Generator, count: int) -> Floats:
        """A constant below the smallest loss; t from least squares on the log of what remains."""
        floor = np.min(y) * rng.uniform(0.05, 0.95, count) * self.constant
        shares = inputs.shares
        slopes = np.linalg.lstsq(shares, np.log(y[:, None] - floor), rcond=1e-6)[0].T
        start = slopes + 0.1 * rng.standard_normal(slopes.shape)
        if self.constant:
            start = np.column_stack([np.log(floor), start])
        return clipped(start, self.parameters(inputs.domains))


LAW = Exponential()
LOGLINEAR = Exponential("loglinear", constant=False)

EXAMPLE = Example(domains=("web", "code", "math"), theta=(0.7, 0.3, -0.4, 0.1), params=(1e8,), tokens=(1e9,))
EXAMPLE_LOGLINEAR = Example(domains=("web", "code", "math"), theta=(1.1, 0.8, 1.4), params=(1e8,), tokens=(1e9,))
