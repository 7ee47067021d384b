"""How strongly to pull each target's domain coefficients towards those that all targets share, by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mixlaw.check.auto import held_out_error
from mixlaw.check.holdout import splits
from mixlaw.check.trial import measured, sample_targets, try_law
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


def choose_strength(table: RunTable, law: str, options: FitOptions) -> Shrinkage:
    """Try every strength on folds of mixtures, on at most 24 targets, and take the one with the smallest error."""
    table = sample_targets(table)
    parts = splits(table, "mixtures", seed=options.seed)
    log_y = np.log(measured(table))
    errors: dict[str, float] = {}
    for strength in STRENGTHS:
        tried = replace(options, shrink=strength, starts=min(options.starts, STARTS), strict=False)
        errors[f"{strength:g}"] = held_out_error(try_law(law, table, parts, tried).predicted, log_y)
    finite = {s: e for s, e in errors.items() if np.isfinite(e)}
    return Shrinkage(float(min(finite, key=finite.__getitem__)) if finite else 0.0, errors)


def settle(table: RunTable, law: str, options: FitOptions) -> tuple[FitOptions, dict[str, object]]:
    """The options with the strength that few runs ask for by themselves, and the evidence for it, if any."""
    if not needed(table):
        return options, {}
    chosen = choose_strength(table, law, options)
    return replace(options, shrink=chosen.strength), chosen.as_evidence()
