"""The interval of an answer: quantiles of draws, widened by refits that move beyond chance."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mixlaw.cmr.interval import T90, Z90, interval
from mixlaw.cmr.samples import BLOCKS, SYNTHETIC

NORMAL = np.random.default_rng(0).standard_normal(20_000)


def refits(own: float, made_up: float) -> np.ndarray:
    """Answers whose jackknife standard deviations are ``own`` and ``made_up``."""
    shape = np.array([-1, -0.5, 0, 0.5, 1.0])
    shape = shape / math.sqrt((BLOCKS - 1) * shape.var())
    columns = np.column_stack([own * shape, *[made_up * shape] * SYNTHETIC])
    return (0.3 + columns).ravel()


def test_quantiles_of_the_draws_hold_the_answer() -> None:
    found = interval(0.3, 0.3 + 0.02 * NORMAL, None)
    assert (found.low, found.high) == pytest.approx((0.3 - 0.0329, 0.3 + 0.0329), abs=1e-3)
    assert (found.widened, found.shape) == (1.0, 0.0)
    assert interval(0.5, 0.3 + 0.02 * NORMAL, None).high == 0.5


def test_refits_within_chance_change_nothing() -> None:
    drawn = 0.3 + 0.02 * NORMAL
    assert interval(0.3, drawn, refits(0.045, 0.03)) == interval(0.3, drawn, None)


def test_refits_beyond_chance_make_the_interval() -> None:
    found = interval(0.3, 0.3 + 0.02 * NORMAL, refits(0.05, 0.03))
    assert (found.low, found.high) == pytest.approx((0.3 - T90 * 0.05, 0.3 + T90 * 0.05))
    assert found.widened == pytest.approx(5 / 3)
    assert found.shape == pytest.approx(math.sqrt((T90 * 0.05) ** 2 - (Z90 * 0.02) ** 2), rel=0.02)
    assert interval(0.3, 0.3 + 0.2 * NORMAL, refits(0.05, 0.01)).high > 0.6  # never narrower than the draws
    far = interval(0.3, 0.3 + 0.02 * NORMAL, refits(0.5, 0.03))
    assert (far.low, far.high) == (0.0, 1.0)


def test_what_cannot_be_known_is_missing() -> None:
    drawn = 0.3 + 0.02 * NORMAL
    assert math.isnan(interval(float("nan"), drawn, None).low)
    assert math.isnan(interval(0.3, drawn[:1], None).high)
    missing = refits(0.5, 0.03)
    missing[3] = np.nan
    assert interval(0.3, drawn, missing) == interval(0.3, drawn, None)


def test_the_quantiles_are_those_of_their_distributions() -> None:
    stats = pytest.importorskip("scipy.stats")
    from mixlaw.cmr.interval import BEYOND_CHANCE

    assert pytest.approx(stats.norm.ppf(0.95)) == Z90
    assert pytest.approx(stats.t.ppf(0.95, BLOCKS - 1)) == T90
    assert pytest.approx(stats.chi2.ppf(0.95, BLOCKS - 1) / (BLOCKS - 1)) == BEYOND_CHANCE
