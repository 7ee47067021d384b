"""How far each share can move before the objective leaves the noise: flat directions are shown as flat."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mixlaw.laws.base import Floats
from mixlaw.optimize.interior import Function, Optimum, convex
from mixlaw.optimize.region import Region, movements

FLAT = 0.1
"""Width of a range above which a share is called flat."""
_SEGMENTS = 4
_GRID = 24


@dataclass(frozen=True)
class Range:
    """Shares of one domain that some mixture within noise of the optimum has."""

    low: float
    high: float

    @property
    def flat(self) -> bool:
        """Whether the objective hardly minds the share."""
        return self.high - self.low > FLAT


def ranges(function: Function, region: Region, optimum: Optimum, noise: float) -> dict[str, Range]:
    """Range of every share over mixtures whose objective is within ``noise`` of the optimum, by domain.

    From the optimum a path goes where the share changes most for the objective lost (``H^-1 e_j`` along the
    constraints), on along the boundary where it meets one, until the noise is used up. All points of a path are
    allowed mixtures, so that the true ranges are at least as wide.
    """
    out = {}
    for index, name in enumerate(region.domains):
        low, high = (_walk(function, region, optimum, index, sign, noise) for sign in (-1.0, 1.0))
        here = float(optimum.mixture[index])
        out[name] = Range(min(low, here), max(high, here))
    return out


def _walk(function: Function, region: Region, optimum: Optimum, index: int, sign: float, noise: float) -> float:
    matrix, limit = region.free
    point = optimum.mixture
    active = optimum.prices > 0
    own = matrix[:, index] * sign < 0  # rows that the move leads away from
    active = active & ~(own & (np.count_nonzero(matrix, axis=1) == 1))
    ceiling = optimum.value + noise
    for _ in range(_SEGMENTS):
        step = _direction(region, optimum.hessian, active, index, sign)
        if step is None:
            break
        rate = matrix @ step
        room = np.maximum(limit - matrix @ point, 0.0)
        closing = (rate > 1e-12) & ~active
        reach = float(np.min(room[closing] / rate[closing], initial=1.0))
        length = _last_within(function, point, step, reach, ceiling)
        point = point + length * step
        if length < reach * (1 - 1e-9) or reach >= 1.0:
            break
        active = active | (closing & (limit - matrix @ point < 1e-9))
    return float(np.clip(point[index], region.constraints.lower[index], region.constraints.upper[index]))


def _direction(
    region: Region, hessian: Floats, active: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], index: int, sign: float
) -> Floats | None:
    """Unit step of one share along the constraints that costs least curvature, shape (K,)."""
    moves = movements(np.vstack([region.independent, region.free[0][active]]))
    if not moves.shape[1] or np.abs(moves[index]).max() < 1e-9:
        return None
    curve = moves.T @ convex(hessian, moves) @ moves
    step = moves @ np.linalg.solve(curve + 1e-9 * np.trace(curve) * np.eye(len(curve)), sign * moves[index])
    return np.asarray(step / abs(step[index])) if abs(step[index]) > 1e-12 else None


def _last_within(function: Function, point: Floats, step: Floats, reach: float, ceiling: float) -> float:
    """Largest length up to ``reach`` before the objective first passes the ceiling."""
    low, high = 0.0, reach
    for _ in range(2):
        lengths = np.linspace(low, high, _GRID)
        over = np.flatnonzero(function.value(point + lengths[:, None] * step) > ceiling)
        if not len(over):
            return high
        high = float(lengths[over[0]])
        low = float(lengths[max(over[0] - 1, 0)])
    return low
