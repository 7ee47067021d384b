"""How much an answer depends on how much of the beginning of each run is left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mixlaw.check.auto import held_out_error
from mixlaw.check.holdout import inner_splits
from mixlaw.check.trial import measured, try_law
from mixlaw.errors import InputError
from mixlaw.fit import FitOptions
from mixlaw.runs import RunTable

SHARES = (0.0, 0.1, 0.25, 0.4, 0.5)
"""Shares of a run's tokens that are left out at its start, one after another."""


def early_sensitivity(table: RunTable, law: str, options: FitOptions) -> tuple[str, dict[float, float]]:
    """What was held out, and the mean absolute log error on it for each share left out.

    Raises:
        InputError: when the table is too small to hold anything out.
    """
    parts = inner_splits(table, seed=options.seed)
    if not parts:
        raise InputError("enough runs to hold some out for --sensitivity", "fewer than ten mixtures and three sizes")
    log_y = np.log(measured(table))
    errors = {}
    for share in SHARES:
        tried = replace(options, selection=replace(options.selection, drop_early=share), strict=False)
        errors[share] = held_out_error(try_law(law, table, parts, tried).predicted, log_y)
    return parts[0].name if len(parts) == 1 else f"{len(parts)} folds of mixtures", errors
