"""Limits on single losses and accuracies: an augmented Lagrangian around the solver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mixlaw.errors import InfeasibleError
from mixlaw.laws.base import Floats
from mixlaw.optimize.functions import Sum, differences
from mixlaw.optimize.interior import Function, Optimum
from mixlaw.optimize.surface import Surface

TIGHTER = 1e-8
"""Limits are met with this much to spare, so that rounding cannot break them."""
_ROUNDS = 25
_STRONGEST = 1e7


@dataclass(frozen=True)
class Bound:
    """One loss at most, or minus one accuracy at most, ``level``."""

    words: str
    surface: Surface
    level: float

    def excess(self, share: Floats) -> float:
        """How far a mixture, shape (K,), is beyond the limit; negative within."""
        return float(self.surface.value(share[None])[0]) - self.level


@dataclass(frozen=True)
class Penalty:
    """``sum_i (rho / 2) max(0, c_i + m_i / rho)^2`` for limits ``c_i <= 0`` with multipliers m."""

    bounds: Sequence[Bound]
    multipliers: Floats
    strength: float

    def value(self, shares: Floats) -> Floats:
        """Value at each mixture."""
        total = np.zeros(len(shares))
        for bound, multiplier in zip(self.bounds, self.multipliers, strict=True):
            over = np.maximum(0, bound.surface.value(shares) - bound.level + TIGHTER + multiplier / self.strength)
            total += 0.5 * self.strength * over**2
        return total

    def gradient(self, shares: Floats) -> tuple[Floats, Floats]:
        """Values and derivatives."""
        total, slope = np.zeros(len(shares)), np.zeros(shares.shape)
        for bound, multiplier in zip(self.bounds, self.multipliers, strict=True):
            value, by_share = bound.surface.gradient(shares)
            over = np.maximum(0, value - bound.level + TIGHTER + multiplier / self.strength)
            total += 0.5 * self.strength * over**2
            slope += self.strength * over[:, None] * by_share
        return total, slope

    def hessian(self, share: Floats) -> Floats:
        """Second derivatives."""
        return differences(self, share)


def within(
    bounds: Sequence[Bound], function: Function, solve: Callable[[Function, Floats | None], Optimum]
) -> tuple[Optimum, Floats]:
    """Minimise under limits; returns the optimum and the price of each limit.

    Args:
        bounds: the limits.
        function: what to minimise.
        solve: minimises a function over the region, from one mixture or from many.

    Raises:
        InfeasibleError: naming the limits that no mixture meets together and what is missing.
    """
    found = solve(function, None)
    excess = np.array([b.excess(found.mixture) for b in bounds])
    multipliers, strength = np.zeros(len(bounds)), 100.0
    for _ in range(_ROUNDS):
        if excess.max() <= 0 and (multipliers * np.abs(excess + TIGHTER) < 1e-7).all():
            return found, multipliers
        found = solve(Sum([function, Penalty(bounds, multipliers, strength)]), found.mixture)
        before, excess = excess, np.array([b.excess(found.mixture) for b in bounds])
        multipliers = np.maximum(0, multipliers + strength * (excess + TIGHTER))
        if excess.max() > 0.5 * before.max() and strength >= _STRONGEST:
            break
        if excess.max() > 0.2 * before.max():
            strength = min(_STRONGEST, 10 * strength)
    if excess.max() <= 0:
        return found, multipliers
    broken = [f"{b.words} (missed by {e:.2g})" for b, e in zip(bounds, excess, strict=True) if e > 1e-9]
    raise InfeasibleError("limits that some allowed mixture meets", "; ".join(broken))
