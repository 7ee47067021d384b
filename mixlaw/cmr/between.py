"""What tested shares leave open about the shares between and beyond them: smooth random functions, one a draw.

A number at a share where no run was made (the level at a budget, the turning point) is read off a natural cubic spline
through the tested shares. That spline is the mean of an integrated Wiener process given its values there, and this
process also says how far the truth may be from its mean (Wahba, 1978): not at all at a tested share, by d^1.5 with the
distance d beyond them. A draw's error is a path of the process less the spline through the path's own values at the
tested shares (universal kriging by Matheron's rule), so that all verdicts of a draw are about one smooth function.

How rough the process is has to be said by a few shares. Each draw has a roughness of its own from the posterior given
the draw's n values: n - 2 bends, and one pseudo-observation that says that over the tested shares the slope changes by
about as much as its mean. Errors are therefore Student's t with n - 1 degrees of freedom. Noise of readings in
the values counts as bends as well, and so do differences of runs: that errs on the wide side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixlaw.cmr.splines import bend_penalty, spline_matrix

Floats = NDArray[np.float64]

_PSEUDO = 1
"""Pseudo-observations behind the roughness, beside the n - 2 bends of n shares."""
_STRAIGHT = 3.0
"""A turning point e^3 = 20 times the budget away is far: bends of ln T0 are counted on the scale of asinh(. / 3)."""


@dataclass(frozen=True)
class Between:
    """Errors of the splines over the share on a grid, by draw; the first of B is the estimate and has none.

    Attributes:
        shares: tested, shape (n,).
        grid: shares at which errors are known, joined by straight lines, shape (m,).
        level: error of general loss over its roughness, shape (B, m).
        turn: the same of the turning point, shape (B, m).
    """

    shares: Floats
    grid: Floats
    level: Floats
    turn: Floats

    @classmethod
    def drawn(cls, shares: Floats, grid: Floats, draws: int, rng: np.random.Generator) -> Between:
        """Errors of so many draws."""
        return cls(shares, grid, *(_errors(shares, grid, draws, rng) for _ in range(2)))

    def of_level(self, values: Floats) -> Floats:
        """Errors of general loss on the grid, shape (B, m), from its values at the tested shares, shape (B, n)."""
        return np.asarray(energy(values, self.shares)[:, None] * self.level)

    def of_level_at(self, share: float, values: Floats) -> Floats:
        """The same at one share, shape (B, k), for the values at k budgets, shape (B, k, n)."""
        return np.asarray(energy(values, self.shares) * self._at(share, self.level)[:, None])

    def of_turn(self, gap: Floats) -> Floats:
        """Errors of ln T0 on the grid, shape (B, m), from ln(T0 / budget) at the tested shares, shape (B, n)."""
        return np.asarray(energy(_bent(gap), self.shares)[:, None] * self.turn)

    def of_turn_at(self, share: float, gap: Floats) -> Floats:
        """The same at one share, shape (B,)."""
        return np.asarray(energy(_bent(gap), self.shares) * self._at(share, self.turn))

    def _at(self, share: float, errors: Floats) -> Floats:
        right = int(np.clip(np.searchsorted(self.grid, share), 1, len(self.grid) - 1))
        part = (share - self.grid[right - 1]) / (self.grid[right] - self.grid[right - 1])
        return np.asarray((1 - part) * errors[:, right - 1] + part * errors[:, right])


def energy(values: Floats, shares: Floats) -> Floats:
    """Root of the sum of squares behind the roughness, shape (...), of values at the shares, shape (..., n).

    The integral of the squared second derivative of the natural spline, plus ``_PSEUDO`` times the squared roughness
    with which the slope changes over the tested shares by as much as its mean, R / w (R the range of the values, w of
    the shares): R^2 / w^3.
    """
    above = values - values.mean(axis=-1, keepdims=True)
    bends = np.einsum("...i,ij,...j->...", above, bend_penalty(shares), above)
    trend = np.ptp(values, axis=-1) ** 2 / np.ptp(shares) ** 3
    return np.asarray(np.sqrt(np.maximum(bends, 0.0) + _PSEUDO * trend))


def error_covariance(shares: Floats, at: Floats) -> Floats:
    """Covariance of the spline's errors at some shares for a process of roughness 1, shape (m, m)."""
    places = np.concatenate([at, shares])
    contrasts = np.concatenate([np.eye(len(at)), -spline_matrix(shares, at)], axis=1)
    return np.asarray(contrasts @ (np.abs(places[:, None] - places) ** 3 / 12) @ contrasts.T)


def _errors(shares: Floats, grid: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Errors by draw over ``energy``, shape (1 + draws, m), the first 0."""
    freedom = len(shares) - 2 + _PSEUDO
    places, order = np.unique(np.concatenate([grid, shares]), return_inverse=True)
    paths = _integrated_wiener(places, draws, rng)[:, order]
    errors = paths[:, : len(grid)] - paths[:, len(grid) :] @ spline_matrix(shares, grid).T
    errors /= np.sqrt(rng.chisquare(freedom, draws))[:, None]
    return np.concatenate([np.zeros((1, len(grid))), errors])


def _integrated_wiener(places: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Paths of the integral of a Wiener process, 0 and flat at the first place, shape (draws, m)."""
    gaps = np.diff(places)
    along, beside = rng.standard_normal((2, draws, len(gaps)))
    slope = np.zeros((draws, len(places)))
    np.cumsum(np.sqrt(gaps) * along, axis=1, out=slope[:, 1:])
    path = np.zeros_like(slope)
    np.cumsum(slope[:, :-1] * gaps + gaps**1.5 * (along / 2 + beside / np.sqrt(12)), axis=1, out=path[:, 1:])
    return path


def _bent(gap: Floats) -> Floats:
    return np.asarray(_STRAIGHT * np.arcsinh(gap / _STRAIGHT))
