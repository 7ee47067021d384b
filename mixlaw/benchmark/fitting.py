"""Fit curves from losses to accuracies on all checkpoints of a run table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mixlaw.benchmark.chance import Task, task_of
from mixlaw.benchmark.curve import Curve
from mixlaw.benchmark.forms import Form, forms
from mixlaw.laws.base import Floats
from mixlaw.runs import RunTable
from mixlaw.solver import Problems, SolverOptions, minimise

MODEL_ERROR = 0.01
"""Scatter of accuracies that no item count explains (seeds, prompts), as a standard deviation."""
FEWEST_POINTS = 12
SEVERAL = 1.2
"""Several losses must beat the best single one by this factor on held-out data."""
ORDERED = 2.0
"""Standard errors by which the rank correlation on held-out data must differ from none."""
DRAWS = 60
_SOLVER = SolverOptions(loss="l2", ridge=1e-4, iterations=200, tolerance=1e-8)
_AGAIN = SolverOptions(loss="l2", ridge=1e-4, iterations=30, tolerance=1e-6)


@dataclass(frozen=True)
class _Rows:
    """The rows of one task: losses (n, k), accuracies (n,), weights (n,), runs (n,)."""

    losses: Floats
    accuracy: Floats
    weights: Floats
    run: NDArray[np.intp]

    def part(self, which: NDArray[np.intp]) -> _Rows:
        return _Rows(self.losses[which], self.accuracy[which], self.weights[which], self.run[which])


@dataclass(frozen=True)
class _Model:
    """A form on rows, as the solver wants it (in accuracies, not in logarithms)."""

    form: Form
    losses: Floats

    def values(self, theta: Floats) -> Floats:
        return self.form.value(theta, self.losses)

    def jacobian(self, theta: Floats) -> tuple[Floats, Floats]:
        return self.form.jacobian(theta, self.losses)


def fit_curves(
    table: RunTable,
    targets: Sequence[str],
    *,
    chances: Mapping[str, float] | None = None,
    seed: int = 0,
    draws: int = DRAWS,
) -> dict[str, Curve]:
    """Fit every ``bench/`` column of a table from its losses.

    The losses to read a task from are chosen by prediction, not by fit: each target alone, and all together, are
    fitted on the two thirds of the rows with the higher losses and scored on the rest.

    Args:
        table: runs with losses and accuracies.
        targets: whose losses may be used.
        chances: chance levels by task that replace the known ones.
        seed: of the bootstrap over runs.
        draws: bootstrap draws.
    """
    known = chances or {}
    candidates = _candidates(table, tuple(targets))
    return {
        name: _fit_task(table, name, task_of(name, known), candidates, seed=seed, draws=draws)
        for name in table.benchmarks
    }


def _fit_task(
    table: RunTable, name: str, task: Task, candidates: Sequence[tuple[str, ...]], *, seed: int, draws: int
) -> Curve:
    scored = []
    shapes = forms(task.chance, average=task.average)
    for inputs in candidates:
        rows = _rows(table, name, task, inputs)
        if len(rows.accuracy) >= FEWEST_POINTS:
            scored.append((*_held_out(rows, shapes), inputs, rows))
    if not scored:
        return _nothing(name, task, f"fewer than {FEWEST_POINTS} rows with a loss and an accuracy")
    error, constant, order, inputs, rows = min(scored, key=lambda one: one[0] * (1 if len(one[3]) == 1 else SEVERAL))
    offset = rows.losses.min(axis=0)
    moved = _Rows(rows.losses - offset, rows.accuracy, rows.weights, rows.run)
    theta = _fit(moved, shapes)
    draw = _bootstrap(moved, shapes, theta, np.random.default_rng([seed, 5]), draws)
    curve = Curve(
        task=name, chance=task.chance, source=task.source, items=task.items, inputs=inputs,
        offset=tuple(map(float, offset)), theta=theta, draws=draw, reason="", held_out=error, constant=constant,
        residual=0.0, points=len(rows.accuracy), runs=len(np.unique(rows.run)),
        seen=(float(rows.accuracy.min()), float(rows.accuracy.max())),
    )  # fmt: skip
    curve = replace(curve, residual=float(np.std(rows.accuracy - curve.value(rows.losses))))
    return replace(curve, reason=_doubt(curve, rows, order))


def _nothing(name: str, task: Task, reason: str) -> Curve:
    missing = float("nan")
    return Curve(name, task.chance, task.source, task.items, (), (), {}, {}, reason,
                 missing, missing, missing, 0, 0, (missing, missing))  # fmt: skip


def _candidates(table: RunTable, targets: tuple[str, ...]) -> list[tuple[str, ...]]:
    singles: list[tuple[str, ...]] = [(target,) for target in targets]
    enough = len(table.runs) >= 3 * (len(targets) + 2)
    return [*singles, targets] if len(singles) > 1 and enough else singles


def _rows(table: RunTable, name: str, task: Task, inputs: Sequence[str]) -> _Rows:
    accuracy = table.column(f"bench/{name}")
    losses = np.column_stack([table.loss(target) for target in inputs])
    known = np.flatnonzero(np.isfinite(accuracy) & np.isfinite(losses).all(axis=1))
    accuracy, losses = accuracy[known], losses[known]
    variance = MODEL_ERROR**2 + (0.0 if task.items is None else _binomial(accuracy, task.items))
    return _Rows(losses, accuracy, MODEL_ERROR**2 / variance * np.ones(len(known)), table.run_codes[known])


def _binomial(accuracy: Floats, items: int) -> Floats:
    smooth = (accuracy * items + 1) / (items + 2)
    return np.asarray(smooth * (1 - smooth) / items)


def _fit(rows: _Rows, shapes: Sequence[Form]) -> dict[str, Floats]:
    """Parameters by form, on losses relative to the smallest."""
    out = {}
    for form in shapes:
        start = form.starts(rows.losses, rows.accuracy)
        found = minimise(_problems(form, rows, rows.weights[None], start), start, options=_SOLVER)
        out[form.name] = found.theta[int(np.argmin(found.objective))]
    return out


def _problems(form: Form, rows: _Rows, weights: Floats, prior: Floats) -> Problems:
    """Problems with one row of weights each, or one for all; accuracies in units of ``MODEL_ERROR``."""
    count = len(prior)
    lower, upper = form.bounds(rows.losses.shape[1])
    weighting = np.arange(count) if len(weights) == count else np.zeros(count, dtype=np.intp)
    return Problems(
        model=_Model(form, rows.losses), log_y=rows.accuracy[None], weights=weights / MODEL_ERROR**2,
        target=np.zeros(count, dtype=np.intp), weighting=weighting, lower=lower, upper=upper, prior=prior,
    )  # fmt: skip


def _bootstrap(
    rows: _Rows, shapes: Sequence[Form], theta: Mapping[str, Floats], rng: np.random.Generator, draws: int
) -> dict[str, Floats]:
    """Refit on resampled runs, shape (S, P) by form: checkpoints of one run stay together."""
    codes, run = np.unique(rows.run, return_inverse=True)
    counts = rng.multinomial(len(codes), np.full(len(codes), 1 / len(codes)), size=draws)
    weights = rows.weights * counts[:, run]
    out = {}
    for form in shapes:
        start = np.repeat(theta[form.name][None], draws, axis=0)
        out[form.name] = minimise(_problems(form, rows, weights, start), start, options=_AGAIN).theta
    return out


def _held_out(rows: _Rows, shapes: Sequence[Form]) -> tuple[float, float, float]:
    """What the rest says of the third of the rows with the lowest losses.

    Returns:
        Mean absolute error of the curve, of a constant (the mean of the nearest third of the rest), and the rank
        correlation of the accuracies there with the curve.
    """
    order = np.argsort(-rows.losses.mean(axis=1), kind="stable")
    cut = len(order) * 2 // 3
    first, last = rows.part(order[:cut]), rows.part(order[cut:])
    offset = first.losses.min(axis=0)
    theta = _fit(_Rows(first.losses - offset, first.accuracy, first.weights, first.run), shapes)
    x = last.losses - offset
    values = np.mean([np.clip(form.value(theta[form.name][None], x)[0], 0, 1) for form in shapes], axis=0)
    constant = first.accuracy[-max(1, cut // 3) :].mean()
    return (
        float(np.abs(values - last.accuracy).mean()),
        float(np.abs(constant - last.accuracy).mean()),
        _rank_correlation(values, last.accuracy),
    )


def _rank_correlation(one: Floats, other: Floats) -> float:
    ranks = [np.argsort(np.argsort(values, kind="stable"), kind="stable") for values in (one, other)]
    return float(np.atleast_2d(np.corrcoef(np.array(ranks, dtype=np.float64)))[0, 1]) if len(one) > 2 else 0.0


def _doubt(curve: Curve, rows: _Rows, order: float) -> str:
    """Why the task is not predictable: at chance, lost in noise, or not ordered by the losses; empty if it is."""
    best = rows.accuracy[np.argsort(rows.losses.mean(axis=1), kind="stable")[: max(3, len(rows.accuracy) // 10)]]
    items = 0.0 if curve.items is None else float(_binomial(best.mean(keepdims=True), curve.items)[0])
    noise = float(np.sqrt(MODEL_ERROR**2 + items))
    if best.mean() <= curve.chance + 2 * noise:
        return f"at chance: {best.mean():.3f} at the lowest losses against {curve.chance:.3f} by guessing"
    rise = float(np.ptp(curve.value(rows.losses)))
    if rise <= 2 * max(noise, curve.residual):
        return f"lost in noise: the curve rises by {rise:.3f}, accuracies scatter by {max(noise, curve.residual):.3f}"
    wanted = ORDERED / np.sqrt(max(4, -(-curve.points // 3)))
    if order < wanted:
        return f"not ordered by the losses: held-out rank correlation {order:.2f}, {wanted:.2f} would count"
    return ""
