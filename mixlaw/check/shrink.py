"""How strongly to pull each target's domain coefficients towards those that all targets share, by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from mixlaw.check.auto import held_out_error
from mixlaw.check.holdout import Split, splits
from mixlaw.check.trial import Trial, measured, sample_targets, try_law
from mixlaw.fit import FitOptions
from mixlaw.runs import RunTable

STRENGTHS = (0.0, 1e-5, 1e-4, 1e-3, 1e-2)
"""Pulls that are tried; 0 is none."""
FEWEST_MIXTURES = 10
"""Distinct mixtures below which folds of mixtures cannot be made and nothing is shrunk."""
STARTS = 4


@dataclass(frozen=True)
class Shrinkage:
    """The strength chosen, and the error of each strength on folds of mixtures."""

    strength: float
    errors: dict[str, float]

    def as_evidence(self) -> dict[str, object]:
        """Plain data for the fit file."""
        return {"shrinkage": {"strength": self.strength, "errors": self.errors}}


def needed(table: RunTable) -> bool:
    """Whether runs are few enough to try shrinking by default: below 6 (K + 1), with several targets to share over."""
    few = len(table.runs) < 6 * (len(table.domains) + 1)
    return few and len(table.targets) > 1 and int(table.mixture_codes.max()) + 1 >= FEWEST_MIXTURES


def choose_strength(table: RunTable, law: str, options: FitOptions, *, executor: Executor | None = None) -> Shrinkage:
    """Try every strength on folds of mixtures, on at most 16 targets, and take the one with the smallest error."""
    table = sample_targets(table)
    parts = splits(table, "mixtures", seed=options.seed)
    log_y = np.log(measured(table))
    short = replace(options, starts=min(options.starts, STARTS), strict=False)
    job = partial(_try_strength, law=law, table=table, parts=parts, options=short)
    trials = executor.map(job, STRENGTHS) if executor else map(job, STRENGTHS)
    errors = {f"{s:g}": held_out_error(t.predicted, log_y) for s, t in zip(STRENGTHS, trials, strict=True)}
    finite = {s: e for s, e in errors.items() if np.isfinite(e)}
    return Shrinkage(float(min(finite, key=finite.__getitem__)) if finite else 0.0, errors)


def _try_strength(strength: float, law: str, table: RunTable, parts: Sequence[Split], options: FitOptions) -> Trial:
    return try_law(law, table, parts, replace(options, shrink=strength))


def settle(
    table: RunTable, law: str, options: FitOptions, *, executor: Executor | None = None
) -> tuple[FitOptions, dict[str, object]]:
    """The options with the strength that few runs ask for by themselves, and the evidence for it, if any."""
    if not needed(table):
        return options, {}
    chosen = choose_strength(table, law, options, executor=executor)
    return replace(options, shrink=chosen.strength), chosen.as_evidence()
