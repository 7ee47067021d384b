"""One law tried on held-out parts of a table: what every comparison and every choice rests on."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mixlaw.check.holdout import Split
from mixlaw.dataset import Dataset, inputs_of
from mixlaw.errors import MixlawError
from mixlaw.fit import FitOptions, fit_law
from mixlaw.laws import LAWS
from mixlaw.runs import RunTable

Floats = NDArray[np.float64]

MOST_TARGETS = 16
"""Targets on which laws and strengths are tried where a table has more."""


@dataclass(frozen=True)
class Trial:
    """Predictions of one law on the rows of a table that it was not fitted on.

    Attributes:
        name: of the law.
        predicted: by target of the table, shape (T, n); NaN where nothing was predicted.
        parameters: per target.
        seconds: spent on fitting.
        form: name of the form that the data supported.
        lacks: why the law could not be tried; empty if it was.
    """

    name: str
    predicted: Floats
    parameters: int = 0
    seconds: float = 0.0
    form: str = ""
    lacks: str = ""


def sample_targets(table: RunTable, most: int = MOST_TARGETS) -> RunTable:
    """The table with at most ``most`` of its targets, evenly spaced among them: enough to judge a law by."""
    if len(table.targets) <= most:
        return table
    kept = {table.targets[int(i)] for i in np.linspace(0, len(table.targets) - 1, most).round()}
    return replace(table, frame=table.frame.drop(columns=[f"loss/{t}" for t in table.targets if t not in kept]))


def measured(table: RunTable) -> Floats:
    """Losses of a table, shape (T, n), NaN where missing."""
    return np.array([table.loss(t) for t in table.targets])


def try_law(name: str, table: RunTable, parts: Sequence[Split], options: FitOptions) -> Trial:
    """Fit a law on each training part and predict each held-out part.

    A law whose needs a part does not meet is no error: the trial says what it lacks.
    """
    predicted = np.full((len(table.targets), len(table)), np.nan)
    started, parameters, form = time.perf_counter(), 0, ""
    try:
        for part in parts:
            fits = fit_law(LAWS[name], Dataset.build(table.select(part.train), options.selection), options)
            inputs = inputs_of(table.select(part.test))
            for fit in fits:
                predicted[table.targets.index(fit.target), part.test] = fit.predict(inputs)
            parameters, form = len(fits[0].theta), fits[0].form
    except MixlawError as error:
        return Trial(name, np.full_like(predicted, np.nan), lacks=str(error))
    return Trial(name, predicted, parameters, time.perf_counter() - started, form)


def try_laws(
    names: Sequence[str],
    table: RunTable,
    parts: Sequence[Split],
    options: FitOptions,
    *,
    executor: Executor | None = None,
    progress: Callable[[float], None] | None = None,
) -> list[Trial]:
    """Try several laws, in the executor if there is one; the results do not depend on it."""
    job = partial(try_law, table=table, parts=parts, options=replace(options, strict=False))
    results = executor.map(job, names) if executor else map(job, names)
    trials = []
    for trial in results:
        trials.append(trial)
        if progress:
            progress(len(trials) / len(names))
    return trials
