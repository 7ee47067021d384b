"""W&B runs table as CSV: one row per run, its configuration and the last value of each metric."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from mixlaw.logs.delimited import sniff, whole
from mixlaw.logs.names import recognise
from mixlaw.logs.options import IngestOptions, Rule
from mixlaw.logs.part import Part, Skip
from mixlaw.logs.readers.table_csv import part_from
from mixlaw.logs.source import Source

UNFINISHED = ("crashed", "failed", "killed", "running", "preempted", "preempting", "pending")
_STEPS = ("trainer/global_step", "train/global_step", "global_step", "iteration", "iter", "step")
_RUNS = (
    Rule("State", "meta/state"),
    Rule("Runtime", ""),
    Rule("Notes", ""),
    Rule("User", ""),
    Rule("Tags", ""),
    Rule("Created", ""),
    Rule("Sweep", ""),
    Rule("_runtime", ""),
    Rule("_timestamp", ""),
)


def is_runs_table(names: tuple[str, ...]) -> bool:
    """Whether a header is that of the runs table."""
    return "Name" in names and "State" in names and bool({"Runtime", "Created", "User", "Notes", "Tags"} & set(names))


def read_wandb_runs(source: Source, options: IngestOptions, *, paired: bool = False) -> Iterator[Part]:
    """Read a runs table; runs that have not finished are left out and counted, unless they are to be kept."""
    layout = sniff(source)
    frame = whole(source, layout)
    lines = np.arange(len(frame), dtype=np.int64) + layout.header_lines + 1
    step = next((Rule(n, "step") for n in _STEPS if n in layout.names), None)
    rules = (*options.rules, Rule("Name", "run"), *_RUNS, *((step, Rule("_step", "")) if step else ()))
    plan = recognise(frame.head(400), replace(options, rules=rules, join=None))
    state = frame["State"].fillna("").str.strip().str.lower()
    doubtful = state.isin(UNFINISHED).to_numpy()
    skips = list(frame.attrs["skipped"])
    notes = ["a W&B runs table holds the last value of each metric only", *_named_apart(frame)]
    if doubtful.any() and not options.keep_doubtful:
        for what, rows in frame[doubtful].groupby(state[doubtful]):
            first = f"{source.name}, line {lines[rows.index[0]]}"
            skips.append(Skip(f"run {what} (W&B State); --keep-doubtful keeps it", len(rows), first))
        frame, lines = frame[~doubtful].reset_index(drop=True), lines[~doubtful]
    elif doubtful.any():
        notes.append(f"{int(doubtful.sum())} runs that have not finished are kept as asked")
    part = part_from(frame, plan, source, 1, kind="wandb_runs", decimal=layout.decimal)
    yield replace(part, lines=lines, notes=(*plan.notes, *notes), skipped=tuple(skips))


def _named_apart(frame: pd.DataFrame) -> list[str]:
    """Tell runs of one display name apart by their id, or by a number."""
    doubled = frame["Name"].duplicated(keep=False) & frame["Name"].notna()
    if not doubled.any():
        return []
    extra = frame["ID"] if "ID" in frame else (frame.groupby("Name").cumcount() + 1).astype(str)
    frame.loc[doubled, "Name"] = frame["Name"] + "-" + extra
    return [f"{int(doubled.sum())} runs share a display name: {'id' if 'ID' in frame else 'a number'} added"]
