"""Choose and weight laws by what they predict on a held-out part of the training data, never by training error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mixlaw.check.holdout import FOLDS, Split, inner_splits, size_levels
from mixlaw.check.trial import Trial, measured, sample_targets, try_laws
from mixlaw.errors import InputError
from mixlaw.fit import FitOptions
from mixlaw.runs import RunTable

Floats = NDArray[np.float64]

AUTO = "auto"
"""What a user calls the choice and weighting of laws by held-out error."""

CANDIDATES = (
    "capacity", "capacity-powers", "modulated", "datashare", "product", "joint", "additive", "exp", "loglinear",
)  # fmt: skip
"""Laws that ``auto`` tries: those with gradients that serve any target. ``linear`` and ``chinchilla`` are baselines."""

FAMILY = ("capacity", "capacity-powers", "datashare")
"""Laws that answer where no size can be held out: folds of mixtures cannot judge how a law carries over to another
size, and these carried over best on the public tables (README, "Which law")."""

CUT = 3.0
"""A law whose held-out error is above this many times the best has diverged and is left out."""
SHARPNESS = 2.0
"""Weights fall with this power of the held-out error: inverse squares, as for independent forecasts."""
TRIAL_STARTS = 6
"""Starting points per target while laws are tried; the final fits use as many as asked for."""


@dataclass(frozen=True)
class Choice:
    """Which laws answer, and why.

    Attributes:
        weights: by law, summing to 1; laws left out are absent.
        errors: by law tried, mean absolute log error on the held-out part, mean over targets.
        held_out: what was held out, in words.
        lacks: by law that could not be tried, the reason.
    """

    weights: dict[str, float]
    errors: dict[str, float]
    held_out: str
    lacks: dict[str, str]

    def as_evidence(self) -> dict[str, object]:
        """Plain data for the fit file."""
        return {
            "choice": {
                "rule": f"weight ~ 1 / error^{SHARPNESS:g} on the held-out part, none beyond {CUT:g} times the best",
                "held_out": self.held_out,
                "errors": self.errors,
                "weights": self.weights,
                "not_tried": self.lacks,
            }
        }


def choose(
    table: RunTable,
    options: FitOptions,
    *,
    candidates: Sequence[str] = CANDIDATES,
    executor: Executor | None = None,
    progress: Callable[[float], None] | None = None,
) -> Choice:
    """Try the candidates on an inner held-out part of ``table`` and weight them, on at most 16 of its targets.

    Raises:
        InputError: when no candidate can be tried.
    """
    table = sample_targets(table)
    parts = inner_splits(table, seed=options.seed)
    if not parts:
        return Choice({FAMILY[0]: 1.0}, {}, f"nothing: fewer than {2 * FOLDS} mixtures and fewer than three sizes", {})
    if candidates is CANDIDATES and len(size_levels(table)) == 2:
        candidates = FAMILY
    options = replace(options, starts=min(options.starts, TRIAL_STARTS))
    trials = try_laws(candidates, table, parts, options, executor=executor, progress=progress)
    return weigh(trials, table, parts)


def weigh(trials: Sequence[Trial], table: RunTable, parts: Sequence[Split]) -> Choice:
    """Turn held-out errors into weights."""
    log_y = np.log(measured(table))
    distinct: dict[str, Trial] = {}
    for trial in trials:
        if not trial.lacks:
            distinct.setdefault(trial.form, trial)
    errors = {t.name: held_out_error(t.predicted, log_y) for t in distinct.values()}
    errors = {name: error for name, error in errors.items() if np.isfinite(error)}
    if not errors:
        reasons = "; ".join(dict.fromkeys(t.lacks for t in trials))
        raise InputError("a table that at least one law can be fitted to", f"none: {reasons}")
    best = min(errors.values())
    raw = {name: (best / error) ** SHARPNESS for name, error in errors.items() if error <= CUT * best}
    total = sum(raw.values())
    return Choice(
        weights={name: value / total for name, value in raw.items()},
        errors=errors,
        held_out=parts[0].name if len(parts) == 1 else f"{len(parts)} folds of mixtures",
        lacks={t.name: t.lacks for t in trials if t.lacks},
    )


def held_out_error(predicted: Floats, log_y: Floats) -> float:
    """Mean absolute log error, mean over targets; NaN when a target with losses was not predicted."""
    with np.errstate(invalid="ignore"):
        off = np.abs(np.log(predicted) - log_y)
    scored = np.isfinite(off)
    if not scored.any(axis=1).all():
        return float("nan")
    return float(np.mean([row[ok].mean() for row, ok in zip(off, scored, strict=True)]))
