"""The run sheet held against what the logs say themselves: different facts of one run are an error, never a choice."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from mixlaw.errors import InputError
from mixlaw.logs.report import Report
from mixlaw.logs.sheet import Sheet
from mixlaw.units import human

ROUNDED = 0.05
"""Relative difference up to which a count in the sheet is the rounded one of the logs, which stands with a remark."""
ROUNDED_SHARE = 0.02
"""Difference of shares up to which those of the sheet are the rounded ones of the logs."""
EQUAL = 1e-3
"""Difference, relative for counts, that counts as none."""

_COUNTS = ("params", "params_active", "meta/tokens_per_step", "meta/sequence_length")
_HINT = "Mend the one that is wrong; what the logs say need not be in the sheet."

Where = Callable[[int], str]
"""Place of a row, by its position in the frame."""


def hold_against(frame: pd.DataFrame, sheet: Sheet, report: Report, where: Where) -> None:
    """Compare sizes, lengths and shares of the logs with the sheet; run it before the sheet fills what is missing.

    Raises:
        InputError: naming the run, both values and both files.
    """
    if not sheet.entries:
        return
    for name in (n for n in _COUNTS if n in frame):
        fact = name.removeprefix("meta/")
        for run, rows in _rows(frame, name):
            given = sheet.facts(run).get(fact)
            if given is not None:
                values = frame[name].to_numpy(dtype=np.float64)[rows]
                worst = int(np.argmax(np.abs(values - given)))
                _count(run, fact, float(values[worst]), given, sheet, report, where(int(rows[worst])))
    _shares(frame, sheet, report, where)


def hold_totals(frame: pd.DataFrame, sheet: Sheet, report: Report, where: Where) -> None:
    """Compare the last tokens of each run with the total in the sheet: more is an error, fewer a remark.

    Raises:
        InputError: naming the run, both values and both files.
    """
    if not sheet.gives("tokens") or "tokens" not in frame:
        return
    for run, rows in _rows(frame, "tokens"):
        total = sheet.facts(run).get("tokens")
        if total is None:
            continue
        tokens = frame["tokens"].to_numpy(dtype=np.float64)[rows]
        last = float(tokens.max())
        if last < (1 - ROUNDED) * total:
            place = sheet.place(run, "tokens")
            report.note(f"run {run}: logged up to {human(last)} tokens of the {human(total)} in {place}")
        else:
            _count(run, "tokens", last, total, sheet, report, where(int(rows[int(np.argmax(tokens))])))


def _rows(frame: pd.DataFrame, name: str) -> list[tuple[str, np.ndarray]]:
    """Runs with the positions of their rows that have a value."""
    positions = pd.Series(np.arange(len(frame)))[frame[name].notna().to_numpy()]
    runs = frame["run"].to_numpy()[positions.to_numpy()]
    return [(str(run), part.to_numpy()) for run, part in positions.groupby(runs, sort=False)]


def _count(run: str, fact: str, logged: float, given: float, sheet: Sheet, report: Report, place: str) -> None:
    off = abs(logged - given) / given
    if off <= EQUAL:
        return
    words = f"{logged:,.10g} in {place}", f"{given:,.10g} in {sheet.place(run, fact)}"
    if off > ROUNDED:
        raise InputError(f"one number of {fact} for run {run!r}", " and ".join(words), hint=_HINT)
    report.note(f"run {run}: {fact} {words[0]} kept; {words[1]}")


def _shares(frame: pd.DataFrame, sheet: Sheet, report: Report, where: Where) -> None:
    names = [str(c) for c in frame.columns if str(c).startswith("mix/")]
    if not names:
        return
    shares = frame[names].to_numpy(dtype=np.float64)
    whole = np.isfinite(shares).any(axis=1)
    scale = np.where(np.nansum(shares, axis=1) > 2, 100.0, 1.0)[:, None]  # logs may have percent
    for run, rows in _rows(frame.assign(whole=np.where(whole, 1.0, np.nan)), "whole"):
        mixture = sheet.mixture(run)
        if not mixture:
            continue
        domains = [*(n.removeprefix("mix/") for n in names), *(d for d in mixture if f"mix/{d}" not in names)]
        logged = np.zeros((len(rows), len(domains)))
        logged[:, : len(names)] = np.nan_to_num(shares[rows] / scale[rows])
        given = np.array([mixture.get(d, 0.0) for d in domains])
        row, worst = np.unravel_index(int(np.argmax(np.round(np.abs(logged - given), 9))), logged.shape)
        off = abs(logged[row, worst] - given[worst])
        if off <= EQUAL:
            continue
        words = (
            f"{domains[worst]} {logged[row, worst]:.6g} in {where(int(rows[row]))}",
            f"{given[worst]:.6g} in {sheet.place(run, 'mixture')}",
        )
        if off > ROUNDED_SHARE:
            raise InputError(f"one mixture for run {run!r}", " and ".join(words), hint=_HINT)
        report.note(f"run {run}: share of {words[0]} kept; {words[1]}")
