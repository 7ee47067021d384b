"""Predictions for a mixture at a scale, and for every row of a run table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mixlaw.check.calibrate import calibration_flags
from mixlaw.check.scores import Scores, score
from mixlaw.dataset import inputs_of
from mixlaw.errors import InputError
from mixlaw.fits import FitSet, Prediction
from mixlaw.flags import Doubt, Flag
from mixlaw.laws.base import Floats, Inputs
from mixlaw.runs import RunTable
from mixlaw.units import Unit, human


@dataclass(frozen=True)
class TablePrediction:
    """Predictions for the rows of a table, and scores where it has losses.

    Attributes:
        frame: ``run, step, tokens, params, pred/<target>``, and ``low/``, ``high/`` of the 90 % intervals.
        scores: by target, over the last checkpoint of each run.
        covered: by target, share of those losses inside their 90 % intervals; NaN where none is measured.
        measured: losses of the rows by target, shape (n,), NaN where missing; targets of the fit alone.
        fitted: rows of runs that the fit has seen, shape (n,).
        units: of each target of the fit.
        flags: doubts of the fits, and of the last rows of runs with how many runs raise each.
    """

    frame: pd.DataFrame
    scores: dict[str, Scores]
    covered: dict[str, float] = field(default_factory=dict)
    measured: Mapping[str, Floats] = field(default_factory=dict)
    fitted: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    units: Mapping[str, Unit] = field(default_factory=dict)
    flags: tuple[Flag, ...] = ()

    @property
    def runs(self) -> int:
        """Runs of the table."""
        return int(self.frame["run"].nunique())

    @property
    def seen_runs(self) -> int:
        """Runs of the table that the fit has seen: their errors are residuals, no accuracy."""
        return int(self.frame["run"][self.fitted].nunique()) if len(self.fitted) else 0


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
    measured = {target: table.loss(target) for target in fits.targets if target in table.targets}
    covered = {target: _covered(predictions[target], y, last) for target, y in measured.items()}
    flags = (*_flags(fits, inputs.rows(np.flatnonzero(last))), *calibration_flags(fits))
    seen = _fitted(fits, table, inputs)
    return TablePrediction(frame, scores, covered, measured, seen, dict(fits.units), flags)


def doubts_at(fits: FitSet, shares: Floats, params: float | None, tokens: float | None) -> tuple[Flag, ...]:
    """Doubts about predictions at one mixture, shape (K,), and scale: those of the fits first."""
    return (*fits.flags_at(shares, params, tokens), *_reaching(fits, params, tokens))


def _reaching(fits: FitSet, params: float | None, tokens: float | None) -> Iterator[Flag]:
    """How a size and a number of tokens that laws are read at lie to those of the data."""
    sizes = np.unique(fits.seen.params[np.isfinite(fits.seen.params)])
    if params is not None and len(sizes) > 1 and "params" in fits.needs():
        step, asked = float(sizes[-1] / sizes[-2]), params / float(sizes[-1])
        if asked > 1.02 * step:
            tested = f"the step to that from the next smaller one is {step:.2g} times"
            yield Flag(
                Doubt.BEYOND_TESTED_STEP, f"{human(params)} is {asked:.2g} times the largest size in the data; {tested}"
            )
    low = []
    for name, word, value, seen in (
        ("params", "parameters", params, fits.seen.params), ("tokens", "tokens", tokens, fits.seen.tokens),
    ):  # fmt: skip
        known = seen[np.isfinite(seen)]
        if value is not None and known.size and name in fits.needs() and value < float(known.min()) / 10:
            low.append(f"{human(value)} {word} against {human(float(known.min()))} at least")
    if low:
        yield Flag(Doubt.BELOW_DATA, ", ".join(low))


def _flags(fits: FitSet, ends: Inputs) -> tuple[Flag, ...]:
    """Doubts of the fits, then those that rows of a table raise, each once."""
    always = fits.fit_flags()
    raised: dict[Enum, list[str]] = {}
    for shares, params, tokens in zip(ends.shares, ends.params, ends.tokens, strict=True):
        size, length = (float(v) if np.isfinite(v) else None for v in (params, tokens))
        for flag in doubts_at(fits, shares, size, length)[len(always) :]:
            raised.setdefault(flag.doubt, []).append(flag.detail)
    counted = (Flag(d, f"{len(found)} of {len(ends)} runs, the first: {found[0]}") for d, found in raised.items())
    return (*always, *counted)


def _covered(prediction: Prediction, measured: Floats, last: NDArray[np.bool_]) -> float:
    """Share of measured losses (of the rows ``last``) inside their intervals; NaN without any."""
    known = last & np.isfinite(measured)
    inside = (prediction.low <= measured) & (measured <= prediction.high)
    return float(inside[known].mean()) if known.any() else float("nan")


def _fitted(fits: FitSet, table: RunTable, inputs: Inputs) -> NDArray[np.bool_]:
    """Rows whose run the fit has seen, by name, mixture and size, shape (n,)."""
    place = {name: index for index, name in enumerate(fits.seen.runs)}
    found = np.array([place.get(str(run), -1) for run in table.frame["run"]], dtype=np.intp)
    same = np.abs(inputs.shares - fits.seen.mixtures[found]).max(axis=1, initial=0.0) < 1e-6
    sized = np.isclose(inputs.params, fits.seen.params[found], rtol=1e-3, equal_nan=True)
    return np.asarray((found >= 0) & same & sized)


def insist_on_domains(table: RunTable, domains: Sequence[str]) -> None:
    """Refuse a table with domains that the fit does not know; one of runs without mixtures takes any.

    Raises:
        InputError: naming them.
    """
    unknown = set(table.domains) - set(domains)
    if unknown and domains:
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
