"""The smooth fit over share and tokens: gradient, recovery, and what noise does to it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mixlaw.cmr.data import Readings
from mixlaw.cmr.model import SHARES, last_feasible
from mixlaw.cmr.shapes import curve, curve_gradient, slope
from mixlaw.cmr.splines import spline_matrix
from mixlaw.cmr.surface import fit_surface, neighbour_correlation, resampled_runs

PUBLISHED = {"460M": 29.8, "940M": 34.9, "1.6B": 41.4, "3.1B": 47.8}


def points(theta: np.ndarray, shares: np.ndarray) -> np.ndarray:
    return 100 * last_feasible(theta[..., 1] @ spline_matrix(shares, SHARES).T, shares)


def test_the_curves_gradient_agrees_with_finite_differences() -> None:
    theta, z = np.array([[-6.0, 0.4, 0.5], [-5.5, -1.2, 0.8]]), np.linspace(-4, 0.5, 7)
    _, analytic = curve_gradient(theta, z)
    for entry in range(3):
        step = 1e-6 * np.eye(3)[entry]
        numeric = (curve(theta + step, z) - curve(theta - step, z)) / 2e-6
        np.testing.assert_allclose(analytic[..., entry], numeric, rtol=1e-6, atol=1e-10)
    numeric = (curve(theta, z + 1e-6) - curve(theta, z - 1e-6)) / 2e-6
    np.testing.assert_allclose(slope(theta, z), numeric, rtol=1e-6, atol=1e-10)


def test_the_curve_is_the_papers_reduced_form() -> None:
    # T^p (A - B ln T) + c with p = 0.5, A = 0.003, B = 0.0005 at T = 1 ... 100 turns at ln T0 = A / B - 1 / p = 4.
    t = np.arange(1.0, 101.0)
    direct = t**0.5 * (0.003 - 0.0005 * np.log(t))
    theta = np.array([np.log(0.5 * 0.0005 * 100**0.5), 4 - np.log(100), 0.5])
    ours = curve(theta, np.log(t / 100))
    np.testing.assert_allclose(ours - ours[-1], direct - direct[-1], atol=1e-15)


@pytest.mark.parametrize(("size", "percent"), PUBLISHED.items())
def test_published_ratios_come_back_without_noise(published, size: str, percent: float) -> None:
    readings = Readings.of(published(size))
    fit = fit_surface(readings)
    assert points(fit.theta, readings.shares)[0] == pytest.approx(percent, abs=0.5)
    assert fit.noise[0] < 1e-6


@pytest.mark.parametrize(("noise", "most"), [(5e-5, 0.55), (2e-4, 1.25), (5e-4, 2.76)])
def test_error_under_noise_and_coverage_of_the_interval(published, noise: float, most: float) -> None:
    """100 data sets of 4 sizes; the bench measures the same with other seeds and against the other forms."""
    errors, covered = [], []
    for index, (size, percent) in enumerate(PUBLISHED.items()):
        readings = Readings.of(published(size))
        rng = np.random.default_rng([index, 7])
        clean = points(fit_surface(readings).theta, readings.shares)[0]
        fits = fit_surface(readings, y=readings.y + noise * rng.standard_normal((25, *readings.y.shape)))
        errors.append(points(fits.theta, readings.shares) - percent)
        drawn = np.stack([points(theta, readings.shares) for theta in fits.draws(rng, 100)])
        low, high = np.quantile(drawn, [0.05, 0.95], axis=0)
        covered.append((low <= clean) & (clean <= high))
    assert np.sqrt(np.mean(np.square(errors))) < most
    assert 0.80 <= np.mean(covered) <= 0.97  # 100 cases: 85-95 % plus two standard errors of a count
    assert fits.noise.mean() == pytest.approx(noise, rel=0.03)


def test_exponents_are_pulled_together_by_noise_and_left_free_without(published) -> None:
    readings = Readings.of(published("460M"))
    rng = np.random.default_rng(0)
    quiet, loud = (fit_surface(readings, y=readings.y[None] + s * rng.standard_normal((8, 4, 100))) for s in (0, 1e-3))
    np.testing.assert_allclose(quiet.theta[0, :, 2], [0.488, 0.517, 0.538, 0.578], atol=0.001)  # as fitted alone
    assert np.ptp(loud.theta[..., 2], axis=-1).max() < 0.09
    assert loud.precision[:, 1, 1].mean() < quiet.precision[:, 1, 1].mean()


def test_correlated_noise_is_noticed_and_widens_the_interval(published) -> None:
    readings = Readings.of(published("1.6B"))
    rng = np.random.default_rng(2)
    white = rng.standard_normal((1, 4, 100))
    slow = white.copy()
    for k in range(1, 100):
        slow[..., k] = 0.8 * slow[..., k - 1] + 0.6 * white[..., k]
    fits = [fit_surface(readings, y=readings.y[None] + 1e-4 * noise) for noise in (white, slow)]
    assert abs(fits[0].correlation[0]) < 0.2 < 0.6 < fits[1].correlation[0]
    assert fits[0].noise[0] == pytest.approx(1e-4, rel=0.1)
    assert fits[1].noise[0] > 2e-4


def test_runs_that_end_early_and_missing_readings_are_padded(published) -> None:
    size = published("460M")
    gappy = size.runs[1].general.copy()
    gappy[10:60] = np.nan
    short = replace(size.runs[0], tokens=size.runs[0].tokens[:70], general=size.runs[0].general[:70])
    part = replace(size, runs=(short, replace(size.runs[1], general=gappy), *size.runs[2:]))
    readings = Readings.of(part)
    assert readings.weight.sum(axis=1).tolist() == [70, 50, 100, 100]
    assert points(fit_surface(readings).theta, readings.shares)[0] == pytest.approx(29.8, abs=0.5)


def test_resampled_runs_keep_the_weight_of_a_share_and_the_variance_of_its_mean(made_up) -> None:
    readings = Readings.of(made_up({0.2: 5e9, 0.4: 2e10}, seeds=4))
    times = resampled_runs(readings, np.random.default_rng(0), 20_000)
    assert times.shape == (20_000, 8)
    np.testing.assert_allclose(times[:, :4].sum(axis=1), 4)
    values = np.array([1.0, 2.0, 4.0, 7.0])
    assert np.var(times[:, :4] @ values / 4) == pytest.approx(np.var(values, ddof=1) / 4, rel=0.05)


def test_neighbour_correlation_ignores_padding() -> None:
    residual = np.array([[[1.0, 1.0, -1.0, -1.0, 0.0, 0.0]]])
    weight = np.array([[1.0, 1.0, 1.0, 1.0, 0.0, 0.0]])
    assert neighbour_correlation(residual, weight)[0] == pytest.approx((1 - 1 + 1) / 4 * 4 / 3)
