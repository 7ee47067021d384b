"""The reduced curve of general loss, written so that its turning point is a parameter.

The reduced form ``T^p (A - B ln T) + c`` has the slope ``d/d ln T = K e^(p z) (v - z)`` with

    z = ln(T / T_ref),  v = ln(T0 / T_ref),  K = p B T_ref^p,  ln T0 = A / B - 1 / p

so that ``increment = level + K (v F(z) + G(z))`` where F and G depend on p alone and vanish at T_ref. ``v`` says when
the loss turns, ``K`` how sharply, ``p`` how the curve leans, ``level`` where it stands at T_ref; v and K are linear
or nearly so, which is what makes the fit well conditioned. Source of the form: arXiv 2407.17467, whose printed pairs
of power terms are this form to 1e-6 nats.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LOWER = np.array([-16.0, -30.0, 0.02])
"""Bounds on (ln K, v, p): far below 0, v describes a loss that falls from the start ..."""
UPPER = np.array([1.0, 6.0, 2.0])
"""... and T0 beyond e^6 = 400 times the longest run is the same as none."""


def basis(p: Floats, z: Floats) -> tuple[Floats, Floats]:
    """F and G, each of the shape of ``p`` and ``z`` broadcast."""
    grown = np.exp(p * z)
    return (grown - 1) / p, (grown * (1 - p * z) - 1) / p**2


def curve(theta: Floats, z: Floats) -> Floats:
    """Increment above the level at T_ref, shape (..., m), of theta = (ln K, v, p), shape (..., 3)."""
    f, g = basis(theta[..., 2:3], z)
    return np.asarray(np.exp(theta[..., 0:1]) * (theta[..., 1:2] * f + g))


def curve_gradient(theta: Floats, z: Floats) -> tuple[Floats, Floats]:
    """Increment (..., m) and its derivatives by theta (..., m, 3)."""
    p, v, sharp = theta[..., 2:3], theta[..., 1:2], np.exp(theta[..., 0:1])
    f, g = basis(p, z)
    grown = np.exp(p * z)
    f_by_p = (z * grown - f) / p
    g_by_p = -(z**2 * grown + 2 * g) / p
    value = sharp * (v * f + g)
    return value, np.stack([value, sharp * f, sharp * (v * f_by_p + g_by_p)], axis=-1)


def slope(theta: Floats, z: Floats) -> Floats:
    """Derivative of the increment by ln T, shape (..., m)."""
    p, v, sharp = theta[..., 2:3], theta[..., 1:2], np.exp(theta[..., 0:1])
    return np.asarray(sharp * np.exp(p * z) * (v - z))
