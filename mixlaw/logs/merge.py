"""Rows of the same run and checkpoint, from one file or several, become one row."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mixlaw.errors import InputError
from mixlaw.logs.report import Report

_METRIC = ("loss/", "bench/", "meta/train_loss")
_PLACES = ("_file", "_line", "_final")


def merge_rows(frame: pd.DataFrame, report: Report, sources: list[str]) -> pd.DataFrame:
    """Merge rows by run and step (or tokens); rows without either describe the run, or its end.

    Args:
        frame: rows of all files in the order read, with the places ``_file``, ``_line``.
        report: takes the counts.
        sources: files by code.

    Raises:
        InputError: when a run has several rows of results in one file and nothing orders them.
    """
    frame = _with_axis(frame)
    free = (frame["step"].isna() & frame["tokens"].isna()).to_numpy() | frame["_final"].to_numpy(dtype=bool)
    if not free.any() and _distinct(frame):
        return _with_known_axes(frame)
    _check_ordered(frame[free & ~frame["_final"].to_numpy(dtype=bool)], sources)
    stepped, stepless = frame[~free], frame[free]
    if len(stepless) and not stepless["run"].is_unique:
        report.merged += len(stepless) - stepless["run"].nunique()
        stepless = stepless.groupby("run", sort=False, as_index=False, observed=True).last()
    if len(stepped) and len(stepless):
        stepped, stepless = _broadcast(stepped, stepless, report)
    stepped = _merge_checkpoints(stepped, report)
    merged = pd.concat([stepped, stepless], ignore_index=True) if len(stepless) and len(stepped) else stepped
    merged = stepless if not len(stepped) else merged
    return _with_known_axes(merged).reset_index(drop=True)


def _distinct(frame: pd.DataFrame) -> bool:
    """Whether rows come run by run with rising steps, as most tables do: then there is nothing to merge."""
    runs, axis = np.diff(frame["run"].cat.codes.to_numpy()), np.diff(frame["step"].to_numpy())
    return bool((runs >= 0).all() and ((runs > 0) | (axis > 0)).all())


def _with_known_axes(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame without an axis that no row has."""
    return frame.drop(columns=[c for c in ("step", "tokens") if frame[c].isna().all()])


def _with_axis(frame: pd.DataFrame) -> pd.DataFrame:
    """Give every row both axes where another row of its run tells one by the other."""
    for name in ("step", "tokens"):
        if name not in frame:
            frame = frame.assign(**{name: np.nan})
    if not (frame["step"].isna() & frame["tokens"].notna()).any() or frame["step"].isna().all():
        return frame
    both = frame.loc[frame["step"].notna() & frame["tokens"].notna(), ["run", "tokens", "step"]]
    known = both.drop_duplicates(["run", "tokens"]).set_index(["run", "tokens"])["step"]
    wanted = pd.MultiIndex.from_frame(frame[["run", "tokens"]])
    return frame.assign(step=frame["step"].fillna(pd.Series(known.reindex(wanted).to_numpy(), index=frame.index)))


def _check_ordered(stepless: pd.DataFrame, sources: list[str]) -> None:
    metrics = [c for c in stepless.columns if c.startswith(_METRIC)]
    results = stepless[stepless[metrics].notna().any(axis=1)] if metrics else stepless.iloc[:0]
    repeated = results[results.duplicated(["run", "_file"], keep="first")]
    if not len(repeated):
        return
    first = repeated.iloc[0]
    same = results[(results["run"] == first["run"]) & (results["_file"] == first["_file"])]
    if not any(varies(same[c]) for c in metrics):  # one metric a row, or the same row twice
        return
    raise InputError(
        "a step or tokens column",
        f"{len(same)} rows of run {first['run']!r} and nothing that orders them",
        where=f"{sources[int(first['_file'])]}, line {int(first['_line'])}",
        hint="Name the column with --map ({its name: step}), or give each row its own run name.",
    )


def varies(cells: pd.Series) -> bool:
    """Whether a column holds two different values."""
    present = cells.dropna()
    return bool(len(present) and (present != present.iloc[0]).any())


def _broadcast(stepped: pd.DataFrame, stepless: pd.DataFrame, report: Report) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Facts about a run go to all its rows, results without a step to its last row."""
    known = stepless["run"].isin(stepped["run"].unique()).to_numpy()
    facts, rest = stepless[known].assign(run=lambda f: f["run"].astype(object)).set_index("run"), stepless[~known]
    if not len(facts):
        return stepped, rest
    report.merged += len(facts)
    last = stepped.sort_values(["step", "tokens"], kind="stable").drop_duplicates("run", keep="last").index
    at_end = pd.Series(False, index=stepped.index)
    at_end[last] = True
    values: dict[str, pd.Series] = {}
    for name in (c for c in facts.columns if c not in (*_PLACES, "step", "tokens") and facts[c].notna().any()):
        mapped = stepped["run"].astype(object).map(facts[name])
        if name.startswith(_METRIC):
            mapped = mapped.where(at_end)
            report.note(f"results without a step belong to the last checkpoint of their run ({name})")
        values[name] = stepped[name].fillna(mapped) if name in stepped else mapped
    return stepped.assign(**values), rest


def _merge_checkpoints(frame: pd.DataFrame, report: Report) -> pd.DataFrame:
    """One row for each run and step; of two values the last written counts."""
    if not len(frame):
        return frame
    by_step = frame["step"].notna()
    keys = ["run", "_axis", "_by_step"]
    keyed = frame.assign(_axis=frame["step"].fillna(frame["tokens"]), _by_step=by_step)
    repeated = keyed.duplicated(keys, keep=False)
    if not repeated.any():
        return frame
    groups = keyed[repeated].groupby(keys, sort=False, observed=True)
    _insist_on_one_experiment(keyed[repeated], keys)
    merged = groups.last().reset_index()
    _count_conflicts(keyed[repeated], keys, report)
    report.merged += int(repeated.sum()) - len(merged)
    first = groups["_line"].head(1).index
    merged.index = first
    rows = pd.concat([keyed[~repeated], merged]).sort_index()
    return rows[list(frame.columns)]


def _insist_on_one_experiment(rows: pd.DataFrame, keys: list[str]) -> None:
    """Refuse two mixtures or sizes for one checkpoint: two experiments share a name."""
    facts = [c for c in rows.columns if c.startswith("mix/") or c == "params"]
    if not facts:
        return
    spread = rows.groupby(keys, sort=False, observed=True)[facts].transform(lambda c: c.max() - c.min())
    differs = (spread > 1e-6 * (1 + rows[facts].abs())).any(axis=1)
    if differs.any():
        first = rows[differs].iloc[0]
        raise InputError(
            "one mixture and size for each run",
            f"two for run {str(first['run'])!r} at the same checkpoint",
            hint="Two experiments share a name: give each its own, or leave one out.",
        )


def _count_conflicts(rows: pd.DataFrame, keys: list[str], report: Report) -> None:
    """Count rows whose values were overwritten by a later row of the same checkpoint."""
    metrics = [c for c in rows.columns if c.startswith(_METRIC)]
    if not metrics:
        return
    values = rows[metrics]
    later = rows.groupby(keys, sort=False, observed=True)[metrics].transform("last")
    overwritten = (values.notna() & (values != later)).any(axis=1)
    report.repairs.add("repeated (run, step): the last written is kept", int(overwritten.sum()))
