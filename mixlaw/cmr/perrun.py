"""Each run's curve on its own: the paper's pair of power terms, or the reduced form, then a law through (T0, share).

``paper``    dL(T) = a T^p + b T^q + c     arXiv 2407.17467, general-loss law at fixed share
``reduced``  dL(T) = T^p (A - B ln T) + c  its limit q -> p, four parameters instead of five

Both are linear given their exponents and are fitted by variable projection on a grid of exponents, refined. T0 is the
maximum of the curve (of curve plus domain curve / lambda, for finite lambda), found by sign change, and the critical
ratio is read from ``R(T) = a T^s + b`` through the pairs, as the paper does. Intervals: parametric bootstrap with the
noise of the residuals.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from mixlaw.cmr.data import Readings
from mixlaw.cmr.sharelaw import fit_power
from mixlaw.cmr.surface import neighbour_correlation

Floats = NDArray[np.float64]

GRID = np.linspace(np.log(1e-3), np.log(50.0), 500)
"""ln(T / longest run) at which slopes are examined: T0 from a thousandth to 50 times the longest run."""
FURTHEST_PAIR = np.log(10.0)
"""Pairs with T0 beyond 10 times the longest run do not enter the law."""
_EXPONENTS = np.arange(0.02, 1.501, 0.06)
_APART = 0.004
_REFINE = 12
_CHUNK = 50


@dataclass(frozen=True)
class RunCurves:
    """Curves of R runs in B data sets: ``level + c1 F_p + c2 (F_q - F_p) / (q - p)``, F_p = (e^(p z) - 1) / p.

    Attributes:
        p: smaller exponent, shape (B, R).
        q: larger exponent, shape (B, R).
        coefficients: level, c1, c2, shape (B, R, 3).
        noise: standard deviation of the residuals over all runs, shape (B,).
        correlation: of neighbouring residuals, shape (B,).
    """

    p: Floats
    q: Floats
    coefficients: Floats
    noise: Floats
    correlation: Floats

    def part(self, count: int) -> RunCurves:
        """The first data sets."""
        return RunCurves(*(getattr(self, f.name)[:count] for f in fields(self)))

    def value(self, z: Floats) -> Floats:
        """Increments, shape (B, R, m), at ``z`` of shape (m,) or (R, m)."""
        design = _design(self.p[..., None], self.q[..., None], z)
        return np.asarray(np.einsum("brmi,bri->brm", design, self.coefficients))

    def slope(self, z: Floats) -> Floats:
        """Derivative by ln T, shape (B, R, m)."""
        p, q = self.p[..., None], self.q[..., None]
        low, high = np.exp(p * z), np.exp(q * z)
        return np.asarray(
            self.coefficients[..., 1:2] * low + self.coefficients[..., 2:3] * (high - low) / np.maximum(q - p, _APART)
        )


def _design(p: Floats, q: Floats, z: Floats) -> Floats:
    low, high = np.expm1(p * z) / p, np.expm1(q * z) / q
    return np.stack([np.ones_like(low), low, (high - low) / np.maximum(q - p, _APART)], axis=-1)


def fit_runs(readings: Readings, *, paper: bool, y: Floats | None = None) -> RunCurves:
    """Fit every run of every data set on its own; ``y`` has shape (B, R, m)."""
    y = readings.y[None] if y is None else y
    exponents, coefficients = np.zeros((*y.shape[:2], 2)), np.zeros((*y.shape[:2], 3))
    fitted = np.zeros_like(y)
    for runs in _same_tokens(readings):
        there = readings.weight[runs[0]] > 0
        z, mine = readings.z[runs[0], there], y[:, runs][..., there].reshape(-1, there.sum())
        found = _refine(z, mine, _best_pair(z, mine, paper=paper), paper=paper)
        solved, shown = _solve(z, mine, found)
        for index, run in enumerate(runs):
            pick = slice(index, None, len(runs))
            exponents[:, run], coefficients[:, run] = found[pick], solved[pick]
            fitted[:, run, : there.sum()] = shown[pick]
    residual = (y - fitted) * readings.weight
    free = max(readings.weight.sum() - (5 if paper else 4) * y.shape[1], 1.0)
    noise = np.sqrt((residual**2).sum(axis=(1, 2)) / free)
    return RunCurves(
        exponents[..., 0], exponents[..., 1], coefficients, noise, neighbour_correlation(residual, readings.weight)
    )


def _same_tokens(readings: Readings) -> list[list[int]]:
    """Runs in groups that were read at the same tokens, so that a group shares its design."""
    groups: dict[bytes, list[int]] = {}
    for run in range(len(readings.knot)):
        groups.setdefault(readings.z[run].tobytes() + readings.weight[run].tobytes(), []).append(run)
    return list(groups.values())


def _pairs(paper: bool) -> Floats:
    """Exponents to try first, shape (m, 2)."""
    close = [(p, p + _APART) for p in _EXPONENTS]
    return np.array(close + [(p, q) for p in _EXPONENTS for q in _EXPONENTS if q > p] if paper else close)


def _best_pair(z: Floats, y: Floats, *, paper: bool) -> Floats:
    """The pair of exponents on the grid with the smallest residual for each data set, shape (B, 2)."""
    pairs = _pairs(paper)
    orthogonal, _ = np.linalg.qr(_design(pairs[:, :1], pairs[:, 1:], z))
    kept = np.empty((len(pairs), len(y)))
    for first in range(0, len(pairs), _CHUNK):
        part = orthogonal[first : first + _CHUNK]
        kept[first : first + _CHUNK] = (np.matmul(y, part) ** 2).sum(axis=-1)
    return np.asarray(pairs[kept.argmax(axis=0)])


def _solve(z: Floats, y: Floats, exponents: Floats) -> tuple[Floats, Floats]:
    """Linear coefficients (B, 3) and fitted values (B, m) at each data set's exponents."""
    orthogonal, triangle = np.linalg.qr(_design(exponents[:, :1], exponents[:, 1:], z))
    along = np.einsum("bmi,bm->bi", orthogonal, y)
    return np.linalg.solve(triangle, along[..., None])[..., 0], np.einsum("bmi,bi->bm", orthogonal, along)


def _refine(z: Floats, y: Floats, exponents: Floats, *, paper: bool) -> Floats:
    """Pattern search around the grid's best: exponents to 1e-5."""
    moves = np.array([[1, 1], [-1, -1], [0, 1], [0, -1], [1, 0], [-1, 0]] if paper else [[1, 1], [-1, -1]], dtype=float)
    step = np.full(len(y), (_EXPONENTS[1] - _EXPONENTS[0]) / 2)
    best = ((y - _solve(z, y, exponents)[1]) ** 2).sum(axis=1)
    for _ in range(_REFINE):
        for move in moves:
            trial = np.clip(exponents + step[:, None] * move, _EXPONENTS[0], _EXPONENTS[-1] + _APART)
            trial[:, 1] = np.maximum(trial[:, 1], trial[:, 0] + _APART)
            error = ((y - _solve(z, y, trial)[1]) ** 2).sum(axis=1)
            better = error < best
            exponents = np.where(better[:, None], trial, exponents)
            best = np.where(better, error, best)
        step = step / 2
    return exponents


def last_turn(slope: Floats) -> Floats:
    """ln(T0 / longest run) of the last change from rising to falling on ``GRID``, shape (...); NaN where none."""
    up, down = slope[..., :-1] > 0, slope[..., 1:] <= 0
    turns = up & down
    last = turns.shape[-1] - 1 - np.argmax(turns[..., ::-1], axis=-1)
    before = np.take_along_axis(slope, last[..., None], -1)[..., 0]
    after = np.take_along_axis(slope, last[..., None] + 1, -1)[..., 0]
    part = before / np.where(before == after, 1.0, before - after)
    at = GRID[last] + part * (GRID[1] - GRID[0])
    falling = (slope <= 0).all(axis=-1)
    return np.where(turns.any(axis=-1), at, np.where(falling, GRID[0], np.nan))


def law_share(turn: Floats, shares: Floats, z: float) -> Floats:
    """Share whose loss turns at ``z`` by ``R(T) = a T^s + b`` through the pairs, shape (B,); NaN below 3 pairs.

    Args:
        turn: ln(T0 / longest run), shape (B, R), NaN where none.
        shares: of the runs, shape (R,).
        z: ln(budget / longest run).
    """
    usable = np.isfinite(turn) & (np.abs(np.where(np.isfinite(turn), turn, 0)) < FURTHEST_PAIR)
    x = np.where(usable, turn, 0.0)
    fit = fit_power(x, np.broadcast_to(shares, turn.shape), usable.astype(np.float64))
    found = fit.predict(np.array([z]))[:, 0]
    return np.where(usable.sum(axis=1) >= 3, found, interpolated_share(turn, shares, z))


def interpolated_share(turn: Floats, shares: Floats, z: float) -> Floats:
    """The same by a straight line in (ln T0, share) through the two pairs around ``z``, shape (B,)."""
    found = np.full(len(turn), np.nan)
    for row, own in enumerate(turn):
        there = np.flatnonzero(np.isfinite(own))
        if len(there) < 2:
            continue
        order = there[np.argsort(own[there], kind="stable")]
        right = int(np.clip(np.searchsorted(own[order], z), 1, len(order) - 1))
        low, high = order[right - 1], order[right]
        if own[high] > own[low]:
            found[row] = shares[low] + (shares[high] - shares[low]) * (z - own[low]) / (own[high] - own[low])
    return found
