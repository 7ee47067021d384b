"""Runs that are named by where their files lie: told apart, or found again under the name that logs know."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from mixlaw.logs.naming import as_runs
from mixlaw.logs.part import Part
from mixlaw.logs.report import Report
from mixlaw.logs.sheet import Sheet

_METRIC = ("loss/", "bench/", "meta/train_loss")


def renamed(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """The rows of one run under another name."""
    return frame.assign(run=as_runs(np.full(len(frame), name, dtype=object), frame.index))


def resolve_aliases(frames: list[pd.DataFrame], parts: Sequence[Part], sheet: Sheet) -> None:
    """Give results of evaluations the name of a run that logs or the sheet know, where their place holds one."""
    known = {str(r) for f, p in zip(frames, parts, strict=True) if not p.aliases for r in f["run"].unique()}
    for i, part in enumerate(parts):
        words = (part.run or "", *part.aliases)
        match = next((w for w in words if w in known or sheet.names(w)), None)
        if part.aliases and match is not None:
            frames[i] = renamed(frames[i], match)


def tell_apart(frames: list[pd.DataFrame], parts: Sequence[Part], report: Report) -> None:
    """Two files of one name in two folders are two runs when they have other values at the same steps."""
    groups: dict[str, list[int]] = {}
    for i, part in enumerate(parts):
        if part.place and part.run is not None and (frames[i]["run"] == part.run).all():
            groups.setdefault(part.run, []).append(i)
    for run, members in groups.items():
        if len({parts[i].place for i in members}) < 2 or not _any_conflict(frames, parts, members):
            continue
        for i in members:
            frames[i] = renamed(frames[i], f"{Path(parts[i].place).name}/{run}")
        report.note(f"run {run} occurs in several folders with other values: the folder is added to its name")


def _any_conflict(frames: Sequence[pd.DataFrame], parts: Sequence[Part], members: Sequence[int]) -> bool:
    first = members[0]
    return any(parts[i].place != parts[first].place and _conflict(frames[first], frames[i]) for i in members[1:])


def _conflict(left: pd.DataFrame, right: pd.DataFrame) -> bool:
    """Whether at least half of the values that both have at the same step (or tokens) differ."""
    axis = next((a for a in ("step", "tokens") if a in left and a in right), None)
    metrics = [c for c in left.columns if c.startswith(_METRIC) and c in right]
    if axis is None or not metrics:
        return False
    pairs = left[[axis, *metrics]].merge(right[[axis, *metrics]], on=axis, suffixes=("", "'"))
    same = differing = 0
    for name in metrics:
        both = pairs[name].notna() & pairs[f"{name}'"].notna()
        differing += int((both & (pairs[name] != pairs[f"{name}'"])).sum())
        same += int(both.sum())
    return differing > 0 and differing * 2 >= same
