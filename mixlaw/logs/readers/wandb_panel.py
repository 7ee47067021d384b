"""W&B line-plot panel as CSV: runs side by side, three columns ``<run> - <metric>``, ``__MIN`` and ``__MAX`` each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mixlaw.errors import InputError
from mixlaw.logs.delimited import Layout, sniff, whole
from mixlaw.logs.names import SCALARS
from mixlaw.logs.numbers import canonical, rows_where, to_numbers
from mixlaw.logs.options import IngestOptions
from mixlaw.logs.part import Column, Part
from mixlaw.logs.rows import name_columns
from mixlaw.logs.source import Source

_SERIES = re.compile(r"(?P<run>.+) - (?P<metric>.+?)(?P<bound>__MIN|__MAX)?")
_AXES = {name: column for column in ("step", "tokens", "meta/samples") for name in SCALARS[column]}
_TIMES = re.compile(r"(?:relative time|wall time|_?runtime|_?timestamp|created)\b.*", re.IGNORECASE)


@dataclass(frozen=True)
class _Series:
    """One run's values of one metric."""

    column: str
    run: str
    metric: str


def is_panel(names: Sequence[str]) -> bool:
    """Whether a header is that of a panel export."""
    found = [m for n in names[1:] if (m := _SERIES.fullmatch(n))]
    bounds = {m["bound"] for m in found}
    whole = len(names) > 1 and len(found) == len(names) - 1 and None in bounds
    return whole and (len(bounds) == 3 or _axis_of(names[0]) is not None or _TIMES.fullmatch(names[0]) is not None)


def _axis_of(name: str) -> str | None:
    """Run-table column of an x axis, or None for one that is no step, token or sample count."""
    return _AXES.get(re.sub(r"[\s\-./]+", "_", name.strip()).casefold())


def read_wandb_panel(source: Source, options: IngestOptions, *, paired: bool = False) -> Iterator[Part]:
    """Read a panel export; a row of the part is one run's value (or values) at one x.

    Raises:
        InputError: when the x axis is time, or a metric that is no step, token or sample count.
    """
    layout = sniff(source)
    axis, axis_name = _axis(layout, source, options)
    series = [
        _Series(n, m["run"].strip(), m["metric"].strip())
        for n in layout.names[1:]
        if (m := _SERIES.fullmatch(n)) and m["bound"] is None and m["metric"].strip() != "_step"
    ]
    frame = whole(source, layout)
    lines = np.arange(len(frame), dtype=np.int64) + layout.header_lines + 1
    notes = [*_averaged(frame, series), "a W&B panel exports what was plotted: sampled above 1,500 points"]
    if axis_name in ("Step", "_step"):
        notes.append("Step is W&B's, which counts log calls unless the trainer passed step=")
    metrics = list(dict.fromkeys(s.metric for s in series))
    columns = name_columns(metrics, {}, options)
    x = to_numbers(frame[axis_name], where=rows_where(source.name, lines), decimal=layout.decimal, human=True)
    blocks = [_run_rows(frame, x, lines, [s for s in series if s.run == run], axis) for run in _runs(series)]
    rows = pd.concat([b for b in blocks if len(b)], ignore_index=True) if any(map(len, blocks)) else blocks[0]
    if not len(rows):
        raise InputError("at least one value", "empty cells only", where=source.name)
    places = rows.pop("_line").to_numpy(dtype=np.int64)
    used = [c for c in columns if c.name]
    content = canonical(rows, used, where=rows_where(source.name, places), decimal=layout.decimal)
    yield Part(
        source=source.name,
        kind="wandb_panel",
        frame=pd.DataFrame({"run": rows["run"], axis: rows[axis], **content}, index=rows.index),
        lines=places,
        columns=(Column(axis_name, axis), *columns),
        units={c.name[5:]: c.unit for c in used if c.name.startswith("loss/") and c.unit},
        notes=tuple(notes),
        skipped=tuple(frame.attrs["skipped"]),
    )


def _axis(layout: Layout, source: Source, options: IngestOptions) -> tuple[str, str]:
    """Run-table column and name of the x axis."""
    name = layout.names[0]
    rule = options.rule(name)
    axis = rule.name if rule else _axis_of(name)
    if axis in ("step", "tokens", "meta/samples"):
        return axis, name
    what = "time" if _TIMES.fullmatch(name) else "another metric"
    raise InputError(
        "Step or tokens on the x axis of the panel",
        f"{name!r}, which is {what}",
        where=source.name,
        hint="Set the x axis of the panel to Step (or a token count) and export again, or name it with --map.",
    )


def _runs(series: Sequence[_Series]) -> list[str]:
    return list(dict.fromkeys(s.run for s in series))


def _run_rows(frame: pd.DataFrame, x: np.ndarray, lines: np.ndarray, series: list[_Series], axis: str) -> pd.DataFrame:
    """The rows of one run: those where one of its metrics has a value."""
    cells = frame[[s.column for s in series]]
    present = cells.notna().any(axis=1).to_numpy()
    values = {s.metric: cells.loc[present, s.column].to_numpy() for s in series}
    rows = pd.DataFrame({"run": series[0].run, axis: x[present], **values, "_line": lines[present]})
    return rows.reset_index(drop=True)


def _averaged(frame: pd.DataFrame, series: Sequence[_Series]) -> list[str]:
    """A remark when MIN and MAX differ from the value: the points are means over a part of the axis."""
    count = 0
    for s in series:
        low, high = f"{s.column}__MIN", f"{s.column}__MAX"
        if low in frame and high in frame:
            count += int((frame[low].notna() & (frame[low].astype(str) != frame[high].astype(str))).sum())
    return [f"{count:,} points are averages, as MIN and MAX differ"] if count else []
