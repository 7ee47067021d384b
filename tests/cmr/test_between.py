"""Errors between tested shares: their covariance, roughness, coverage, and what the answers make of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mixlaw.cmr import CmrOptions, Names, Tolerance, predict_cmr
from mixlaw.cmr.between import Between, _integrated_wiener, energy, error_covariance
from mixlaw.cmr.model import SHARES, SizeModel
from mixlaw.cmr.splines import spline_matrix

KNOTS = np.array([0.125, 0.25, 1 / 3, 0.5])
GRID = np.linspace(0, 1, 201)


def drawn(count: int, shares: np.ndarray = KNOTS, seed: int = 0) -> Between:
    return Between.drawn(shares, GRID, count, np.random.default_rng(seed))


def test_paths_are_integrals_of_a_wiener_process() -> None:
    places = np.array([0.0, 0.1, 0.35, 1.0])
    paths = _integrated_wiener(places, 200_000, np.random.default_rng(0))
    early, late = np.minimum.outer(places, places), np.maximum.outer(places, places)
    np.testing.assert_allclose(paths.T @ paths / 200_000, early**2 * (3 * late - early) / 6, atol=0.003)


def test_the_covariance_is_that_of_the_process_given_its_values_and_any_line() -> None:
    """Conditioned by Gaussian algebra, with a line of nearly free slope and level added to the process."""
    at = np.array([0.05, 0.2, 0.3, 0.42, 0.75])
    places = np.concatenate([at, KNOTS])
    early, late = np.minimum.outer(places, places), np.maximum.outer(places, places)
    prior = early**2 * (3 * late - early) / 6 + 1e4 * (1 + np.outer(places, places))
    gain = np.linalg.solve(prior[5:, 5:], prior[5:, :5])
    np.testing.assert_allclose(error_covariance(KNOTS, at), prior[:5, :5] - prior[:5, 5:] @ gain, atol=1e-6)
    np.testing.assert_allclose(gain.T, spline_matrix(KNOTS, at), atol=1e-3)  # its mean is the spline


def test_errors_vanish_at_tested_shares_and_grow_beyond_them() -> None:
    tested = np.array([0.1, 0.25, 0.4, 0.6])  # all on the grid
    errors = drawn(400, tested).level
    assert not errors[0].any()
    at = np.searchsorted(GRID, [*tested - 1e-9, 0.5, 0.7, 0.9])
    scatter = np.median(np.abs(errors[1:, at]), axis=0)
    assert scatter[:4].max() < 1e-9
    assert 0 < scatter[4] < scatter[5] < scatter[6]
    variance = np.diag(error_covariance(tested, GRID[at[4:]]))
    np.testing.assert_allclose(scatter[4:] / scatter[6], np.sqrt(variance / variance[2]), rtol=0.15)


def test_errors_are_students_t_with_a_degree_less_than_shares() -> None:
    stats = pytest.importorskip("scipy.stats")
    errors = drawn(40_000).of_level(np.tile(KNOTS**2, (40_001, 1)))[1:, 80] / energy(KNOTS**2, KNOTS)
    variance = error_covariance(KNOTS, GRID[80:81])[0, 0]
    expected = stats.t.ppf(0.95, 3) * np.sqrt(variance / 3)
    assert np.quantile(errors, [0.05, 0.95]) == pytest.approx([-expected, expected], rel=0.04)


def test_roughness_is_bends_and_a_slope_that_changes_by_its_mean() -> None:
    line = 3 + 2 * KNOTS
    assert energy(line, KNOTS) == pytest.approx(2 / np.sqrt(0.375))  # R^2 / w^3, R = 2 w
    bent = np.array([0.0, 1.0, 0.2, 2.0])
    assert energy(3 * bent + 7, KNOTS) == pytest.approx(3 * energy(bent, KNOTS))
    assert energy(bent, KNOTS) > 5 * energy(np.sort(bent), KNOTS) / 2
    assert energy(np.ones(4), KNOTS) == 0
    assert energy(1e3 + line, KNOTS) == pytest.approx(energy(line, KNOTS))


def test_one_share_of_the_errors_agrees_with_all() -> None:
    errors, values = drawn(50), np.random.default_rng(1).standard_normal((51, 4))
    np.testing.assert_allclose(errors.of_level_at(GRID[80], values[:, None])[:, 0], errors.of_level(values)[:, 80])
    np.testing.assert_allclose(errors.of_turn_at(GRID[80], values), errors.of_turn(values)[:, 80])
    between = errors.of_turn_at((GRID[80] + GRID[81]) / 2, values)
    np.testing.assert_allclose(between, errors.of_turn(values)[:, 80:82].mean(axis=1))


@pytest.mark.parametrize("tested", [(0.2, 0.4), (0.1, 0.3, 0.5), (0.125, 0.25, 1 / 3, 0.5, 0.75)])
def test_nine_in_ten_smooth_functions_lie_within_the_errors(tested: tuple[float, ...]) -> None:
    """Functions with a slope that changes by about as much as its mean, between the two largest shares and beyond."""
    shares, held = np.array(tested), []
    at = np.array([(shares[-2] + shares[-1]) / 2, shares[-1] + 0.1])
    errors = drawn(2000, shares)
    rng = np.random.default_rng(3)
    paths = _integrated_wiener(np.concatenate([[0.0], shares[:-1], at[:1], shares[-1:], at[1:]]), 400, rng)[:, 1:]
    width = float(np.ptp(shares))
    for path in paths:
        own = path + rng.standard_normal() * width**0.5 * np.append(np.append(shares[:-1], at[0]), [shares[-1], at[1]])
        values = np.delete(own, [len(shares) - 1, len(shares) + 1])
        off = own[[len(shares) - 1, len(shares) + 1]] - spline_matrix(shares, at) @ values
        drawn_off = np.stack([errors.of_level_at(a, np.tile(values, (2001, 1, 1)))[1:, 0] for a in at])
        low, high = np.quantile(drawn_off, [0.05, 0.95], axis=1)
        held.append((low <= off) & (off <= high))
    assert np.all(np.mean(held, axis=0) > 0.87)
    assert np.all(np.mean(held, axis=0) < 0.98)


def test_a_far_turning_point_does_not_make_all_shares_rough() -> None:
    gap = np.array([[-1.0, -0.4, 0.0, 0.8], [-30.0, -0.4, 0.0, 0.8]])
    errors = Between.drawn(KNOTS, GRID, 1, np.random.default_rng(0))
    near, far = (np.abs(errors.of_turn(np.tile(row, (2, 1)))[1]).max() for row in gap)
    assert near < far < 0.35 * np.abs(errors.of_level(np.tile(gap[1], (2, 1)))[1]).max()


def test_the_answers_interval_carries_them_and_the_answer_does_not(published) -> None:
    """Without noise all that is left is what lies between tested shares, and nothing at a tested share."""
    size = published("460M")
    options = CmrOptions(draws=200)
    answer = predict_cmr([size], Names("general", "finance"), [20e9], options=options).answers[0]
    plain = predict_cmr([size], Names("general", "finance"), [20e9], options=CmrOptions(draws=0)).answers[0]
    assert answer.share == plain.share
    assert 0.005 < answer.high - answer.low < 0.04
    model = SizeModel.fit(size, form="surface", draws=200, rng=np.random.default_rng(0))
    at = {share: model.increments_at(share, np.array([0.0]))[1:, 0].std() for share in (0.25, 0.29, 0.42, 0.75)}
    assert at[0.25] < 1e-5 < at[0.29] < at[0.42] < at[0.75]
    assert model.refitted is not None
    assert model.refitted.between is None


def test_the_run_worth_making_for_an_answer_beyond_the_tested_shares_is_out_there(published) -> None:
    size = published("1.6B", shares=("0.125", "0.25", "0.333"), noise=1e-4)
    answer = predict_cmr([size], Names("general", "finance"), [17e9], options=CmrOptions(draws=200)).answers[0]
    assert 0.35 < answer.share < 0.41
    assert answer.next_run is not None
    assert answer.next_run.share == pytest.approx(answer.share, abs=0.02)
    assert answer.next_run.after < answer.next_run.before / 2


def test_a_law_over_pairs_has_no_errors_of_a_spline_but_its_levels_have(published) -> None:
    model = SizeModel.fit(published("460M"), form="reduced", draws=60, rng=np.random.default_rng(0))
    assert model.turning_share(0.0, np.inf, draws=True)[1:].std() < 1e-4
    assert model.increments_at(0.42, np.array([0.0]))[1:, 0].std() > 1e-4
    assert model.interval.endswith("smooth random errors of the level between tested shares")


def test_the_tolerances_share_carries_them_too(published) -> None:
    size = published("460M")
    answers = {}
    for nats in (0.00778, 0.0091):  # what 1/4 has, and a share between 1/4 and 1/3
        options = CmrOptions(draws=200, tolerance=Tolerance(nats))
        answers[nats] = predict_cmr([size], Names("general", "finance"), [20e9], options=options).answers[0]
        assert answers[nats].binding == "tolerance"
    close, far = (answer.high - answer.low for answer in answers.values())
    assert far > 3 * close
    assert 0.26 < answers[0.0091].share < 0.297


def test_budgets_of_a_draw_share_its_function(published) -> None:
    model = SizeModel.fit(published("460M", noise=1e-5), form="surface", draws=200, rng=np.random.default_rng(0))
    place = spline_matrix(model.shares, np.array([0.42]))[0]
    z = np.array([-0.7, 0.0])
    off = model.increments_at(0.42, z) - np.einsum("bkm,k->bm", model.increments(z, draws=True), place)
    assert np.corrcoef(off[1:].T)[0, 1] > 0.99
    whole = model.increments_over_shares(0.0)
    np.testing.assert_allclose(
        whole[:, 420], model.increments_at(float(SHARES[420]), np.array([0.0]))[:, 0], atol=1e-12
    )


def test_draws_of_noise_are_those_of_a_fit_without_them(published) -> None:
    size = published("460M", noise=2e-4)
    model = SizeModel.fit(size, form="surface", draws=100, rng=np.random.default_rng(0))
    with_errors = model.turning_share(0.0, np.inf, draws=True)
    alone = replace(model, between=None).turning_share(0.0, np.inf, draws=True)
    assert with_errors[0] == alone[0]
    assert with_errors[1:].std() > alone[1:].std()
    assert np.corrcoef(with_errors[1:], alone[1:])[0, 1] > 0.7
