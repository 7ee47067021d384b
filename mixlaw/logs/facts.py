"""What logs do not hold: sizes, tokens and mixtures from the command line, the run sheet or other rows of the run."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from mixlaw.errors import InputError, MissingFactError
from mixlaw.logs.naming import per_run
from mixlaw.logs.options import IngestOptions
from mixlaw.logs.part import Skip
from mixlaw.logs.report import Report
from mixlaw.logs.sheet import Sheet, beginning, template
from mixlaw.mixture import SUM_TOLERANCE
from mixlaw.runs import RunTable
from mixlaw.units import shorten

CONSTANT = ("params", "params_active", "flops")


def apply_facts(frame: pd.DataFrame, options: IngestOptions, sheet: Sheet, report: Report) -> pd.DataFrame:
    """Fill sizes and tokens where rows lack them: the sheet first, then ``--set``."""
    for name in CONSTANT:
        frame = _filled(frame, name, sheet, options)
    return _with_tokens(frame, options, sheet, report)


def _fact(frame: pd.DataFrame, name: str, sheet: Sheet, options: IngestOptions) -> pd.Series | None:
    """A fact for each row, NaN for runs that lack it, None where nobody gives it."""
    if name not in options.facts and not sheet.gives(name):
        return None
    default = options.facts.get(name, np.nan)
    values = {str(run): sheet.facts(str(run)).get(name, default) for run in frame["run"].cat.categories}
    return pd.Series(per_run(frame["run"], values), index=frame.index)


def _or_logged(frame: pd.DataFrame, name: str, sheet: Sheet, options: IngestOptions) -> pd.Series | None:
    """A fact that the user gives, or that the log itself states at its beginning."""
    given = _fact(frame, name, sheet, options)
    logged = frame[f"meta/{name}"] if f"meta/{name}" in frame else None
    return logged if given is None else given if logged is None else given.fillna(logged)


def _filled(frame: pd.DataFrame, name: str, sheet: Sheet, options: IngestOptions) -> pd.DataFrame:
    given = _fact(frame, name, sheet, options)
    if given is None:
        return frame
    return frame.assign(**{name: frame[name].fillna(given) if name in frame else given})


def _times(left: pd.Series | None, right: pd.Series | None) -> pd.Series | None:
    return None if left is None or right is None else left * right


def _with_tokens(frame: pd.DataFrame, options: IngestOptions, sheet: Sheet, report: Report) -> pd.DataFrame:
    """Tokens from a column, else samples times length, else steps times tokens per step, else the run's total."""
    tokens = frame["tokens"] if "tokens" in frame else pd.Series(np.nan, index=frame.index)
    if not tokens.isna().any():
        return frame
    step = frame["step"] if "step" in frame else None
    length = _or_logged(frame, "sequence_length", sheet, options)
    per_step = _or_logged(frame, "tokens_per_step", sheet, options)
    by_batch = _times(length, _fact(frame, "global_batch", sheet, options))
    per_step = by_batch if per_step is None else per_step if by_batch is None else per_step.fillna(by_batch)
    samples = frame["meta/samples"] if "meta/samples" in frame else None
    tokens = _from(tokens, _times(samples, length), "samples x sequence length", report)
    if step is not None:
        twins = _same_step(frame, tokens)
        tokens = tokens if twins is None else tokens.fillna(twins)
        if per_step is not None and tokens.isna().any():
            _check_ramp(frame)
        tokens = _from(tokens, _times(step, per_step), "steps x tokens per step", report)
        tokens = _from(tokens, _proportional(frame, tokens), "the constant tokens per step of the run", report)
    total = _fact(frame, "tokens", sheet, options)
    if total is not None and step is not None:
        if (tokens.isna() & step.notna()).any():
            report.note("the tokens given for a run are those at its end: rows with steps need tokens_per_step")
        total = total.where(step.isna())
    tokens = _from(tokens, total, "the total given for the run", report)
    return frame.assign(tokens=tokens) if tokens.notna().any() else frame


def _from(tokens: pd.Series, other: pd.Series | None, how: str, report: Report) -> pd.Series:
    if other is None:
        return tokens
    filled = tokens.isna() & other.notna()
    if filled.any():
        report.note(f"tokens from {how} for {int(filled.sum()):,} rows")
    return tokens.fillna(other)


def _same_step(frame: pd.DataFrame, tokens: pd.Series) -> pd.Series | None:
    """Tokens that another row of the same run and step has."""
    known = tokens.notna() & frame["step"].notna()
    if not known.any() or known.all():
        return None
    return tokens.groupby([frame["run"], frame["step"]], observed=True, sort=False).transform("last")


def _proportional(frame: pd.DataFrame, tokens: pd.Series) -> pd.Series | None:
    """Tokens of rows between logged ones, for runs all of whose logged rows have the same tokens per step."""
    known = tokens.notna() & (frame["step"] > 0)
    if not known.any() or tokens.notna().all():
        return None
    ratio = (
        (tokens[known] / frame["step"][known]).groupby(frame["run"][known], observed=True).agg(["min", "max", "count"])
    )
    constant = ratio[(ratio["max"] <= ratio["min"] * (1 + 1e-9)) & (ratio["count"] > 1)]["min"]
    values = {str(run): float(v) for run, v in constant.items()}
    return frame["step"] * pd.Series(per_run(frame["run"], values), index=frame.index)


def _check_ramp(frame: pd.DataFrame) -> None:
    """Refuse steps times tokens per step where the logged samples show that the batch size changes."""
    if "meta/samples" not in frame:
        return
    rows = frame[(frame["step"] > 0) & frame["meta/samples"].notna()]
    ratio = (rows["meta/samples"] / rows["step"]).groupby(rows["run"], observed=True).agg(["min", "max"])
    ramped = ratio[ratio["max"] > 1.02 * ratio["min"]]
    if len(ramped):
        low, high = ramped.iloc[0]
        raise MissingFactError(
            f"sequence_length, because the batch size of run {ramped.index[0]!r} changes",
            f"tokens_per_step only, and {low:g} to {high:g} samples a step",
            hint="Give --set sequence_length=4096: tokens are then samples times length.",
        )


def fill_shares(frame: pd.DataFrame, options: IngestOptions, sheet: Sheet, report: Report) -> pd.DataFrame:
    """Give every row the shares (and sizes) of its run.

    Raises:
        MissingFactError: when some runs have shares and others none, with a sheet to fill in.
    """
    frame = _spread(frame, [c for c in CONSTANT if c in frame])
    given = _given_mixtures(frame["run"], options, sheet)
    names = [str(c) for c in frame.columns if str(c).startswith("mix/")]
    if not given and not any(frame[n].hasnans for n in names):
        return frame
    names += [n for n in dict.fromkeys(f"mix/{d}" for m in given.values() for d in m) if n not in names]
    shares = frame.reindex(columns=names).astype(np.float64)
    shares = _spread(shares.assign(run=frame["run"]), names)[names]
    without = shares.isna().all(axis=1)
    for name in names if without.any() else ():
        values = {run: m.get(name[4:], 0.0) for run, m in given.items()}
        shares[name] = shares[name].where(~without, per_run(frame["run"], values))
    frame = frame.assign(**{n: shares[n] for n in names})
    return _zero_filled(_check_all(frame, names, options, report), names, report)


def _given_mixtures(runs: pd.Series, options: IngestOptions, sheet: Sheet) -> dict[str, Mapping[str, float]]:
    """Shares by run from the sheet or the command line."""
    if not options.mixture and not any(e.mixture for e in sheet.entries):
        return {}
    given = {str(run): sheet.mixture(str(run)) or options.mixture for run in runs.cat.categories}
    return {run: m for run, m in given.items() if m}


def _spread(frame: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Copy values that hold for a whole run to its rows that lack them."""
    for name in names:
        gaps = frame[name].isna()
        if gaps.any() and not gaps.all():
            runs = frame["run"]
            known = frame.loc[~gaps].drop_duplicates("run", keep="last").set_index("run")[name]
            alone = frame.loc[~gaps].groupby("run", observed=True)[name].nunique()
            known = known[alone.reindex(known.index) == 1]
            values = {str(run): float(v) for run, v in known.items()}
            frame = frame.assign(**{name: frame[name].fillna(pd.Series(per_run(runs, values), index=frame.index))})
    return frame


def _check_all(frame: pd.DataFrame, names: list[str], options: IngestOptions, report: Report) -> pd.DataFrame:
    """Leave out rows of a join without shares; refuse a table in which some runs have none."""
    without = frame[names].isna().all(axis=1).to_numpy()
    if not without.any():
        return frame
    runs = list(frame.loc[without, "run"].unique())
    if options.join is not None:
        report.skip(Skip(f"no shares for the run in any file (runs {shorten(runs, 4)})", int(without.sum())))
        if without.all():
            raise InputError("shares for the runs", "none after the join")
        return frame[~without].reset_index(drop=True)
    report.lacking["mixture"] = runs
    report.template = template(frame["run"].unique(), report.lacking, steps="step" in frame)
    raise MissingFactError(
        "a mixture for every run or for none",
        f"none for {shorten(runs, 5)}",
        hint=f"Fill in this run sheet and pass it with --mixtures:\n{beginning(report.template)}",
    )


def _zero_filled(frame: pd.DataFrame, names: list[str], report: Report) -> pd.DataFrame:
    """A domain that a row does not name has share 0 where the others sum to 1."""
    shares = frame[names]
    gaps = shares.isna()
    if not gaps.any(axis=None):
        return frame
    sums = shares.sum(axis=1)
    whole = gaps.any(axis=1) & ((sums - 1).abs() <= SUM_TOLERANCE)
    report.repairs.add("domains without a share given 0, as the others sum to 1", int(whole.sum()))
    filled = shares.where(~(gaps & whole.to_numpy()[:, None]), 0.0)
    return frame.assign(**{n: filled[n] for n in names})


def note_lacking(table: RunTable, report: Report, sheet: Sheet) -> None:
    """Say which facts which runs lack, and give a sheet to fill in."""
    frame = table.frame
    if not table.domains:
        report.lacking["mixture"] = list(table.runs)
    for name in ("params", "tokens"):
        without = frame["run"][np.isnan(table.column(name))].unique()
        if len(without):
            report.lacking[name] = list(without)
    if report.lacking:
        report.template = template(table.runs, report.lacking, steps="step" in frame)
    strangers = sheet.unseen(table.runs)
    if strangers:
        report.note(f"the run sheet names runs without logs: {shorten(strangers, 6)}")
