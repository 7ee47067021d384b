"""Linear regression of the loss on the shares, with log N and log D as columns where they vary.

    L(N, D, h) = sum_j t_j h_j + n log N + d log D

======  ==========================================  =====  ======
symbol  meaning                                     unit   shape
======  ==========================================  =====  ======
t_j     loss on domain j alone at N = 1e8, D = 1e9  loss   (K,)
n, d    change per factor e in N, in D              loss   scalar
======  ==========================================  =====  ======

Everything is free in sign. Source: the linear surrogate of Liu et al., arXiv 2407.01492 (RegMix). An intercept would
be redundant, since shares sum to 1. Predictions are kept above 1e-3, so that their logarithm exists.

Gauge: none while every share takes several values. The starts are ridge solutions of several strengths about equal
t_j, and the solver's own ridge pulls towards their mean.

Use it as a baseline that a law must beat: mixtures have diminishing returns, which a straight line does not know.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mixlaw.laws.base import Example, Floats, Inputs, Law, Need, Parameter
from mixlaw.laws.terms import by_row, clipped, needs_of

LOWEST = 1e-3
"""Smallest loss that the line may predict."""
STRENGTHS = np.geomspace(1e-4, 1e-1, 4)
"""Ridge per row of the starting solutions."""


@dataclass(frozen=True)
class Linear:
    """The law, or a form without N or D; theta = (t_1 ... t_K, n, d)."""

    name: str = "linear"
    sized: bool = True
    timed: bool = True
    reduced: tuple[Law, ...] = ()

    @property
    def needs(self) -> frozenset[Need]:
        """Columns that must take several values."""
        return needs_of(sized=self.sized, timed=self.timed)

    def parameters(self, domains: Sequence[str]) -> tuple[Parameter, ...]:
        """Slopes per domain, then n and d."""
        names = [f"t[{d}]" for d in domains] + ["n"] * self.sized + ["d"] * self.timed
        return tuple(Parameter(name, log=False, lower=-100.0, upper=100.0) for name in names)

    def _scales(self, inputs: Inputs) -> Floats:
        """Log N and log D where they enter, shape (n, 0), (n, 1) or (n, 2)."""
        columns = [inputs.log_params] * self.sized + [inputs.log_tokens] * self.timed
        return np.array(columns).reshape(len(columns), len(inputs)).T

    def _line(self, theta: Floats, inputs: Inputs) -> Floats:
        domains = len(inputs.domains)
        mixture = by_row(theta[..., :domains] @ inputs.mixtures.T, inputs)
        return np.asarray(mixture + theta[..., domains:] @ self._scales(inputs).T)

    def predict(self, theta: Floats, inputs: Inputs) -> Floats:
        """Loss of each row, shape (..., n)."""
        return np.maximum(self._line(theta, inputs), LOWEST)

    def gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Derivative of the loss by theta, shape (..., n, P)."""
        above = self._line(theta, inputs) > LOWEST
        return np.asarray(above[..., None] * np.hstack([inputs.shares, self._scales(inputs)]))

    def share_gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Derivative of the loss by the shares of each row's mixture, shape (..., n, K)."""
        above = self._line(theta, inputs) > LOWEST
        return np.asarray(above[..., None] * theta[..., None, : len(inputs.domains)])

    def starts(self, inputs: Inputs, y: Floats, rng: np.random.Generator, count: int) -> Floats:
        """Ridge regressions towards equal t_j, of strengths drawn from ``STRENGTHS``."""
        design = np.hstack([inputs.shares, self._scales(inputs)])
        prior = np.zeros(design.shape[1])
        prior[: len(inputs.domains)] = np.mean(y)
        normal, right = design.T @ design, design.T @ (y - design @ prior)
        strength = rng.choice(STRENGTHS, count) * len(y)
        lifted = normal + strength[:, None, None] * np.eye(len(prior))
        start = prior + np.linalg.solve(lifted, np.broadcast_to(right, (count, len(prior)))[..., None])[..., 0]
        return clipped(start, self.parameters(inputs.domains))


MIX = Linear("linear-mix", sized=False, timed=False)
SIZED = Linear("linear-params", timed=False)
TIMED = Linear("linear-tokens", sized=False)
LAW = Linear(reduced=(SIZED, TIMED, MIX))

EXAMPLE = Example(domains=("web", "code", "math"), theta=(2.6, 2.2, 3.1, -0.15, -0.1))
