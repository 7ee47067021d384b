"""Natural cubic splines over the domain share: the interpolation matrix and the roughness penalties that go with it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def _curvature_parts(knots: Floats) -> tuple[Floats, Floats]:
    """Second differences Q (n, n - 2) and the mass matrix W (n - 2, n - 2) of Green and Silverman (1994), chapter 2."""
    n, h = len(knots), np.diff(knots)
    second, mass = np.zeros((n, n - 2)), np.zeros((n - 2, n - 2))
    for j in range(n - 2):
        second[j : j + 3, j] = 1 / h[j], -1 / h[j] - 1 / h[j + 1], 1 / h[j + 1]
        mass[j, j] = (h[j] + h[j + 1]) / 3
        if j + 1 < n - 2:
            mass[j, j + 1] = mass[j + 1, j] = h[j + 1] / 6
    return second, mass


def bend_penalty(knots: Floats) -> Floats:
    """Matrix of the integral of the squared second derivative: 0 for straight lines, shape (n, n), rank n - 2."""
    if len(knots) < 3:
        return np.zeros((len(knots), len(knots)))
    second, mass = _curvature_parts(knots)
    return np.asarray(second @ np.linalg.solve(mass, second.T))


def step_penalty(knots: Floats) -> Floats:
    """Matrix of the sum of squared steps over distances: 0 for constants, shape (n, n), rank n - 1."""
    steps = np.diff(np.eye(len(knots)), axis=0)
    return np.asarray(steps.T @ (steps / np.diff(knots)[:, None]))


def spline_matrix(knots: Floats, x: Floats) -> Floats:
    """Matrix from values at the knots to the natural cubic spline at ``x``, shape (len(x), n).

    Straight outside the knots; a line through two knots, a constant through one.
    """
    n = len(knots)
    if n == 1:
        return np.ones((len(x), 1))
    bends = np.zeros((n, n))
    if n > 2:
        second, mass = _curvature_parts(knots)
        bends[1:-1] = np.linalg.solve(mass, second.T)
    unit, at, h = np.eye(n), np.clip(x, knots[0], knots[-1]), np.diff(knots)
    left = np.clip(np.searchsorted(knots, at, side="right") - 1, 0, n - 2)
    width = h[left][:, None]
    b = (at - knots[left])[:, None] / width
    a = 1 - b
    inside = a * unit[left] + b * unit[left + 1]
    inside += width**2 / 6 * ((a**3 - a) * bends[left] + (b**3 - b) * bends[left + 1])
    first = (unit[1] - unit[0]) / h[0] - h[0] / 6 * bends[1]
    last = (unit[-1] - unit[-2]) / h[-1] + h[-1] / 6 * bends[-2]
    beyond = np.maximum(x - knots[-1], 0)[:, None] * last - np.maximum(knots[0] - x, 0)[:, None] * first
    return np.asarray(inside + beyond)
