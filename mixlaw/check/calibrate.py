"""Widen intervals until they cover what was held out: the nominal level against the achieved one."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mixlaw.check.bootstrap import bootstrap
from mixlaw.check.holdout import Split, inner_splits
from mixlaw.dataset import Dataset, inputs_of
from mixlaw.fit import fit_laws
from mixlaw.fits import Z90, FitSet
from mixlaw.laws import named
from mixlaw.runs import RunTable

DRAWS = 60
"""Bootstrap draws of the calibration fits; a standard deviation needs no more."""
FEWEST = 5
"""Held-out runs below which intervals are left as they are."""


def calibrate(fits: FitSet, table: RunTable, weights: dict[str, float], *, executor: Executor | None = None) -> FitSet:
    """Compare intervals with a held-out part of the table and widen them where they cover too little.

    The laws and weights of ``fits`` are fitted again without the held-out part. Half-widths are multiplied by the
    factor that makes 90 % of the held-out losses of all targets fall inside, and never shrunk. Where the held-out
    part is a larger model size, the misses of one step in size stand for those of the step to the target.
    """
    parts = inner_splits(table, seed=fits.options.seed)
    if not parts or int(parts[0].test.sum()) < FEWEST:
        return _record(fits, "nothing: too few runs", np.zeros(0), 1.0)
    part = parts[0]
    misses = _misses(fits, table, weights, part, executor)
    factor = max(1.0, float(np.quantile(misses, 0.9)) / Z90) if len(misses) else 1.0
    return replace(_record(fits, part.name, misses, factor), widen=dict.fromkeys(fits.targets, factor))


def _misses(
    fits: FitSet, table: RunTable, weights: dict[str, float], part: Split, executor: Executor | None
) -> NDArray[np.float64]:
    """How many standard deviations each held-out loss lies from its prediction."""
    dataset = Dataset.build(table.select(part.train), fits.options.selection)
    options = replace(fits.options, strict=False)
    made = fit_laws([named(n) for n in weights], dataset, options, executor=executor)
    again = FitSet.combine(dict(zip(weights, made, strict=True)), weights, dataset, options)
    again = bootstrap(again, dataset, DRAWS, executor=executor)
    held = table.select(part.test)
    inputs = inputs_of(held)
    misses = []
    for target in again.targets:
        off = np.log(held.loss(target)) - np.log(again.value(target, inputs))
        misses.append(np.abs(off) / np.maximum(again.log_error(target, inputs), 1e-9))
    every = np.concatenate(misses)
    return np.asarray(every[np.isfinite(every)])


def _record(fits: FitSet, held_out: str, misses: NDArray[np.float64], factor: float) -> FitSet:
    achieved = float(np.mean(misses <= Z90)) if len(misses) else float("nan")
    entry = {
        "held_out": held_out,
        "losses": len(misses),
        "nominal": 0.9,
        "achieved": achieved,
        "widened_by": factor,
    }
    return replace(fits, evidence={**fits.evidence, "calibration": entry})
