"""Predictions for a mixture at a scale, and for every row of a run table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mixlaw.check.scores import Scores, score
from mixlaw.dataset import inputs_of
from mixlaw.errors import InputError
from mixlaw.fits import FitSet
from mixlaw.laws.base import Inputs
from mixlaw.runs import RunTable


@dataclass(frozen=True)
class TablePrediction:
    """Predictions for the rows of a table, and scores where it has losses.

    Attributes:
        frame: ``run, step, tokens, params, pred/<target>``, and ``low/``, ``high/`` of the 90 % intervals.
        scores: by target, over the last checkpoint of each run.
    """

    frame: pd.DataFrame
    scores: dict[str, Scores]


def predict_table(fits: FitSet, table: RunTable) -> TablePrediction:
    """Predict every row of a table.

    Raises:
        InputError: when the table lacks a domain, or sizes or tokens that the laws need.
    """
    inputs = aligned_inputs(fits, table)
    predictions = fits.predict(inputs)
    columns = [c for c in ("run", "step", "tokens", "params") if c in table.frame.columns]
    frame = table.frame[columns].copy()
    for target, prediction in predictions.items():
        frame[f"pred/{target}"] = prediction.value
    for target, prediction in predictions.items():
        frame[f"low/{target}"], frame[f"high/{target}"] = prediction.low, prediction.high
    last = ~table.frame["run"].duplicated(keep="last").to_numpy()
    scores = {
        target: score(prediction.value[last], table.loss(target)[last])
        for target, prediction in predictions.items()
        if target in table.targets
    }
    return TablePrediction(frame, scores)


def insist_on_domains(table: RunTable, domains: Sequence[str]) -> None:
    """Refuse a table with domains that the fit does not know.

    Raises:
        InputError: naming them.
    """
    unknown = set(table.domains) - set(domains)
    if unknown:
        raise InputError(f"domains among {', '.join(domains)}", ", ".join(sorted(unknown)))


def aligned_inputs(fits: FitSet, table: RunTable) -> Inputs:
    """Inputs of a table with its domains, by name, in the order of the fit; absent domains have share 0.

    Raises:
        InputError: when the table has domains that the fit does not know, or lacks numbers that the laws need.
    """
    insist_on_domains(table, fits.domains)
    found = inputs_of(table)
    shares = np.zeros((len(table), len(fits.domains)))
    for index, name in enumerate(fits.domains):
        if name in table.domains:
            shares[:, index] = table.mixtures[:, table.domains.index(name)]
    for name, values in (("params", found.params), ("tokens", found.tokens)):
        if name in fits.needs() and not np.isfinite(values).all():
            row = int(np.flatnonzero(~np.isfinite(values))[0])
            raise InputError(f"{name} in every row to predict", "an empty cell", where=f"row {row + 1}")
    return Inputs.build(fits.domains, shares, found.params, found.tokens)
