"""Draws and refits: what each leaves alone, the level's noise, and coverage where the law cannot follow the curves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from mixlaw.cmr import CmrOptions, Names, predict_cmr
from mixlaw.cmr.data import CptRun, Readings, SizeData
from mixlaw.cmr.interval import interval
from mixlaw.cmr.model import SHARES, SizeModel, last_feasible
from mixlaw.cmr.perrun import fit_runs
from mixlaw.cmr.samples import (
    BLOCKS,
    SYNTHETIC,
    Samples,
    drawn_surfaces,
    refitted_curves,
    refitted_surfaces,
    without_blocks,
)
from mixlaw.cmr.splines import spline_matrix
from mixlaw.cmr.surface import fit_surface, refit_surface

Curve = Callable[[float, np.ndarray], np.ndarray]
TESTED = (1 / 8, 1 / 4, 1 / 3, 1 / 2)
AT = np.geomspace(1e-3, 4, 4001)
"""Tokens, in units of the longest run, at which a true curve's maximum is looked for."""


def reduced(at: np.ndarray, turn: float, sharp: float, lean: float) -> np.ndarray:
    z = np.log(at)
    grown = np.exp(lean * z)
    return sharp * (turn * (grown - 1) / lean + (grown * (1 - lean * z) - 1) / lean**2)


def clean(rng: np.random.Generator) -> Curve:
    first, step = rng.uniform(-1.5, -0.9), rng.uniform(2.0, 4.0)
    sharp, lean = rng.uniform(2e-3, 8e-3), rng.uniform(0.35, 0.7)
    return lambda share, at: reduced(at, first + step * (share - 0.125), sharp, lean)


def two_phases(rng: np.random.Generator) -> Curve:
    """A rise that saturates, and a steady fall: an exponential and a straight line, no powers."""
    rise, pace, fall = rng.uniform(0.03, 0.06), rng.uniform(0.08, 0.2), rng.uniform(0.004, 0.01)
    return lambda share, at: rise * share * (1 - np.exp(-at / pace)) - fall * at


def waving(rng: np.random.Generator) -> Curve:
    """The law with a slow wave that is the same at every share."""
    own = clean(rng)
    height, pace, phase = 0.1 * 5e-3 * rng.uniform(0.5, 1.5), rng.uniform(2, 4), rng.uniform(0, 2 * np.pi)
    return lambda share, at: own(share, at) + height * np.sin(pace * np.log(at) + phase)


def case(make: Callable[[np.random.Generator], Curve], seed: int) -> tuple[Readings, float, float, SizeData]:
    """Noisy runs, a budget as ln(tokens / longest run), and the share that turns there in truth."""
    rng = np.random.default_rng([seed, 11])
    curve = make(rng)
    share = float(rng.uniform(0.15, 0.45))
    budget = float(np.clip(AT[np.argmax(curve(share, AT))], 0.05, 1.9))
    at = np.linspace(0.01, 1, 100)
    noise = 0.01 * np.ptp([curve(tested, at) for tested in TESTED])
    missing = np.full(100, np.nan)
    runs = tuple(
        CptRun(f"{s}", s, 2e10 * at, 2.86 + curve(s, at) + noise * rng.standard_normal(100), missing, missing)
        for s in TESTED
    )
    size = SizeData(1e9, runs, 2.86, float("nan"))
    return Readings.of(size), float(np.log(budget)), share, size


def coverage(make: Callable[[np.random.Generator], Curve], seeds: int) -> tuple[float, float]:
    """How often the interval holds the true share: by draws alone, and widened."""
    held = []
    for seed in range(seeds):
        readings, z, truth, _ = case(make, seed)
        fit = fit_surface(readings)
        rng = np.random.default_rng(seed)
        drawn, _ = drawn_surfaces(readings, fit, 200, rng)
        parts = (Samples.of(fit), drawn, refitted_surfaces(readings, fit, rng))
        over = spline_matrix(readings.shares, SHARES).T
        own, draws, refits = (last_feasible((p.theta[..., 1] - z) @ over, readings.shares) for p in parts)
        found = [interval(float(own[0]), draws, values) for values in (None, refits)]
        held.append([i.low - 1e-9 <= truth <= i.high + 1e-9 for i in found])
    before, after = np.mean(held, axis=0)
    return float(before), float(after)


@pytest.mark.parametrize("make", [two_phases, waving])
def test_the_interval_is_widened_where_the_law_cannot_follow_the_curves(make) -> None:
    before, after = coverage(make, 30)
    assert before < 0.5
    assert after >= 0.75


def test_the_interval_stays_where_the_law_is_right() -> None:
    before, after = coverage(clean, 40)
    assert 0.75 <= before <= after <= 0.98


def test_a_misfit_is_flagged_and_said() -> None:
    _, z, _, size = case(two_phases, 3)
    budget = 2e10 * float(np.exp(z))
    report = predict_cmr([size], Names("general", "finance"), [budget], options=CmrOptions(draws=100))
    answer = report.answers[0]
    assert "shape-misfit" in answer.flag_names
    assert "the interval is widened for that" in answer.advice
    assert answer.next_run is not None
    assert answer.next_run.after > 0.9 * (answer.high - answer.low) / 2  # another run does not mend the law's shape


def test_a_block_of_every_run_is_left_out_once(made_up) -> None:
    readings = Readings.of(made_up({0.2: 5e9, 0.4: 2e10}, readings=12))
    short = replace(readings, weight=readings.weight * (np.arange(12) < [[12], [7]]))
    parts = np.stack([part.weight for part in without_blocks(short)])
    assert parts.shape == (BLOCKS, 2, 12)
    np.testing.assert_array_equal(parts.sum(axis=0), (BLOCKS - 1) * short.weight)
    left_out = short.weight - parts
    assert left_out.sum(axis=2).min() >= 1 and left_out.sum(axis=2).max() <= 3
    for block in left_out.reshape(-1, 12):
        there = np.flatnonzero(block)
        assert there[-1] - there[0] == len(there) - 1  # neighbours


def test_refits_hold_smoothness_and_noise_and_come_in_order(made_up) -> None:
    readings = Readings.of(made_up({0.1: 5e9, 0.2: 8e9, 0.3: 1.3e10, 0.4: 2.5e10}))
    fit = fit_surface(readings)
    again = refit_surface(readings, fit, y=np.stack([readings.y] * 2))
    np.testing.assert_allclose(again.theta, np.concatenate([fit.theta] * 2), atol=0.02)
    assert again.noise.tolist() == [fit.noise[0]] * 2
    refits = refitted_surfaces(readings, fit, np.random.default_rng(0))
    assert refits.theta.shape == (BLOCKS * (1 + SYNTHETIC), 4, 3)
    third = list(without_blocks(readings))[2]
    alone = refit_surface(third, fit, y=readings.y[None])
    np.testing.assert_allclose(refits.theta[2 * (1 + SYNTHETIC)], alone.theta[0], atol=1e-9)


@pytest.mark.parametrize("paper", [False, True])
def test_refits_run_by_run_come_in_order_too(made_up, paper: bool) -> None:
    readings = Readings.of(made_up({0.1: 5e9, 0.2: 8e9, 0.3: 1.3e10}))
    curves = fit_runs(readings, paper=paper)
    refits = refitted_curves(readings, curves, np.random.default_rng(0), paper=paper)
    assert refits.p.shape == (BLOCKS * (1 + SYNTHETIC), 3)
    last = fit_runs(list(without_blocks(readings))[-1], paper=paper)
    np.testing.assert_allclose(refits.coefficients[-1 - SYNTHETIC], last.coefficients[0], rtol=1e-9)


@pytest.mark.parametrize("form", ["reduced", "paper"])
def test_the_other_forms_are_widened_as_well(form: str) -> None:
    _, z, _, size = case(two_phases, 3)
    model = SizeModel.fit(size, form=form, draws=40, rng=np.random.default_rng(0))
    assert model.refitted is not None
    shares = [np.clip(m.turning_share(z, np.inf, draws=True), 0, 1) for m in (model, model.refitted)]
    assert shares[1].shape == (1 + BLOCKS * (1 + SYNTHETIC),)
    alone, widened = (interval(float(shares[0][0]), shares[0][1:], r) for r in (None, shares[1][1:]))
    assert widened.high - widened.low > 1.5 * (alone.high - alone.low)
    assert SizeModel.fit(size, form=form, draws=0, rng=np.random.default_rng(0)).refitted is None


def test_draws_of_the_level_have_the_noise_of_a_mean(made_up) -> None:
    readings = Readings.of(made_up({0.1: 5e9, 0.2: 8e9, 0.3: 1.3e10, 0.4: 2.5e10}, noise=1e-3))
    fit = fit_surface(readings)
    drawn, _ = drawn_surfaces(readings, fit, 4000, np.random.default_rng(1))
    assert drawn.level.std(axis=0).min() > fit.noise[0] / np.sqrt(40)  # it moves with theta as well
    held = drawn_surfaces(readings, replace(fit, precision=fit.precision * 1e12), 4000, np.random.default_rng(1))[0]
    assert held.level.std(axis=0) == pytest.approx(fit.noise[0] / np.sqrt(40), rel=0.06)


def test_resampled_runs_count_in_the_level_of_their_share(made_up) -> None:
    size = made_up({0.1: 5e9, 0.2: 8e9, 0.3: 1.3e10, 0.4: 2.5e10}, seeds=3)
    apart = tuple(replace(run, general=run.general + 0.01 * (i % 3)) for i, run in enumerate(size.runs))
    readings = Readings.of(replace(size, runs=apart))
    drawn, how = drawn_surfaces(readings, fit_surface(readings), 400, np.random.default_rng(0))
    assert how == "bootstrap over runs within each share"
    ends = drawn.increments(readings.knot, np.array([0.0]))[..., 0]
    assert ends.std(axis=0) == pytest.approx(0.01 / np.sqrt(3), rel=0.2)  # of the mean of 0, 1 and 2 hundredths
