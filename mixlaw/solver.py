"""Robust least squares for many small problems at once: batched Levenberg-Marquardt, polished by SciPy.

Minimises, for each problem b, ``sum_i w_i rho(log f_i(theta) - log y_i) + ridge/2 |theta - prior|^2`` within
bounds, where rho is the Huber function (quadratic up to ``delta``), a square, or a smoothed absolute value.
Problems share the rows and the law; they differ in targets, row weights and starting points, so that targets,
starts and bootstrap draws are one batch of array operations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Loss = Literal["huber", "l2", "l1"]

_CHUNK = 6_000_000
"""Largest number of Jacobian entries held at once."""
_TINY = 1e-300
_L1_WIDTH = 1e-4
"""Half-width of the quadratic part that makes the absolute value smooth (log units)."""


class Model(Protocol):
    """A law bound to rows: what the solver may ask of it. ``theta`` has shape (B, P)."""

    def values(self, theta: Floats) -> Floats:
        """Log predictions, shape (B, n)."""

    def jacobian(self, theta: Floats) -> tuple[Floats, Floats]:
        """Log predictions (B, n) and their derivatives (B, n, P)."""


@dataclass(frozen=True)
class SolverOptions:
    """How to minimise.

    Attributes:
        loss: shape of the penalty on residuals.
        delta: width of the quadratic part of the Huber loss, in log units.
        ridge: strength of the pull towards the prior.
        iterations: most Levenberg-Marquardt steps.
        tolerance: relative decrease of the objective below which a problem counts as solved.
    """

    loss: Loss = "huber"
    delta: float = 1e-2
    ridge: float = 1e-6
    iterations: int = 300
    tolerance: float = 1e-8

    @property
    def width(self) -> float:
        """Residual size at which the penalty turns from quadratic to linear."""
        return {"huber": self.delta, "l2": np.inf, "l1": _L1_WIDTH}[self.loss]


@dataclass(frozen=True)
class Problems:
    """A batch of B problems on the same rows.

    Attributes:
        model: the law on the rows.
        log_y: observed log losses, shape (T, n); any finite number where missing.
        weights: row weights, shape (W, n); 0 where missing.
        target: row of ``log_y`` of each problem, shape (B,).
        weighting: row of ``weights`` of each problem, shape (B,).
        lower: bounds, shape (P,).
        upper: bounds, shape (P,).
        prior: centre of the ridge, shape (P,) or (B, P).
        pull: ridge weight per parameter relative to the options' ridge, shape (P,) or (B, P).
    """

    model: Model
    log_y: Floats
    weights: Floats
    target: NDArray[np.intp]
    weighting: NDArray[np.intp]
    lower: Floats
    upper: Floats
    prior: Floats
    pull: Floats | None = None

    def part(self, which: NDArray[np.intp]) -> Problems:
        """Some of the problems."""
        prior = self.prior[which] if self.prior.ndim == 2 else self.prior
        pull = self.pull[which] if self.pull is not None and self.pull.ndim == 2 else self.pull
        return Problems(
            self.model, self.log_y, self.weights, self.target[which], self.weighting[which],
            self.lower, self.upper, prior, pull,
        )  # fmt: skip


@dataclass(frozen=True)
class Solution:
    """Where B problems ended.

    Attributes:
        theta: shape (B, P).
        objective: data term plus ridge, shape (B,).
        gradient: norm of the projected gradient, shape (B,).
        converged: whether the last step changed the objective by less than the tolerance, shape (B,).
        iterations: steps taken, shape (B,).
    """

    theta: Floats
    objective: Floats
    gradient: Floats
    converged: NDArray[np.bool_]
    iterations: NDArray[np.intp]


def penalty(residuals: Floats, width: float) -> tuple[Floats, Floats]:
    """The penalty of each residual and its weight in the normal equations (penalty' / residual)."""
    size = np.abs(residuals)
    if not np.isfinite(width):
        return 0.5 * size**2, np.ones_like(size)
    inside = size <= width
    value = np.where(inside, 0.5 * size**2, width * (size - 0.5 * width))
    return value, np.where(inside, 1.0, width / np.maximum(size, _TINY))


def minimise(
    problems: Problems,
    start: Floats,
    *,
    options: SolverOptions,
    progress: Callable[[float], None] | None = None,
) -> Solution:
    """Minimise all problems from ``start``, shape (B, P), in chunks that fit in memory."""
    count, width = start.shape
    size = max(1, _CHUNK // max(1, problems.log_y.shape[1] * width))
    parts = []
    for first in range(0, count, size):
        which = np.arange(first, min(first + size, count))
        parts.append(_Batch(problems.part(which), start[which], options).run())
        if progress:
            progress((which[-1] + 1) / count)
    names = ("theta", "objective", "gradient", "converged", "iterations")
    return Solution(*(np.concatenate([getattr(p, name) for p in parts]) for name in names))


class _Batch:
    """State of one chunk: damping, normal equations and objectives of every problem in it."""

    def __init__(self, problems: Problems, start: Floats, options: SolverOptions) -> None:
        self.problems, self.options = problems, options
        self.theta = np.clip(start, problems.lower, problems.upper)
        count, width = start.shape
        self.damping = np.full(count, 1e-3)
        self.growth = np.full(count, 2.0)
        self.objective = np.full(count, np.inf)
        self.gradient = np.zeros((count, width))
        self.hessian = np.zeros((count, width, width))
        self.active = np.ones(count, dtype=bool)
        self.converged = np.zeros(count, dtype=bool)
        self.small = np.zeros(count, dtype=int)
        self.iterations = np.zeros(count, dtype=np.intp)
        self.pull = options.ridge * (np.ones(width) if problems.pull is None else problems.pull)

    def run(self) -> Solution:
        self._linearise(np.arange(len(self.theta)))
        for _ in range(self.options.iterations):
            which = np.flatnonzero(self.active)
            if not len(which):
                break
            self.iterations[which] += 1
            moved = self._step(which)
            if len(moved):
                self._linearise(moved)
        free = self._free(np.arange(len(self.theta)))
        norm = np.linalg.norm(self.gradient * free, axis=1)
        return Solution(self.theta, self.objective, norm, self.converged, self.iterations)

    def _ridge(self, theta: Floats, which: NDArray[np.intp]) -> tuple[Floats, Floats, Floats]:
        prior = self.problems.prior[which] if self.problems.prior.ndim == 2 else self.problems.prior
        pull = self.pull[which] if self.pull.ndim == 2 else np.broadcast_to(self.pull, theta.shape)
        off = theta - prior
        return 0.5 * (pull * off**2).sum(axis=1), pull * off, pull

    def _evaluate(self, theta: Floats, which: NDArray[np.intp]) -> Floats:
        """Objective of the problems ``which`` at ``theta``; infinite where a prediction is not finite."""
        with np.errstate(all="ignore"):
            residuals = self.problems.model.values(theta) - self.problems.log_y[self.problems.target[which]]
            value, _ = penalty(residuals, self.options.width)
            weights = self.problems.weights[self.problems.weighting[which]]
            total = np.einsum("bn,bn->b", value, weights)
        ridge, _, _ = self._ridge(theta, which)
        return np.where(np.isfinite(total), total + ridge, np.inf)

    def _linearise(self, which: NDArray[np.intp]) -> None:
        """Refresh objective, gradient and Gauss-Newton matrix of the problems ``which``."""
        theta = self.theta[which]
        with np.errstate(all="ignore"):
            predicted, jacobian = self.problems.model.jacobian(theta)
            residuals = predicted - self.problems.log_y[self.problems.target[which]]
            value, weight = penalty(residuals, self.options.width)
            rows = self.problems.weights[self.problems.weighting[which]]
            weight = weight * rows
            scaled = jacobian * weight[:, :, None]
            ridge, slope, pull = self._ridge(theta, which)
            self.objective[which] = np.einsum("bn,bn->b", value, rows) + ridge
            self.gradient[which] = np.einsum("bnp,bn->bp", scaled, residuals) + slope
            self.hessian[which] = np.matmul(jacobian.transpose(0, 2, 1), scaled)
        diagonal = np.arange(theta.shape[1])
        self.hessian[which[:, None], diagonal, diagonal] += pull
        broken = ~np.isfinite(self.hessian[which]).all(axis=(1, 2)) | ~np.isfinite(self.gradient[which]).all(axis=1)
        self.objective[which[broken]] = np.inf
        self.active[which[broken]] = False

    def _free(self, which: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Entries that are not held at a bound by the gradient."""
        theta, gradient = self.theta[which], self.gradient[which]
        held_low = (theta <= self.problems.lower) & (gradient > 0)
        held_high = (theta >= self.problems.upper) & (gradient < 0)
        return np.asarray(~(held_low | held_high))

    def _step(self, which: NDArray[np.intp]) -> NDArray[np.intp]:
        """Try one step for each problem; return the problems that moved."""
        free = self._free(which).astype(float)
        gradient = self.gradient[which] * free
        hessian = self.hessian[which] * free[:, :, None] * free[:, None, :]
        width = gradient.shape[1]
        diagonal = np.einsum("bpp->bp", hessian)
        floor = 1e-12 * np.maximum(diagonal.max(axis=1, keepdims=True), 1e-12)
        scale = np.maximum(diagonal, floor)
        lifted = hessian + (self.damping[which, None] * scale + floor)[:, :, None] * np.eye(width)
        trial = self.theta[which] + self._bounded(which, gradient, lifted)
        trial = np.clip(trial, self.problems.lower, self.problems.upper)
        step = trial - self.theta[which]
        model = -(gradient * step).sum(axis=1) - 0.5 * np.einsum("bp,bpq,bq->b", step, hessian, step)
        objective = self._evaluate(trial, which)
        gain = self.objective[which] - objective
        ratio = gain / np.maximum(model, _TINY)
        good = np.isfinite(objective) & (gain > 0)
        self._adapt(which, good, ratio)
        self._settle(which, good, gain, model)
        self.theta[which[good]] = trial[good]
        return which[good & self.active[which]]

    def _bounded(self, which: NDArray[np.intp], gradient: Floats, lifted: Floats) -> Floats:
        """The damped step; entries that it would take to a bound go there, and the others are solved for again."""
        step = -np.linalg.solve(lifted, gradient[:, :, None])[:, :, 0]
        low, high = self.problems.lower - self.theta[which], self.problems.upper - self.theta[which]
        stopped = (step < low) | (step > high)
        step = np.clip(step, low, high)
        again = np.flatnonzero(stopped.any(axis=1))
        if len(again):
            moving = (~stopped[again]).astype(float)
            fixed = step[again] * stopped[again]
            right = (gradient[again] + np.einsum("bpq,bq->bp", lifted[again], fixed)) * moving
            matrix = lifted[again] * moving[:, :, None] * moving[:, None, :]
            matrix += stopped[again][:, :, None] * np.eye(step.shape[1])
            step[again] = fixed - np.linalg.solve(matrix, right[:, :, None])[:, :, 0]
        return np.asarray(step)

    def _adapt(self, which: NDArray[np.intp], good: NDArray[np.bool_], ratio: Floats) -> None:
        """Nielsen's damping rule."""
        shrink = np.maximum(1 / 3, 1 - (2 * np.clip(ratio, -1, 2) - 1) ** 3)
        self.damping[which] = np.where(good, self.damping[which] * shrink, self.damping[which] * self.growth[which])
        self.growth[which] = np.where(good, 2.0, self.growth[which] * 2)
        self.damping[which] = np.clip(self.damping[which], 1e-12, 1e16)

    def _settle(self, which: NDArray[np.intp], good: NDArray[np.bool_], gain: Floats, model: Floats) -> None:
        """Retire problems whose objective no longer moves."""
        scale = np.maximum(self.objective[which], 1e-30)
        # A step cut at a bound may promise a loss: that is a reason to damp it, not a sign of rest.
        promise = np.where(good, gain, np.where(model >= 0, model, np.inf))
        still = promise <= self.options.tolerance * scale
        self.small[which] = np.where(still, self.small[which] + 1, np.where(good, 0, self.small[which]))
        solved = (self.small[which] >= 3) | (self.damping[which] >= 1e16)
        self.converged[which] = self.small[which] >= 3
        self.active[which] = ~solved
        self.objective[which] = np.where(good, self.objective[which] - gain, self.objective[which])


def polish(problem: Problems, theta: Floats, *, options: SolverOptions) -> Solution:
    """Finish one problem (a batch of one) from ``theta``, shape (P,), with SciPy's trust-region reflective solver.

    An independent second opinion: the result is kept only where it lowers the objective.
    """
    from scipy.optimize import least_squares

    rows = np.sqrt(problem.weights[problem.weighting[0]])
    target = problem.log_y[problem.target[0]]
    prior = problem.prior[0] if problem.prior.ndim == 2 else problem.prior
    pull = np.sqrt(options.ridge * (np.ones_like(theta) if problem.pull is None else np.atleast_2d(problem.pull)[0]))

    def residuals(x: Floats) -> Floats:
        off = rows * (problem.model.values(x[None])[0] - target)
        robust, _ = penalty(off, options.width)
        # Square roots turn the robust penalty and the ridge into one plain sum of squares.
        return np.concatenate([np.sign(off) * np.sqrt(2 * robust), pull * (x - prior)])

    def jacobian(x: Floats) -> Floats:
        predicted, slope = problem.model.jacobian(x[None])
        off = rows * (predicted[0] - target)
        robust, weight = penalty(off, options.width)
        size = np.sqrt(2 * robust)
        factor = np.where(size > 0, weight * np.abs(off) / np.maximum(size, _TINY), 1.0)
        return np.concatenate([slope[0] * (rows * factor)[:, None], np.diag(pull)])

    before = _Batch(problem, theta[None], options)
    before._linearise(np.zeros(1, dtype=np.intp))
    inside = np.clip(theta, problem.lower + 1e-10, problem.upper - 1e-10)
    with np.errstate(all="ignore"):
        found = least_squares(
            residuals, inside, jac=jacobian, bounds=(problem.lower, problem.upper), x_scale="jac",
            ftol=1e-12, xtol=1e-12, gtol=1e-12, max_nfev=30,
        )  # fmt: skip
    after = _Batch(problem, found.x[None], options)
    after._linearise(np.zeros(1, dtype=np.intp))
    winner = after if after.objective[0] < before.objective[0] else before
    free = winner._free(np.zeros(1, dtype=np.intp))
    norm = np.linalg.norm(winner.gradient * free, axis=1)
    return Solution(winner.theta, winner.objective, norm, np.array([found.status > 0]), np.array([found.nfev]))
