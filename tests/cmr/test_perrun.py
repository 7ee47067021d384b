"""Curves run by run, the laws over shares, and the paper's numbers that both are checked against."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from mixlaw.cmr.data import Readings
from mixlaw.cmr.perrun import GRID, fit_runs, interpolated_share, last_turn, law_share
from mixlaw.cmr.sharelaw import fit_power, leave_one_out

# arXiv 2407.17467: coefficients (a, s, b) of R(T) = a T^s + b, T in units of 0.2B, and the ratio at T = 100.
LAWS = {
    "460M": ((0.22524761, 0.26944345, -0.48139982), 29.8),
    "940M": ((0.7520627, 0.13720245, -1.06581937), 34.9),
    "1.6B": ((-2.36384831, -0.15125569, 1.59223649), 41.4),
    "3.1B": ((-2.5368197, -0.42071423, 0.84375368), 47.8),
}


@pytest.mark.parametrize("paper", [True, False])
@pytest.mark.parametrize("size", LAWS)
def test_the_papers_pipeline_gives_the_papers_ratio(published, size: str, paper: bool) -> None:
    readings = Readings.of(published(size))
    curves = fit_runs(readings, paper=paper)
    turns = last_turn(curves.slope(GRID))
    assert 100 * law_share(turns, readings.shares, 0.0)[0] == pytest.approx(LAWS[size][1], abs=0.8)
    assert 100 * interpolated_share(turns, readings.shares, 0.0)[0] == pytest.approx(LAWS[size][1], abs=0.8)
    assert curves.noise[0] < 3e-6


def test_turning_points_are_those_of_the_printed_coefficients(published) -> None:
    # (-a p / (b q))^(1 / (q - p)) of the printed pairs for 460M, in units of T.
    readings = Readings.of(published("460M"))
    turns = 100 * np.exp(last_turn(fit_runs(readings, paper=False).slope(GRID))[0])
    np.testing.assert_allclose(turns, [39.77, 79.87, 117.1, 233.5], rtol=0.003)


@pytest.mark.parametrize("size", LAWS)
def test_the_power_law_recovers_the_papers_coefficients(size: str) -> None:
    (a, s, b), ratio = LAWS[size]
    t = np.array([25.0, 50.0, 90.0, 160.0])
    fit = fit_power(np.log(t), (a * t**s + b)[None])
    found = [float(v[0]) for v in fit.power()]
    np.testing.assert_allclose(found, [a, s, b], rtol=1e-3)
    assert 100 * fit.predict(np.log([100.0]))[0, 0] == pytest.approx(ratio, abs=0.15)


def test_a_straight_line_is_within_the_power_laws_reach() -> None:
    x = np.linspace(-2, 1, 9)
    fit = fit_power(x, (3 - 2 * x)[None])
    np.testing.assert_allclose(fit.predict(x)[0], 3 - 2 * x, atol=0.03)


def test_left_out_values_do_not_count() -> None:
    x, y = np.log([1.0, 2.0, 4.0, 8.0]), np.array([[1.0, 2.0, 99.0, 8.0]])
    fit = fit_power(x, y, np.array([[1.0, 1.0, 0.0, 1.0]]))
    assert fit.predict(x)[0, 2] == pytest.approx(4.0, rel=1e-4)


def test_hold_out_of_the_domain_loss_law(shared: Path) -> None:
    """The 25 % row of the paper's table 2 from the other shares; its 0.33 is 1/3 (0.33 itself would give 0.0011)."""
    with (shared / "cpt_published/cmr_table2_domain_loss.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["kind"] == "observed"]
    for size, expected in {"460M": 1.5561, "940M": 1.4538, "1.6B": 1.3994, "3.1B": 1.3305}.items():
        own = sorted((float(r["domain_share"]), float(r["domain_loss"])) for r in rows if r["model"] == size)
        share, loss = np.array(own).T
        share = np.where(share == 0.33, 1 / 3, share)
        at = int(np.flatnonzero(share == 0.25)[0])
        error = leave_one_out(share, loss)[at]
        assert abs(error) < 2e-4  # asked: 0.001
        assert loss[at] + error == pytest.approx(expected, abs=2e-4)


def test_slopes_without_a_turn() -> None:
    rising, falling = np.ones((1, len(GRID))), -np.ones((1, len(GRID)))
    assert np.isnan(last_turn(rising)[0])
    assert last_turn(falling)[0] == GRID[0]
    twice = np.sin(4 * (GRID - GRID[0]) / (GRID[-1] - GRID[0]) * np.pi + 0.5)
    assert last_turn(twice[None])[0] == pytest.approx(
        GRID[0] + (3 * np.pi - 0.5) / (4 * np.pi) * np.ptp(GRID), abs=0.03
    )


def test_interpolation_uses_the_two_pairs_around_the_budget_and_skips_missing_ones() -> None:
    turns = np.array([[-1.0, np.nan, 1.0, 2.0], [np.nan, np.nan, np.nan, 0.0]])
    found = interpolated_share(turns, np.array([0.1, 0.2, 0.3, 0.5]), 0.5)
    assert found[0] == pytest.approx(0.1 + 0.2 * 0.75)
    assert np.isnan(found[1])
