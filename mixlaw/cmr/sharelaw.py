"""Laws over the domain share at fixed tokens, and over tokens at fixed share: three parameters, two of them linear."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_EXPONENTS = np.concatenate([-np.geomspace(12, 0.01, 48), np.geomspace(0.01, 12, 48)])
_GOLDEN_STEPS = 40


@dataclass(frozen=True)
class PowerFit:
    """``y = a (e^(s x) - 1) / s + b``, a power law in e^x whose limit at s = 0 is a straight line in x.

    Attributes:
        a: shape (B,).
        s: shape (B,).
        b: shape (B,).
        error: root-mean-square residual, shape (B,).
    """

    a: Floats
    s: Floats
    b: Floats
    error: Floats

    def predict(self, x: Floats) -> Floats:
        """Values at ``x``, shape (m,) or (B, m); returns (B, m)."""
        return np.asarray(self.a[:, None] * _grown(self.s[:, None], x) + self.b[:, None])

    def slope(self, x: Floats) -> Floats:
        """Derivative by x, shape (B, m)."""
        return np.asarray(self.a[:, None] * np.exp(self.s[:, None] * x))

    def power(self) -> tuple[Floats, Floats, Floats]:
        """``(a', s, b')`` of the same curve written ``a' X^s + b'`` with X = e^x."""
        return self.a / self.s, self.s, self.b - self.a / self.s


def fit_power(x: Floats, y: Floats, weight: Floats | None = None) -> PowerFit:
    """Least squares by variable projection: a and b are linear given s, s on a grid and then by golden section.

    Args:
        x: logs of shares or tokens, shape (m,) or (B, m).
        y: shape (B, m).
        weight: of each value, 0 leaves it out, shape (B, m).
    """
    weight = np.ones_like(y) if weight is None else weight
    x = np.broadcast_to(x, y.shape)
    error = _project(x, y, weight, np.broadcast_to(_EXPONENTS[:, None], (len(_EXPONENTS), len(y))))[2]
    best = np.clip(error.argmin(axis=0), 1, len(_EXPONENTS) - 2)
    low, high = _EXPONENTS[best - 1], _EXPONENTS[best + 1]
    ratio = (np.sqrt(5) - 1) / 2
    for _ in range(_GOLDEN_STEPS):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        go_left = _project(x, y, weight, left)[2] < _project(x, y, weight, right)[2]
        low, high = np.where(go_left, low, left), np.where(go_left, right, high)
    s = (low + high) / 2
    a, b, squares = _project(x, y, weight, s)
    return PowerFit(a, s, b, np.sqrt(squares / np.maximum(weight.sum(axis=1), 1)))


def _grown(s: Floats, x: Floats) -> Floats:
    safe = np.where(np.abs(s) < 1e-6, 1e-6, s)
    return np.asarray(np.expm1(safe * x) / safe)


def _project(x: Floats, y: Floats, weight: Floats, s: Floats) -> tuple[Floats, Floats, Floats]:
    """a, b and the weighted sum of squares of each problem at exponents ``s``, all of shape (..., B)."""
    f = _grown(s[..., None], x)
    total = np.maximum(weight.sum(axis=-1), 1e-300)
    f_mean, y_mean = (weight * f).sum(axis=-1) / total, (weight * y).sum(axis=-1) / total
    df, dy = f - f_mean[..., None], y - y_mean[..., None]
    a = (weight * df * dy).sum(axis=-1) / np.maximum((weight * df**2).sum(axis=-1), 1e-300)
    squares = (weight * (dy - a[..., None] * df) ** 2).sum(axis=-1)
    return a, y_mean - a * f_mean, squares


def leave_one_out(share: Floats, loss: Floats) -> Floats:
    """Error of ``L(R) = a R^s + b`` at each share when the others fit it, shape (n,); NaN below 4 shares."""
    if len(share) < 4:
        return np.full(len(share), np.nan)
    weight = 1.0 - np.eye(len(share))
    fit = fit_power(np.log(share), np.broadcast_to(loss, weight.shape), weight)
    return np.asarray(np.diagonal(fit.predict(np.log(share))) - loss)
