"""Natural splines and their penalties against SciPy and against integrals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from mixlaw.cmr.splines import bend_penalty, spline_matrix, step_penalty

KNOTS = np.array([0.125, 0.25, 1 / 3, 0.5, 0.75])
VALUES = np.array([3.0, 4.1, 4.2, 5.6, 5.0])


def test_the_spline_is_scipys_natural_spline() -> None:
    x = np.linspace(KNOTS[0], KNOTS[-1], 101)
    expected = CubicSpline(KNOTS, VALUES, bc_type="natural")(x)
    np.testing.assert_allclose(spline_matrix(KNOTS, x) @ VALUES, expected, atol=1e-12)


def test_outside_the_knots_it_goes_on_straight() -> None:
    spline = CubicSpline(KNOTS, VALUES, bc_type="natural")
    found = spline_matrix(KNOTS, np.array([0.0, 1.0])) @ VALUES
    expected = [spline(KNOTS[0]) - 0.125 * spline(KNOTS[0], 1), spline(KNOTS[-1]) + 0.25 * spline(KNOTS[-1], 1)]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_the_bend_penalty_is_the_integral_of_the_squared_second_derivative() -> None:
    x = np.linspace(KNOTS[0], KNOTS[-1], 200_001)
    second = CubicSpline(KNOTS, VALUES, bc_type="natural")(x, 2)
    assert VALUES @ bend_penalty(KNOTS) @ VALUES == pytest.approx(np.trapezoid(second**2, x), rel=1e-6)


def test_penalties_leave_lines_and_constants_alone() -> None:
    assert np.abs(bend_penalty(KNOTS) @ (2 + 3 * KNOTS)).max() < 1e-9
    assert np.abs(step_penalty(KNOTS) @ np.ones(5)).max() < 1e-12
    assert VALUES @ step_penalty(KNOTS) @ VALUES == pytest.approx(np.sum(np.diff(VALUES) ** 2 / np.diff(KNOTS)))


def test_one_and_two_knots() -> None:
    assert spline_matrix(np.array([0.3]), np.array([0.1, 0.9])).tolist() == [[1.0], [1.0]]
    two = spline_matrix(np.array([0.2, 0.4]), np.array([0.3, 0.6]))
    np.testing.assert_allclose(two @ np.array([1.0, 2.0]), [1.5, 3.0])
    assert not bend_penalty(np.array([0.2, 0.4])).any()
