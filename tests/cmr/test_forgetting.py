"""The forgetting budget on the D-CPT paper's table, and the loss-crossing share."""

from __future__ import annotations

import numpy as np
import pytest

from mixlaw.cmr.data import CptRun, SizeData
from mixlaw.cmr.flags import Doubt
from mixlaw.cmr.forgetting import Forgetting, crossing_share

# arXiv 2406.01375: chemistry, 1.8B, 10B tokens; domain share -> general loss. Base model 2.8602.
TABLE = {0.90: 2.9052, 0.91: 2.9193, 0.92: 2.9376, 0.924: 2.9445, 0.93: 2.9644, 0.94: 2.9848, 1.0: 3.4667}


def ends(table: dict[float, float], base: float, tokens: float = 1e10) -> SizeData:
    one, none = np.array([tokens]), np.array([np.nan])
    runs = tuple(CptRun(f"{share}", share, one, np.array([loss]), none, none) for share, loss in table.items())
    return SizeData(1.8e9, runs, base, float("nan"))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_three_per_cent_on_the_papers_table_is_0_924(seed: int) -> None:
    law = Forgetting.fit(ends(TABLE, 2.8602), np.random.default_rng(seed))
    assert law is not None
    answer = law.budget(1e10, 0.03)
    assert answer.share == pytest.approx(0.924, abs=0.002)
    assert answer.error < 0.003
    assert [flag.doubt for flag in answer.flags] == []


def test_beyond_and_below_the_tested_shares() -> None:
    law = Forgetting.fit(ends(TABLE, 2.8602), np.random.default_rng(0))
    assert law is not None
    assert law.budget(1e10, 0.5).share == 1.0
    assert "none exceeds" in law.budget(1e10, 0.5).note
    assert np.isnan(law.budget(1e10, 0.001).share)


def test_few_readings_are_flagged_and_two_shares_are_not_fitted() -> None:
    few = Forgetting.fit(ends({0.2: 2.9, 0.4: 2.95, 0.8: 3.1}, 2.86), np.random.default_rng(0))
    assert few is not None
    assert Doubt.FEW_POINTS in [flag.doubt for flag in few.budget(1e10, 0.03).flags]
    assert Forgetting.fit(ends({0.2: 2.9, 0.4: 2.95}, 2.86), np.random.default_rng(0)) is None


def test_the_crossing_of_an_exponential_is_found() -> None:
    shares = np.array([0.1, 0.2, 0.3, 0.5])
    increments = -0.05 + np.exp(2 * shares - 3.5)  # crosses 0 at (ln 0.05 + 3.5) / 2
    answer = crossing_share(shares, increments)
    assert answer.share == pytest.approx((np.log(0.05) + 3.5) / 2, abs=2e-3)
    assert answer.error < 1e-4


def test_no_crossing_is_said_not_extrapolated() -> None:
    shares = np.array([0.1, 0.2, 0.3, 0.5])
    above = crossing_share(shares, 0.01 + shares**2)
    assert np.isnan(above.share)
    assert "above base" in above.note
    below = crossing_share(shares, -1 + shares**2)
    assert below.share == 0.5
    assert "none is above" in below.note
