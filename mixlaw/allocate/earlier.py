"""Runs that are done already: what they say about the law, and what need not be bought again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mixlaw.allocate.plan import Done
from mixlaw.allocate.prior import Prior, prior_of_fits
from mixlaw.dataset import Dataset, Selection, inputs_of
from mixlaw.errors import InputError
from mixlaw.fit import FitOptions
from mixlaw.fitting import Request, fit_table
from mixlaw.laws.base import Inputs
from mixlaw.runs import RunTable

CHECKPOINTS = 2
"""Rows a run that count as known: more would only repeat the misfit of the law."""


def done_of(table: RunTable, names: Sequence[str]) -> Done:
    """The rows of a table as known ones, shares in the order of ``names``.

    Raises:
        InputError: when the table has other domains, or rows without size or tokens.
    """
    if set(table.domains) != set(names):
        other = ", ".join(sorted(set(table.domains) ^ set(names)))
        raise InputError("the same domains in RUNS and in --domains", f"{other} in one of them only")
    inputs = Dataset.build(table, Selection(checkpoints=CHECKPOINTS))
    rows = inputs.inputs
    if not (np.isfinite(rows.params).all() and np.isfinite(rows.tokens).all()):
        raise InputError("params and tokens of every row of RUNS", "missing cells")
    place = [rows.domains.index(name) for name in names]
    ordered = Inputs.build(names, rows.shares[:, place], rows.params, rows.tokens)
    run = np.unique(inputs.run, return_inverse=True)[1].astype(np.intp)
    return Done(ordered, run, len(table.runs))


def prior_of_runs(table: RunTable, names: Sequence[str], *, seed: int = 0) -> Prior | None:
    """A prior from the law ``capacity`` fitted to a table; None where it has fewer than two sizes or token counts."""
    inputs = inputs_of(table)
    if len(np.unique(inputs.params)) < 2 or len(np.unique(inputs.tokens)) < 2:
        return None
    return prior_of_fits(fit_table(table, Request(options=FitOptions(seed=seed))), names)
