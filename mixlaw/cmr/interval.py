"""The interval of an answer: what noise leaves open, widened where the law's shape leaves more."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixlaw.cmr.samples import BLOCKS

Floats = NDArray[np.float64]

Z90 = 1.6448536269514722
"""Half-width of a 90 % interval in standard deviations."""
T90 = 2.1318467863266495
"""The same for a standard deviation known from ``BLOCKS`` = 5 refits: Student's t, 4 degrees of freedom."""
BEYOND_CHANCE = 9.487729036781154 / (BLOCKS - 1)
"""A variance from 5 refits over its mean is below this in 95 % of cases where noise is all (chi-squared / 4)."""


@dataclass(frozen=True)
class Interval:
    """A 90 % interval of a share.

    Attributes:
        low: 5 % end, NaN where unknown.
        high: 95 % end.
        widened: standard deviation of the refits over that of made-up readings, where it makes the interval; else 1.
        shape: half-width that the law's shape adds, which no further run of the same kind takes away.
    """

    low: float
    high: float
    widened: float = 1.0
    shape: float = 0.0


def interval(
    share: float, drawn: Floats, refitted: Floats | None, *, within: tuple[float, float] = (0.0, 1.0)
) -> Interval:
    """The interval around a share (or another number).

    Draws carry the noise of readings (or of runs). Refits that leave out a block of readings each move by that noise
    too, and by what the law's shape misses: where their jackknife variance is beyond what made-up readings without
    misfit give in 95 % of cases, they make the interval. (A jackknife over blocks of unequal weight errs on the wide
    side, which made-up readings share.)

    Args:
        share: the answer.
        drawn: answers of the draws, shape (B,).
        refitted: answers with a block left out, from the readings and from made-up ones,
            shape (BLOCKS (1 + SYNTHETIC),), blocks in order; None where there are none.
        within: what the number can be.
    """
    drawn = drawn[np.isfinite(drawn)]
    if not math.isfinite(share) or len(drawn) < 2:
        return Interval(float("nan"), float("nan"))
    low, high = (float(q) for q in np.quantile(drawn, [0.05, 0.95]))
    low, high = min(low, share), max(high, share)
    if refitted is None or not np.isfinite(refitted).all():
        return Interval(low, high)
    variance = (BLOCKS - 1) * refitted.reshape(BLOCKS, -1).var(axis=0)
    by_shape, by_noise = float(variance[0]), float(variance[1:].mean())
    if not by_shape > BEYOND_CHANCE * by_noise:
        return Interval(low, high)
    half = T90 * math.sqrt(by_shape)
    ratio = math.sqrt(by_shape / by_noise) if by_noise > 0 else math.inf
    wide = min(low, share - half), max(high, share + half)
    kept = math.sqrt(max(half**2 - ((high - low) / 2) ** 2, 0.0))
    return Interval(max(wide[0], within[0]), min(wide[1], within[1]), ratio, kept)
