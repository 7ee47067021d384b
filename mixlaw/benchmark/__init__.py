"""Loss to benchmark: fitted maps from losses to accuracies, with chance levels that are known and not fitted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from mixlaw.benchmark.chance import TASKS, Task, chances_of, known, parse_chances
from mixlaw.benchmark.curve import Curve
from mixlaw.benchmark.fitting import fit_curves
from mixlaw.benchmark.scenarios import accuracy_scenarios, loss_scenarios
from mixlaw.fits import FitSet
from mixlaw.laws.base import Inputs
from mixlaw.runs import RunTable

__all__ = [
    "TASKS", "Accuracy", "Curve", "Task", "accuracy_scenarios", "add_benchmarks", "chances_of", "curves", "fit_curves",
    "known", "loss_scenarios", "parse_chances", "predict_accuracies", "with_accuracies",
]  # fmt: skip


@dataclass(frozen=True)
class Accuracy:
    """Accuracy of one task with its 90 % interval."""

    value: float
    low: float
    high: float


def add_benchmarks(fits: FitSet, table: RunTable, *, chances: Mapping[str, float] | None = None) -> FitSet:
    """Fit the ``bench/`` columns of a table and keep the curves in the fit set; without any, nothing changes."""
    if not table.benchmarks or not table.targets:
        return fits
    found = fit_curves(table, fits.targets, chances=chances, seed=fits.options.seed)
    return replace(fits, benchmarks={name: curve.to_mapping() for name, curve in found.items()})


def curves(fits: FitSet) -> dict[str, Curve]:
    """The benchmark curves of a fit set, by task."""
    return {name: Curve.from_mapping(content) for name, content in fits.benchmarks.items()}


def predict_accuracies(fits: FitSet, inputs: Inputs) -> dict[str, Accuracy]:
    """Accuracies of the predictable tasks at the first row of inputs.

    The intervals carry what is not known of the losses, of the curve, and of its form. They are intervals of levels,
    as those of losses are: one factor widens them, whatever differences between mixtures need.
    """
    found = curves(fits)
    levels = replace(fits, widen_contrast={})
    spread = accuracy_scenarios(found, loss_scenarios(levels, inputs, seed=fits.options.seed))
    out = {}
    for task, scenarios in spread.items():
        losses = np.column_stack([fits.value(target, inputs) for target in found[task].inputs])
        low, high = np.quantile(scenarios[:, 0], [0.05, 0.95])
        value = float(found[task].value(losses)[0])
        out[task] = Accuracy(value, min(value, float(low)), max(value, float(high)))
    return out


def with_accuracies(fits: FitSet, frame: pd.DataFrame) -> pd.DataFrame:
    """Add ``pred/bench/<task>`` of every predictable task to a frame with ``pred/<target>`` columns."""
    found = {task: curve for task, curve in curves(fits).items() if curve.predictable}
    return frame.assign(
        **{
            f"pred/bench/{task}": curve.value(frame[[f"pred/{target}" for target in curve.inputs]].to_numpy())
            for task, curve in found.items()
        }
    )
