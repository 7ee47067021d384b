"""Widen intervals until they cover what was held out: the nominal level against the achieved one.

Levels and differences between mixtures are judged apart, by two factors from the same held-out part.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mixlaw.check.bootstrap import bootstrap
from mixlaw.check.contrasts import Contrasts, Noise
from mixlaw.check.holdout import Split, inner_splits
from mixlaw.dataset import Dataset, inputs_of
from mixlaw.fit import fit_law
from mixlaw.fits import Z90, FitSet
from mixlaw.flags import Doubt, Flag
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
    part is a larger model size, the misses of one step in size stand for those of the step to the target. Differences
    between mixtures get a factor of their own (``Contrasts``), the same one where too few can be held out.
    """
    parts = inner_splits(table, seed=fits.options.seed)
    if not parts or int(parts[0].test.sum()) < FEWEST:
        return _with_evidence(fits, _of_levels("nothing: too few runs", np.zeros(0), 1.0))
    part = parts[0]
    again = _without(fits, table, weights, part, executor)
    held = table.select(part.test)
    misses = _misses(again, held)
    level = max(1.0, float(np.quantile(misses, 0.9)) / Z90) if len(misses) else 1.0
    noise = Noise.of(table, again)
    found = Contrasts.of(again, held, noise)
    contrast = found.factor(level) if found.enough else level
    fits = _with_evidence(fits, _of_levels(part.name, misses, level) | _of_contrasts(found, contrast, noise.source))
    return replace(fits, widen=dict.fromkeys(fits.targets, level), widen_contrast=dict.fromkeys(fits.targets, contrast))


def calibration_flags(fits: FitSet) -> tuple[Flag, ...]:
    """The doubt of intervals that no held-out losses have been compared with."""
    if fits.widen:
        return ()
    few = "too few runs could be held out: intervals hold the noise of the fit and not what the law misses"
    return (Flag(Doubt.NOT_CALIBRATED, few if fits.bootstrapped else ""),)


def _without(
    fits: FitSet, table: RunTable, weights: dict[str, float], part: Split, executor: Executor | None
) -> FitSet:
    """The same laws and weights fitted without the held-out part, with bootstrap draws."""
    dataset = Dataset.build(table.select(part.train), fits.options.selection)
    options = replace(fits.options, strict=False)
    again = FitSet.combine({n: fit_law(named(n), dataset, options) for n in weights}, weights, dataset, options)
    return bootstrap(again, dataset, DRAWS, executor=executor)


def _misses(again: FitSet, held: RunTable) -> NDArray[np.float64]:
    """How many standard deviations each held-out loss lies from its prediction."""
    inputs = inputs_of(held)
    misses = []
    for target in again.targets:
        off = np.log(held.loss(target)) - np.log(again.value(target, inputs))
        misses.append(np.abs(off) / np.maximum(again.log_error(target, inputs), 1e-9))
    every = np.concatenate(misses)
    return np.asarray(every[np.isfinite(every)])


def _of_levels(held_out: str, misses: NDArray[np.float64], factor: float) -> dict[str, object]:
    achieved = float(np.mean(misses <= Z90)) if len(misses) else float("nan")
    return {
        "held_out": held_out,
        "losses": len(misses),
        "nominal": 0.9,
        "achieved": achieved,
        "widened_by": factor,
    }


def _of_contrasts(found: Contrasts, factor: float, source: str) -> dict[str, object]:
    return {
        "contrasts": len(found) if found.enough else 0,
        "achieved_contrasts": found.achieved if found.enough else float("nan"),
        "contrasts_widened_by": factor,
        "noise_from": source,
    }


def _with_evidence(fits: FitSet, calibration: dict[str, object]) -> FitSet:
    return replace(fits, evidence={**fits.evidence, "calibration": calibration})
