"""W&B history of one run as CSV: one row per log call; the run's name is in the name of the file only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mixlaw.logs.delimited import sniff
from mixlaw.logs.options import IngestOptions, Rule
from mixlaw.logs.part import Part
from mixlaw.logs.readers.table_csv import read_csv
from mixlaw.logs.source import Source

_STEPS = ("trainer/global_step", "train/global_step", "global_step", "iteration", "iter", "step")


def is_history(names: tuple[str, ...]) -> bool:
    """Whether a header is that of an exported history."""
    return "_step" in names and bool({"_runtime", "_timestamp"} & set(names))


def read_wandb_history(source: Source, options: IngestOptions, *, paired: bool = False) -> Iterator[Part]:
    """Read the history of a run; the name of the run is in the name of the file only."""
    names = sniff(source).names
    step = next((n for n in _STEPS if n in names), None)
    rules = (*options.rules, *((Rule(step, "step"), Rule("_step", "")) if step else (Rule("_step", "step"),)))
    named = replace(options, rules=rules, join=None)
    notes = () if step else ("_step is W&B's, which counts log calls unless the trainer passed step=",)
    table = any(n in ("run", "run_id", "run_name", "name") for n in names)
    count = 0
    for part in read_csv(source, named):
        count += len(part.frame)
        sampled = ("exactly 500 rows: run.history() samples, run.scan_history() gives all",) if count == 500 else ()
        yield replace(part, kind="wandb_history", table=table, notes=(*part.notes, *notes, *sampled))
