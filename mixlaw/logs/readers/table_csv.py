"""Tables as CSV, TSV or ';'-separated text: wide (a column per metric) or long (a row per metric)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from mixlaw.errors import InputError
from mixlaw.logs.delimited import Layout, chunks, head_rows, sniff, whole
from mixlaw.logs.json_lines import parse
from mixlaw.logs.long import find_long, widen
from mixlaw.logs.names import Plan, recognise, stated_units
from mixlaw.logs.numbers import canonical, is_text, rows_where
from mixlaw.logs.options import IngestOptions
from mixlaw.logs.part import Part
from mixlaw.logs.records import columns_of
from mixlaw.logs.source import Source


def read_csv(source: Source, options: IngestOptions, *, paired: bool = False) -> Iterator[Part]:
    """Read a delimited table in pieces of ``CHUNK_ROWS`` rows.

    Raises:
        InputError: naming file, line and column of what cannot be read.
    """
    layout = sniff(source)
    sample = head_rows(source, layout)
    if not len(sample):
        raise InputError("at least one row below the header", "none", where=source.name)
    long = find_long(sample)
    if long is not None:
        frame = whole(source, layout)
        yield from widen(frame, long, source, options, kind="csv", decimal=layout.decimal, first_line=2)
        return
    nested = objects_in(sample, options)
    plan = recognise(expanded(_as_numbers(sample, layout), nested), options, paired=paired)
    text = {c.source for c in plan.used if is_text(c.name)} | set(nested)
    wanted = [n for n in layout.names if n in nested or any(c.source == n for c in plan.used)]
    line = layout.header_lines + 1
    for piece in chunks(source, layout, wanted, strings=text):
        chunk = expanded(piece, nested).reindex(columns=[c.source for c in plan.used]) if nested else piece
        part = part_from(chunk, plan, source, line, decimal=layout.decimal)
        line += len(chunk) + sum(s.count for s in part.skipped)
        yield part


def objects_in(sample: pd.DataFrame, options: IngestOptions) -> list[str]:
    """Columns whose cells are objects as text: ``{"web": 0.6}``, also as Python prints them."""
    first = {str(c): next((v for v in sample[c].dropna()), "") for c in sample}
    return [c for c, v in first.items() if isinstance(v, str) and options.rule(c) is None and _object(v)]


def expanded(frame: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Columns ``mixture/web``, ... in the place of a column of objects."""
    for name in names:
        rows = [_object(cell) if isinstance(cell, str) else {} for cell in frame[name]]
        inner = {f"{name}/{k}": cells for k, cells in columns_of(rows).items()}
        attributes = frame.attrs
        frame = pd.concat([frame.drop(columns=name), pd.DataFrame(inner, index=frame.index)], axis=1)
        frame.attrs = attributes
    return frame


def _object(cell: str) -> dict[str, Any]:
    """The object that a cell holds, empty for other text."""
    if not cell.lstrip().startswith("{"):
        return {}
    content = parse(cell) or parse(cell.replace("'", '"'))
    return content if isinstance(content, dict) else {}


def part_from(
    chunk: pd.DataFrame, plan: Plan, source: Source, line: int, *, kind: str = "csv", decimal: str = "."
) -> Part:
    """Rows of a table as a part of the run table."""
    skipped = tuple(chunk.attrs.pop("skipped", ()))
    lines = np.arange(line, line + len(chunk), dtype=np.int64)
    content = canonical(chunk, plan.used, where=rows_where(source.name, lines), decimal=decimal)
    if "run" in content:
        content["run"] = pd.Series(content["run"]).astype("category")
    frame = pd.DataFrame(content, index=pd.RangeIndex(len(chunk)), copy=False)
    return Part(
        source=source.name,
        kind=kind,
        frame=frame,
        lines=lines,
        columns=plan.columns,
        units=stated_units(plan.columns),
        notes=plan.notes,
        table=True,
        skipped=skipped,
    )


def sample_csv(source: Source) -> pd.DataFrame:
    """The first rows, as numbers or text, to look at."""
    layout = sniff(source)
    return _as_numbers(head_rows(source, layout), layout)


def _as_numbers(sample: pd.DataFrame, layout: Layout) -> pd.DataFrame:
    """The sample with numeric text as numbers, for the checks on values."""
    if layout.decimal != ",":
        return sample
    plain = {c: sample[c].str.replace(".", "", regex=False).str.replace(",", ".", regex=False) for c in sample}
    return pd.DataFrame(plain)
