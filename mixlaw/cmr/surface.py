"""One fit of general loss over (share, tokens): curves that change smoothly with the share.

Every share has its reduced curve (``shapes``); ln K and p, which give a curve its form, are pulled towards one value
for all shares, and v, the log of the turning point, towards a straight line in the share:

    minimise  sum (y - level_run - curve)^2 / s^2  +  sum_k  f_k' Omega_k f_k / tau_k^2      f_k in (ln K, v, p)

with Omega the penalty on steps (ln K, p) or on bends (v) of a natural spline. This is a Gaussian prior on the three
functions, and the data choose its strength: the tau are estimated by empirical Bayes (EM on the marginal likelihood,
Laplace approximation), each with a weak prior of ``PRIOR_WEIGHT`` pseudo-observations at ``PRIOR_SCALE``, so that two
or three differences between shares cannot drive a tau to 0. The noise s is estimated beside them. With little noise
the tau leave the curves nearly free; with much noise they borrow strength from each other. Levels are free per run.

Uncertainty: draws from the Gaussian posterior at the estimated tau and s, or, where every share has at least three
runs, fits to runs resampled within shares.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from mixlaw.cmr.data import Readings
from mixlaw.cmr.shapes import LOWER, UPPER, basis, curve, curve_gradient
from mixlaw.cmr.splines import bend_penalty, step_penalty

Floats = NDArray[np.float64]

PRIOR_SCALE = np.array([1.0, 5.0, 0.3])
"""Per unit of share: an e-fold in sharpness, a bend of 5 e-folds of T0 (per unit squared), 0.3 in the exponent."""
PRIOR_WEIGHT = 0.3
"""Pseudo-observations behind ``PRIOR_SCALE``, against n - 1 or n - 2 differences between n shares."""
START_TAU = np.array([3.0, 10.0, 0.5])
NOISE_FLOOR = 1e-8
"""Smallest standard deviation of a reading, nats: below the rounding of any log."""
_ROUNDS, _STEPS, _FIRST_STEPS = 25, 12, 40
_SETTLED = 0.01
_STRAIGHT = 3.0
_OVERSHOOT = 1.7


@dataclass(frozen=True)
class SurfaceFit:
    """A batch of B fits to the same design.

    Attributes:
        theta: (ln K, v, p) per share, shape (B, n, 3).
        level: increment of each run at the longest run's tokens, shape (B, R).
        precision: of theta flattened, shape (B, 3 n, 3 n).
        noise: standard deviation of a reading, inflated for correlation, shape (B,).
        tau: prior standard deviations of the three functions, shape (B, 3).
        correlation: of neighbouring residuals, shape (B,).
        inflation: of the variance of the noise for that correlation, shape (B,).
    """

    theta: Floats
    level: Floats
    precision: Floats
    noise: Floats
    tau: Floats
    correlation: Floats
    inflation: Floats

    @property
    def white(self) -> Floats:
        """Standard deviation of a reading itself, shape (B,)."""
        return np.asarray(self.noise / np.sqrt(self.inflation))

    def draws(self, rng: np.random.Generator, count: int) -> Floats:
        """Draws of theta from the posterior of each fit, shape (count, B, n, 3)."""
        batch, knots, width = self.theta.shape
        covariance = inverse(self.precision)
        scale = np.sqrt(np.einsum("bii->bi", covariance))
        relative = covariance / scale[:, :, None] / scale[:, None, :]
        root = np.linalg.cholesky(relative + 1e-9 * np.eye(knots * width)) * scale[:, :, None]
        normal = rng.standard_normal((count, batch, knots * width))
        off = np.einsum("bij,cbj->cbi", root, normal).reshape(count, batch, knots, width)
        moved = self.theta + off
        # Far from the data v and K trade places along a ridge: steps in v are taken on the scale of asinh(v / 3),
        # linear within the data, so that no draw turns a loss that fell from the start into one that never falls.
        v = self.theta[..., 1]
        bent = np.arcsinh(v / _STRAIGHT) + off[..., 1] / np.sqrt(v**2 + _STRAIGHT**2)
        moved[..., 1] = _STRAIGHT * np.sinh(np.clip(bent, -5, 5))
        return np.asarray(np.clip(moved, LOWER, UPPER))


def inverse(precision: Floats) -> Floats:
    """Inverse of positive definite matrices of badly scaled entries, shape (B, q, q)."""
    scale = np.sqrt(np.einsum("bii->bi", precision))
    outer = scale[:, :, None] * scale[:, None, :]
    return np.asarray(np.linalg.inv(precision / outer) / outer)


def fit_surface(readings: Readings, *, y: Floats | None = None, multiplicity: Floats | None = None) -> SurfaceFit:
    """Fit one surface, or a batch of them on the same design.

    Args:
        readings: the design, and the increments where ``y`` is None.
        y: increments of B data sets, shape (B, R, m).
        multiplicity: how often each run counts, shape (B, R); once where None.
    """
    y = readings.y[None] if y is None else y
    counts = np.ones(y.shape[:2]) if multiplicity is None else multiplicity
    y = np.broadcast_to(y, (len(counts), *readings.y.shape))
    problem = _Problem(readings, y, counts)
    fit = _empirical_bayes(problem, problem.start(), np.ones(len(y)))
    if readings.weight.sum(axis=1).max() < 4 * 3:
        return fit
    inflation = np.where(fit.correlation > _notable(readings), _inflation(fit.correlation), 1.0)
    if np.all(inflation == 1):
        return fit
    return replace(_empirical_bayes(problem, fit.theta, inflation), correlation=fit.correlation)


def refit_surface(readings: Readings, fit: SurfaceFit, *, y: Floats) -> SurfaceFit:
    """Fits to B data sets on (part of) the design of one fit, whose smoothness and noise they keep.

    Args:
        readings: the design; ``weight`` may leave readings out.
        fit: one fit.
        y: increments, shape (B, R, m).
    """
    batch = len(y)
    problem = _Problem(readings, y, np.ones(y.shape[:2]))
    same = replace(fit, **{f.name: np.repeat(getattr(fit, f.name), batch, axis=0) for f in fields(fit)})
    theta, precision = _minimise(problem, same.theta, problem.penalty(same.tau), same.noise**2, _FIRST_STEPS)
    level = problem.mean(problem.raw - curve(theta[:, readings.knot], readings.z))
    return replace(same, theta=theta, precision=precision, level=level)


def _notable(readings: Readings) -> float:
    """Correlation of neighbours that chance does not give: 0.2, or 3 standard errors."""
    return max(0.2, 3 / float(np.sqrt(readings.weight.sum())))


def _inflation(correlation: Floats) -> Floats:
    """Variance of a mean of correlated noise over that of white noise."""
    bounded = np.clip(correlation, 0, 0.95)
    return np.asarray((1 + bounded) / (1 - bounded))


class _Problem:
    """A batch of B penalised least-squares problems; levels are profiled out by centring."""

    def __init__(self, readings: Readings, y: Floats, counts: Floats) -> None:
        self.readings, self.counts = readings, counts
        self.knots = len(readings.shares)
        self.weight = readings.weight
        self.size = self.weight.sum(axis=1)
        self.raw = y
        self.y = self._centred(y)
        self.belongs = np.equal.outer(readings.knot, np.arange(self.knots)).astype(np.float64)
        step, bend = step_penalty(readings.shares), bend_penalty(readings.shares)
        self.omega = np.stack([step, bend, step])
        self.rank = np.array([self.knots - 1, max(self.knots - 2, 0), self.knots - 1], dtype=np.float64)
        self.observations = counts @ self.size

    def _centred(self, values: Floats) -> Floats:
        return np.asarray((values - self.mean(values)[..., None]) * self.weight)

    def mean(self, values: Floats) -> Floats:
        """Mean over a run's readings, shape (..., R)."""
        return np.asarray((values * self.weight).sum(axis=-1) / self.size)

    def evaluate(self, theta: Floats) -> Floats:
        """Residuals, shape (B, R, m)."""
        return self.y - self._centred(curve(theta[:, self.readings.knot], self.readings.z))

    def normal(self, theta: Floats) -> tuple[Floats, Floats]:
        """Gauss-Newton matrix (B, n, 3, 3) and gradient (B, n, 3), summed over the runs of a share."""
        value, jacobian = curve_gradient(theta[:, self.readings.knot], self.readings.z)
        residual = self.y - self._centred(value)
        mean = (jacobian * self.weight[..., None]).sum(axis=-2, keepdims=True) / self.size[:, None, None]
        jacobian = (jacobian - mean) * self.weight[..., None]
        weighted = jacobian * self.counts[:, :, None, None]
        squares = np.matmul(weighted.swapaxes(-1, -2), jacobian)
        slopes = np.matmul(weighted.swapaxes(-1, -2), residual[..., None])[..., 0]
        return np.einsum("brij,rk->bkij", squares, self.belongs), np.einsum("bri,rk->bki", slopes, self.belongs)

    def squares(self, residual: Floats) -> Floats:
        """Sum of squared residuals, shape (B,)."""
        return np.asarray(np.einsum("brm,br->b", residual**2, self.counts))

    def penalty(self, tau: Floats) -> Floats:
        """Prior precision of theta flattened, shape (B, 3 n, 3 n)."""
        n = self.knots
        full = np.zeros((len(tau), n, 3, n, 3))
        for k in range(3):
            full[:, :, k, :, k] = self.omega[k] / tau[:, k, None, None] ** 2
        return full.reshape(len(tau), 3 * n, 3 * n)

    def block(self, squares: Floats) -> Floats:
        """Block-diagonal matrix (B, 3 n, 3 n) of (B, n, 3, 3)."""
        n = self.knots
        full = np.zeros((len(squares), n, 3, n, 3))
        for k in range(n):
            full[:, k, :, k, :] = squares[:, k]
        return full.reshape(len(squares), 3 * n, 3 * n)

    def start(self) -> Floats:
        """The best common exponent on a grid, the curves linear given it, shape (B, n, 3)."""
        best = np.full(len(self.y), np.inf)
        theta = np.zeros((len(self.y), self.knots, 3))
        for p in np.arange(0.1, 1.01, 0.1):
            design = np.stack([self._centred(part) for part in basis(np.array(p), self.readings.z)], axis=-1)
            gram = np.einsum("rmi,rmj,br,rk->bkij", design, design, self.counts, self.belongs)
            right = np.einsum("rmi,brm,br,rk->bki", design, self.y, self.counts, self.belongs)
            found = np.linalg.solve(gram + 1e-12 * np.eye(2), right[..., None])[..., 0]
            error = self.squares(self.y - np.einsum("rmi,bri->brm", design, found[:, self.readings.knot]))
            bends = np.median(found[..., 1], axis=-1, keepdims=True)
            sharp = np.maximum(found[..., 1], np.maximum(bends / 4, 1e-5))
            turn = np.clip(found[..., 0] / sharp, -8, 4)
            trial = np.stack([np.log(sharp), turn, np.full_like(turn, p)], axis=-1)
            theta = np.where((error < best)[:, None, None], trial, theta)
            best = np.minimum(error, best)
        return theta


def _minimise(problem: _Problem, theta: Floats, prior: Floats, variance: Floats, steps: int) -> tuple[Floats, Floats]:
    """Levenberg-Marquardt on all problems at once; returns theta and the posterior precision."""
    batch, knots, width = theta.shape
    unit = np.eye(knots * width)

    def objective(at: Floats) -> Floats:
        flat = at.reshape(batch, -1)
        misfit = problem.squares(problem.evaluate(at)) / variance
        return np.asarray(misfit + np.einsum("bi,bij,bj->b", flat, prior, flat))

    damping, value = np.full(batch, 1e-2), objective(theta)
    for _ in range(steps):
        squares, slopes = problem.normal(theta)
        precision = problem.block(squares) / variance[:, None, None] + prior
        slope = slopes.reshape(batch, -1) / variance[:, None] - np.einsum("bij,bj->bi", prior, theta.reshape(batch, -1))
        scale = np.sqrt(np.einsum("bii->bi", precision)) + 1e-12
        lifted = precision / (scale[:, :, None] * scale[:, None, :]) + damping[:, None, None] * unit
        step = np.linalg.solve(lifted, (slope / scale)[..., None])[..., 0] / scale
        trial = np.clip(theta + step.reshape(theta.shape), LOWER, UPPER)
        reached = objective(trial)
        better = reached <= value
        gain = np.where(better, value - reached, np.inf)
        theta = np.where(better[:, None, None], trial, theta)
        value = np.where(better, reached, value)
        damping = np.where(better, np.maximum(damping / 5, 1e-9), np.minimum(damping * 6, 1e9))
        if np.all((gain < 1e-3) | (damping >= 1e9)):
            break
    return theta, problem.block(problem.normal(theta)[0]) / variance[:, None, None] + prior


def _empirical_bayes(problem: _Problem, theta: Floats, inflation: Floats) -> SurfaceFit:
    """Alternate between the curves, the strengths tau and the noise until the tau move by less than 1 %."""
    knots = problem.knots
    tau = np.tile(START_TAU, (len(theta), 1))
    free = problem.observations - len(problem.size) - 3 * knots
    variance = inflation * _variance(problem.squares(problem.evaluate(theta)), free)
    precision = np.zeros((0, 0, 0))
    for round_ in range(_ROUNDS):
        steps = _STEPS if round_ else _FIRST_STEPS
        theta, precision = _minimise(problem, theta, problem.penalty(tau), variance, steps)
        covariance = inverse(precision).reshape(len(theta), knots, 3, knots, 3)
        spread = np.stack([_trace(problem.omega[k], covariance[:, :, k, :, k]) for k in range(3)], axis=-1)
        rough = np.stack([_form(problem.omega[k], theta[..., k]) for k in range(3)], axis=-1)
        wanted = np.sqrt((rough + spread + PRIOR_WEIGHT * PRIOR_SCALE**2) / (problem.rank + PRIOR_WEIGHT))
        updated = np.clip(tau * (wanted / tau) ** _OVERSHOOT, 1e-5, 1e5)
        used = len(problem.size) + 3 * knots - (spread / tau**2).sum(axis=-1)
        residual = problem.evaluate(theta)
        variance = inflation * _variance(problem.squares(residual), problem.observations - used)
        moved = float(np.abs(np.log(updated / tau)).max())
        tau = updated
        if moved < _SETTLED:
            break
    level = problem.mean(problem.raw - curve(theta[:, problem.readings.knot], problem.readings.z))
    correlation = neighbour_correlation(residual, problem.weight)
    return SurfaceFit(theta, level, precision, np.sqrt(variance), tau, correlation, inflation)


def _variance(squares: Floats, free: Floats) -> Floats:
    return np.asarray(np.maximum(squares / np.maximum(free, 1.0), NOISE_FLOOR**2))


def _trace(matrix: Floats, covariance: Floats) -> Floats:
    return np.asarray(np.einsum("ij,bji->b", matrix, covariance))


def _form(matrix: Floats, values: Floats) -> Floats:
    return np.asarray(np.einsum("bi,ij,bj->b", values, matrix, values))


def neighbour_correlation(residual: Floats, weight: Floats) -> Floats:
    """Correlation of neighbouring residuals of a run, pooled over runs, shape (B,)."""
    pairs = (residual[..., 1:] * residual[..., :-1]).sum(axis=(-1, -2))
    both = weight[:, 1:] * weight[:, :-1]
    squares = (residual**2 * weight).sum(axis=(-1, -2))
    return np.asarray(pairs / np.maximum(squares, 1e-300) * weight.sum() / max(float(both.sum()), 1.0))


def resampled_runs(readings: Readings, rng: np.random.Generator, count: int) -> Floats:
    """How much each run counts when runs are resampled within their share, shape (count, R).

    Of n runs n - 1 are drawn and counted n / (n - 1) times each (Rao and Wu, 1988), which makes the variance of a mean
    right for few runs; n drawn runs would make it too small by (n - 1) / n.
    """
    times = np.zeros((count, len(readings.knot)))
    for knot in range(len(readings.shares)):
        runs = np.flatnonzero(readings.knot == knot)
        drawn = rng.multinomial(len(runs) - 1, np.full(len(runs), 1 / len(runs)), size=count)
        times[:, runs] = drawn * len(runs) / (len(runs) - 1)
    return times
