"""Minimise a smooth function over a region: a primal-dual interior-point method with exact second derivatives.

    min f(h)  subject to  G h <= g,  E h = e

Newton steps on the perturbed optimality conditions ``grad f + G' z + E' y = 0``, ``z_i (g - G h)_i = mu`` within the
null space of E; curvature that points downhill is turned round there, so that every step descends. Shares stay inside
all along; at the end those on a bound are put on it exactly. The multipliers z are the shadow prices. Source: Nocedal
and Wright, Numerical Optimization, 2nd edition, chapter 19.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mixlaw.laws.base import Floats
from mixlaw.optimize.region import ROUNDING, Region, movements

_TO_BOUNDARY = 0.995
_STEPS = 150
_LOOSE, _TIGHT = 1e-6, 1e-10
_LAST_STEPS = 6
_RELEASES = 6
_SNAP = 1e-2
_NEWTON_STEPS = 12


class Function(Protocol):
    """A smooth function of mixtures."""

    def value(self, shares: Floats) -> Floats:
        """Value at each mixture: (n, K) to (n,)."""

    def gradient(self, shares: Floats) -> tuple[Floats, Floats]:
        """Values (n,) and derivatives (n, K), shares counting as free variables."""

    def hessian(self, share: Floats) -> Floats:
        """Second derivatives at one mixture, shape (K, K)."""


@dataclass(frozen=True)
class Optimum:
    """Where a minimisation ended.

    Attributes:
        mixture: shape (K,).
        value: of the function.
        prices: multiplier of each row of ``region.free``: how much the value falls per unit of its limit, (m',).
        hessian: of the function, shape (K, K).
        residual: largest entry of the optimality conditions, relative to the gradient.
        steps: Newton steps taken.
    """

    mixture: Floats
    value: float
    prices: Floats
    hessian: Floats
    residual: float
    steps: int

    @property
    def converged(self) -> bool:
        """Whether the optimality conditions hold."""
        return self.residual < 1e-5


def minimise(function: Function, region: Region, start: Floats, *, rough: bool = False) -> Optimum:
    """Minimise from a mixture strictly inside the region (``region.inside``).

    Args:
        function: what to minimise.
        region: where.
        start: shape (K,).
        rough: stop at six digits, to compare starts.
    """
    return _Path(function, region, start, _LOOSE if rough else _TIGHT).run()


class _Path:
    """State of one minimisation."""

    def __init__(self, function: Function, region: Region, start: Floats, tolerance: float) -> None:
        self.function, self.region, self.tolerance = function, region, tolerance
        self.matrix, self.limit = region.free
        self.basis, self.still = region.basis, region.independent
        self.single = np.count_nonzero(self.matrix, axis=1) == 1
        self.domain_of = np.argmax(np.abs(self.matrix), axis=1)
        self.several, self.group_of = np.unique(np.abs(self.matrix), axis=0, return_inverse=True)
        keep = np.unique(self.group_of[~self.single])
        self.several, self.group_of = self.several[keep], np.searchsorted(keep, self.group_of)
        self.h = start
        self._look()
        slope = np.abs(self.basis.T @ self.slope).max(initial=0.0)
        self.scale = max(float(slope), 1e-8)
        self.mu = 0.1 * self.scale * float(np.median(self._slack(start))) if len(self.limit) else 0.0
        self.prices = self.mu / self._slack(start)
        self.hessian = np.zeros((len(start), len(start)))

    def _slack(self, h: Floats) -> Floats:
        return np.asarray(self.limit - self.matrix @ h)

    def _look(self) -> None:
        value, slope = self.function.gradient(self.h[None])
        self.value, self.slope = float(value[0]), slope[0]

    def run(self) -> Optimum:
        steps = last = 0
        while steps < _STEPS and last < _LAST_STEPS and self.basis.shape[1]:
            steps += 1
            self.hessian = self.function.hessian(self.h)
            moved = self._step()
            error = self._error(self.mu)
            if self._error(0.0) <= 10 * self._least:
                break
            last += self.mu <= self._least
            if error <= 10 * self.mu or not moved:
                self.mu = max(self._least, min(0.2 * self.mu, self.mu**1.5))
        return self._finish(steps)

    @property
    def _least(self) -> float:
        return self.tolerance * self.scale

    def _error(self, mu: float) -> float:
        """Largest violation of the optimality conditions."""
        complementary = np.abs(self.prices * self._slack(self.h) - mu).max(initial=0.0)
        return float(max(self._stationarity(self.prices), complementary))

    def _step(self) -> bool:
        """One Newton step; False when nothing moved."""
        slack = self._slack(self.h)
        ratio = self.prices / slack
        barrier = self.slope + self.matrix.T @ (self.mu / slack)
        step = self._newton(ratio, barrier)
        rate = self.matrix @ step
        prices = self.mu / slack - self.prices + ratio * rate
        length = min(1.0, _TO_BOUNDARY * _reach(slack, rate))
        length = self._search(step, length, slack, float(barrier @ step))
        self.prices = self.prices + min(1.0, _TO_BOUNDARY * _reach(self.prices, -prices)) * prices
        if length == 0.0:
            return False
        self.h = self.h + length * step
        self._look()
        slack = self._slack(self.h)
        self.prices = np.clip(self.prices, self.mu / (1e8 * slack), 1e8 * self.mu / slack)
        return True

    def _newton(self, ratio: Floats, barrier: Floats) -> Floats:
        """The step, shape (K,): rows on single domains scale the unknowns, the others stay rows of the system.

        So scaled the system stays well conditioned however close to its bounds the mixture is.
        """
        width, several, count = len(self.h), len(self.several), len(self.still)
        weight = np.zeros(width)
        np.add.at(weight, self.domain_of[self.single], ratio[self.single])
        pull = np.zeros(several)
        np.add.at(pull, self.group_of[~self.single], ratio[~self.single])
        scale = 1 / np.sqrt(1 + weight)
        below = np.vstack([self.several, self.still]) * scale
        system = np.zeros((width + several + count, width + several + count))
        system[:width, :width] = scale[:, None] * convex(self.hessian, self.basis) * scale
        system[np.arange(width), np.arange(width)] += weight * scale**2
        system[width:, :width], system[:width, width:] = below, below.T
        groups = np.arange(width, width + several)
        system[groups, groups] = -1 / np.maximum(pull, 1e-300)
        side = np.append(-scale * barrier, np.zeros(several + count))
        return np.asarray(scale * np.linalg.solve(system, side)[:width])

    def _search(self, step: Floats, length: float, slack: Floats, slope: float) -> float:
        """Armijo's rule on the barrier function; 0 when no length descends."""
        rate = self.matrix @ step
        rounding = 20 * np.finfo(float).eps * max(1.0, abs(self.value))
        while length > 1e-14:
            value = float(self.function.value((self.h + length * step)[None])[0])
            change = value - self.value - self.mu * float(np.log1p(-length * rate / slack).sum())
            if change <= 1e-4 * length * slope + rounding:
                return length
            length *= 0.5
        return 0.0

    def _finish(self, steps: int) -> Optimum:
        active = self.prices > self._slack(self.h) * self.scale
        if self.tolerance == _TIGHT:
            active = self._polish(active)
        lower, upper = self.region.constraints.lower, self.region.constraints.upper
        self.h = np.where(np.abs(self.h - lower) < ROUNDING, lower, self.h)
        self.h = np.where(np.abs(self.h - upper) < ROUNDING, upper, self.h)
        self._look()
        prices = np.where(active, self.prices, 0.0)
        return Optimum(self.h, self.value, prices, self.hessian, self._stationarity(prices) / self.scale, steps)

    def _stationarity(self, prices: Floats) -> float:
        """Largest entry of the gradient that the prices leave over."""
        return float(np.abs(self.basis.T @ (self.slope + self.matrix.T @ prices)).max(initial=0.0))

    def _polish(self, active: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Put the mixture exactly on its active rows and take Newton steps along them.

        Rows whose price comes out negative were not active after all: they are let go and the steps taken again.
        Undone if it breaks a row or raises the value. Returns the rows that are active in the end, shape (m',).
        """
        before = self.h, self.prices, active
        value, off = self.value, self._stationarity(np.where(active, self.prices, 0.0))
        for _ in range(_RELEASES):
            self.h = before[0]
            prices = self._along(active)
            negative = active & (prices < -1e-7 * self.scale)
            if not negative.any():
                break
            active = active & ~negative
        self._look()
        better = self.value <= value + 1e-12 * max(1.0, abs(value)) and self._stationarity(prices) <= off
        if better and not negative.any() and self.region.violation(self.h) <= ROUNDING:
            self.prices = prices
        else:
            self.h, self.prices, active = before
        return active

    def _along(self, active: NDArray[np.bool_]) -> Floats:
        """Newton steps with some rows held as equalities; returns the price of every row, shape (m',)."""
        moves = movements(np.vstack([self.still, self.matrix[active]]))
        origin, self.h = self.h, self.region.snapped(self.h, active)
        if not np.abs(self.h - origin).max() < _SNAP:  # rows that contradict each other
            self.h = origin
            return np.where(active, -np.inf, 0.0)
        for _ in range(_NEWTON_STEPS):
            _, slope = self.function.gradient(self.h[None])
            self.hessian = self.function.hessian(self.h)
            curve = moves.T @ convex(self.hessian, moves) @ moves
            step = -moves @ np.linalg.solve(curve, moves.T @ slope[0])
            if not np.abs(step).max(initial=0.0) < 1:
                break
            length = min(1.0, 0.9 * _reach(np.where(active, np.inf, self._slack(self.h)), self.matrix @ step))
            self.h = self.region.snapped(self.h + length * step, active)
            if np.abs(step).max(initial=0.0) < 1e-13:
                break
        _, slope = self.function.gradient(self.h[None])
        normal = np.vstack([self.matrix[active], self.still]).T
        prices = np.zeros(len(self.prices))
        prices[active] = np.linalg.lstsq(normal, -slope[0], rcond=1e-10)[0][: int(active.sum())]
        return prices


def _reach(room: Floats, rate: Floats) -> float:
    """Largest step for which ``room - step * rate`` stays non-negative."""
    closing = rate > 0
    with np.errstate(over="ignore"):  # a rate of almost nothing never gets there
        return float(np.min(room[closing] / rate[closing], initial=np.inf))


def convex(curve: Floats, basis: Floats) -> Floats:
    """Curvature along the directions of the basis, made positive where it is not, shape (K, K)."""
    reduced = basis.T @ curve @ basis
    reduced = 0.5 * (reduced + reduced.T)
    size = float(np.abs(np.diag(reduced)).max(initial=0.0))
    try:
        np.linalg.cholesky(reduced - 1e-10 * size * np.eye(len(reduced)))
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(reduced)
    else:
        return curve
    values = np.maximum(np.abs(values), max(1e-10 * float(np.abs(values).max(initial=0.0)), 1e-14))
    across = basis @ vectors
    return np.asarray((across * values) @ across.T)
