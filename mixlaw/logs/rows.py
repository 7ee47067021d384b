"""Rows that a reader of a trainer's log gathers, and the part of the run table that they become."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mixlaw.errors import InputError
from mixlaw.logs.metrics import TRAIN_LOSS, Metric, in_nats, metric, told_apart
from mixlaw.logs.names import stated_units
from mixlaw.logs.numbers import canonical, rows_where
from mixlaw.logs.options import IngestOptions
from mixlaw.logs.part import Column, Part, Skip
from mixlaw.logs.records import columns_of
from mixlaw.logs.source import Source

ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
NUMBER = r"[+-]?(?:\d[\d,]*\.?\d*(?:[eE][+-]?\d+)?|\.\d+|nan|inf(?:inity)?)"


@dataclass
class Rows:
    """Records of one log with the line of each.

    Attributes:
        rows: record -> name in the log -> cell.
        lines: line of each record.
        notes: remarks for the report.
        skipped: records left out.
        console: the log is text for people, whose last line may be cut anywhere.
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    skipped: list[Skip] = field(default_factory=list)
    console: bool = False

    def add(self, line: int, row: Mapping[str, Any]) -> None:
        """Add a record."""
        self.rows.append(dict(row))
        self.lines.append(line)

    def skip(self, reason: str, where: str, count: int = 1) -> None:
        """Count records that are left out."""
        self.skipped.append(Skip(reason, count, where))

    def fill(self, **facts: Any) -> None:
        """Give every record the facts that hold for the whole log."""
        for row in self.rows:
            for name, value in facts.items():
                row.setdefault(name, value)


def part_of(
    log: Rows, source: Source, options: IngestOptions, *, kind: str, names: Mapping[str, str], **others: Any
) -> Part:
    """Turn records into a part of the run table.

    Args:
        log: the records.
        source: the file.
        options: the user's column map and units.
        kind: name of the reader.
        names: name in this kind of log -> run-table column ("" to leave it out); other names are read as metrics.
        others: further attributes of the part.

    Raises:
        InputError: when there is no record, or a cell is no number.
    """
    if log.console and source.unterminated:
        log.notes.append(f"{source.name}: the last line has no end, so its last word is not used")
    if not log.rows:
        raise InputError(f"records of a {kind} log", "none", where=source.name)
    frame = pd.DataFrame(columns_of(log.rows), index=pd.RangeIndex(len(log.rows)))
    columns = name_columns([str(c) for c in frame.columns], names, options)
    lines = np.array(log.lines, dtype=np.int64)
    used = [c for c in columns if c.name]
    content = canonical(frame, used, where=rows_where(source.name, lines))
    nan = _nan_steps(log.rows, [c.source for c in used if c.name == TRAIN_LOSS])
    if nan is not None:
        counted = content.get("meta/nan_iterations")
        content["meta/nan_iterations"] = nan if counted is None else np.fmax(nan, counted)
    return Part(
        source=source.name,
        kind=kind,
        frame=pd.DataFrame(content, index=frame.index),
        lines=lines,
        columns=tuple(columns),
        units=stated_units(columns),
        notes=tuple(dict.fromkeys(log.notes)),
        skipped=tuple(log.skipped),
        **others,
    )


def _nan_steps(rows: Sequence[Mapping[str, Any]], sources: Sequence[str]) -> NDArray[np.float64] | None:
    """Rows whose training loss is written as NaN, which is not the same as absent."""
    nan = [any(s in row and str(row[s]).strip().lower() == "nan" for s in sources) for row in rows]
    return np.array(nan, dtype=np.float64) if any(nan) else None


def name_columns(sources: Sequence[str], names: Mapping[str, str], options: IngestOptions) -> list[Column]:
    """Name the columns of a log: the user's map, then the reader's names, then what the name of a metric says."""
    metrics = {s: m for s in sources if s not in names and (m := metric(s)) is not None}
    taken: set[str] = set()
    columns = []
    for source in sources:
        column = options.rule(source) or _column(source, names, metrics, taken, options)
        if column.name:
            taken.add(column.name)
        columns.append(column)
    return columns


def _column(
    source: str, names: Mapping[str, str], metrics: Mapping[str, Metric], taken: set[str], options: IngestOptions
) -> Column:
    if source.startswith("mix/"):
        return Column(source, source)
    if source in names:
        return Column(source, "" if names[source] in taken else names[source])
    found = metrics.get(source)
    if found is None or (found.name == TRAIN_LOSS and TRAIN_LOSS in taken):
        return Column(source, "")
    if in_nats(found, metrics.values()):
        return Column(source, "")
    name = told_apart(found, metrics.values())
    if not name.startswith("loss/"):
        return Column(source, name)
    return Column(source, name, options.unit(name.removeprefix("loss/"), stated=found.unit, source=source))


def numbered(source: Source) -> Iterator[tuple[int, str]]:
    """Lines of a console log with their numbers, colours taken away; what a carriage return overwrote is kept.

    The last word of a last line without an end is left out: a number there may be cut.
    """
    for number, line in enumerate(source.lines(), start=1):
        plain = ANSI.sub("", line) if "\x1b" in line else line
        if not plain.endswith("\n"):
            plain = re.sub(r"[^\s|]*$", "", plain)
        plain = plain.rstrip("\n")
        for piece in plain.split("\r") if "\r" in plain else (plain,):
            yield number, piece


def number(text: str) -> float | None:
    """A number as consoles print it, with thousands commas; None for other text."""
    plain = text.strip().replace(",", "")
    return float(plain) if re.fullmatch(NUMBER, plain, re.IGNORECASE) else None
