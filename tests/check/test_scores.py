from __future__ import annotations

import numpy as np
import pytest

from mixlaw.check.scores import score


def test_perfect_predictions() -> None:
    y = np.array([3.0, 2.0, 2.5, 4.0])
    s = score(y, y)
    assert (s.count, s.error, s.spearman, s.pairwise, s.regret, s.optimism) == (4, 0.0, 1.0, 1.0, 0.0, 0.0)


def test_figures_by_hand() -> None:
    measured = np.array([2.0, 2.1, 2.2])
    predicted = np.array([2.2, 2.0, 2.1])
    s = score(predicted, measured)
    assert s.error == pytest.approx((0.1 + 0.1 / 2.1 + 0.1 / 2.2) / 3)
    assert s.spearman == pytest.approx(-0.5)
    assert s.pairwise == pytest.approx(1 / 3)
    assert s.regret == pytest.approx(0.1)
    assert s.optimism == pytest.approx(0.1)


def test_a_constant_prediction_has_no_rank_correlation_and_the_mean_regret() -> None:
    s = score(np.full(3, 2.0), np.array([1.0, 2.0, 3.0]))
    assert np.isnan(s.spearman)
    assert s.regret == pytest.approx(1.0)
    assert s.pairwise == 0.5


def test_missing_cells_are_left_out() -> None:
    s = score(np.array([1.0, np.nan, 3.0]), np.array([1.0, 2.0, np.nan]))
    assert s.count == 1
    assert score(np.array([np.nan]), np.array([1.0])).count == 0
