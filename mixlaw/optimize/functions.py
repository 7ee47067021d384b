"""Functions of a mixture that the solver minimises: predicted objective, penalties, and their sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mixlaw.laws.base import Floats
from mixlaw.laws.terms import FLOOR
from mixlaw.optimize.interior import Function


class Smooth(Protocol):
    """A function with a gradient."""

    def gradient(self, shares: Floats) -> tuple[Floats, Floats]:
        """Values (n,) and derivatives (n, K)."""


def differences(function: Smooth, share: Floats) -> Floats:
    """Second derivatives at one mixture from differences of exact gradients, all in one batch, shape (K, K)."""
    step = 1e-4 * (share + FLOOR)
    _, slopes = function.gradient(np.vstack([share, share + np.diag(step)]))
    curve = (slopes[1:] - slopes[0]) / step[:, None]
    return np.asarray(0.5 * (curve + curve.T))


@dataclass(frozen=True)
class Divergence:
    """``weight * sum_j h_j log(h_j / r_j)``: distance from a reference mixture, shape (K,).

    Domains that the reference lacks must have no share.
    """

    reference: Floats
    weight: float

    def _logs(self, shares: Floats) -> Floats:
        held = self.reference > 0
        safe = np.where(held, np.maximum(shares, 1e-300), 1.0)
        return np.log(safe / np.where(held, self.reference, 1.0))

    def value(self, shares: Floats) -> Floats:
        """Value at each mixture."""
        return np.asarray(self.weight * (shares * self._logs(shares)).sum(axis=1))

    def gradient(self, shares: Floats) -> tuple[Floats, Floats]:
        """Values and derivatives."""
        logs = self._logs(shares)
        return self.value(shares), self.weight * np.where(self.reference > 0, logs + 1, 0.0)

    def hessian(self, share: Floats) -> Floats:
        """Second derivatives."""
        return np.diag(np.where(self.reference > 0, self.weight / np.maximum(share, 1e-300), 0.0))


@dataclass(frozen=True)
class Sum:
    """The sum of several functions."""

    parts: Sequence[Function]

    def value(self, shares: Floats) -> Floats:
        """Value at each mixture."""
        return np.asarray(sum(part.value(shares) for part in self.parts))

    def gradient(self, shares: Floats) -> tuple[Floats, Floats]:
        """Values and derivatives."""
        values, slopes = zip(*(part.gradient(shares) for part in self.parts), strict=True)
        return np.asarray(sum(values)), np.asarray(sum(slopes))

    def hessian(self, share: Floats) -> Floats:
        """Second derivatives."""
        return np.asarray(sum(part.hessian(share) for part in self.parts))
