"""Bootstrap over runs: refit on resampled runs, warm-started, all draws in one batch."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mixlaw.check.holdout import SAME_SIZE
from mixlaw.dataset import Dataset
from mixlaw.fit import Fit, FitOptions
from mixlaw.fits import FitSet, Member
from mixlaw.problems import LogModel, bounds, regulariser
from mixlaw.solver import Problems, minimise

Floats = NDArray[np.float64]

ITERATIONS = 40
"""Steps from the point fit; a draw moves the optimum little."""


@dataclass(frozen=True)
class _Task:
    """One fit to redo on every draw: what a worker needs, and nothing else."""

    fit: Fit
    dataset: Dataset
    draws: Floats
    options: FitOptions


def resample(dataset: Dataset, number: int, rng: np.random.Generator) -> Floats:
    """How often each run is drawn, shape (number, R): with replacement, within each model size."""
    rows = dataset.first_rows
    params = dataset.inputs.params[rows]
    strata = np.zeros(len(rows), dtype=int)
    if np.isfinite(params).all():
        order = np.argsort(params, kind="stable")
        jumps = params[order][1:] > SAME_SIZE * params[order][:-1]
        strata[order] = np.concatenate([[0], np.cumsum(jumps)])
    counts = np.zeros((number, int(dataset.run.max()) + 1))
    codes = dataset.run[rows]
    for stratum in np.unique(strata):
        members = codes[strata == stratum]
        drawn = members[rng.integers(len(members), size=(number, len(members)))]
        for row, picks in enumerate(drawn):
            np.add.at(counts[row], picks, 1)
    return counts


def bootstrap(
    fits: FitSet,
    dataset: Dataset,
    number: int,
    *,
    executor: Executor | None = None,
    progress: Callable[[float], None] | None = None,
) -> FitSet:
    """Add ``number`` bootstrap draws to every member of a fit set.

    The resampled runs are the same for all targets and laws, so that draws belong together; the result does not
    depend on the executor.
    """
    draws = resample(dataset, number, np.random.default_rng([fits.options.seed, 77]))
    places = [(t, i) for t, ms in fits.members.items() for i in range(len(ms))]
    tasks = [_Task(fits.members[t][i].fit, dataset.only([t]), draws, fits.options) for t, i in places]
    results = executor.map(_redo, tasks) if executor else map(_redo, tasks)
    members: dict[str, list[Member]] = {t: list(ms) for t, ms in fits.members.items()}
    for done, ((target, index), theta) in enumerate(zip(places, results, strict=True)):
        old = members[target][index]
        members[target][index] = replace(old, fit=replace(old.fit, draws=theta))
        if progress:
            progress((done + 1) / len(places))
    return replace(fits, members={t: tuple(ms) for t, ms in members.items()})


def _redo(task: _Task) -> Floats:
    """Refit one law to one target on every draw, shape (S, P)."""
    form, dataset, number = task.fit.law, task.dataset, len(task.draws)
    if not task.fit.redrawable:
        return np.zeros((0, 0))
    lower, upper, _ = bounds(form, dataset.inputs.domains)
    prior, pull = regulariser(form, dataset.inputs.domains, task.fit.theta)
    weights = dataset.weights[0] * task.draws[:, dataset.run]
    problems = Problems(
        model=LogModel(form, dataset.inputs),
        log_y=dataset.log_y,
        weights=weights,
        target=np.zeros(number, dtype=np.intp),
        weighting=np.arange(number),
        lower=lower,
        upper=upper,
        prior=prior,
        pull=pull,
    )
    solver = replace(task.options.solver, iterations=ITERATIONS)
    return minimise(problems, np.repeat(task.fit.theta[None], number, axis=0), options=solver).theta
