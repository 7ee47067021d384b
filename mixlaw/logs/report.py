"""What became of every row: the report of an ingest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mixlaw.errors import InputError
from mixlaw.logs.part import Column, Skip
from mixlaw.runs import Repairs, RunTable
from mixlaw.units import Unit, shorten

_SHOWN = 8


@dataclass
class FileReport:
    """What one file gave."""

    source: str
    kind: str
    read: int = 0
    columns: dict[str, Column] = field(default_factory=dict)


@dataclass
class Report:
    """Counts of rows, each row exactly once: ``read == kept + merged + skipped``.

    Attributes:
        files: by name of the file.
        kept: rows of the table.
        merged: rows that went into another row of the table (same run and step, or a join).
        skipped: rows left out, by reason, with the place of the first.
        repairs: what was changed in rows that are kept.
        notes: remarks.
        lacking: fact -> runs that lack it.
        template: run sheet to fill in, where facts are lacking.
        missing: target -> cells without a loss.
        units: target -> unit, for targets in the table.
        assumed: targets whose unit is not stated by name, file or user.
        runs: number of runs in the table.
        renamed: targets as read -> as in the table, where names were cut.
        not_read: why files in a folder were not read.
    """

    files: dict[str, FileReport] = field(default_factory=dict)
    kept: int = 0
    merged: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    places: dict[str, str] = field(default_factory=dict)
    repairs: Repairs = field(default_factory=Repairs)
    notes: list[str] = field(default_factory=list)
    lacking: dict[str, list[str]] = field(default_factory=dict)
    template: str = ""
    missing: dict[str, int] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    assumed: list[str] = field(default_factory=list)
    runs: int = 0
    renamed: dict[str, str] = field(default_factory=dict)
    not_read: list[str] = field(default_factory=list)

    @property
    def read(self) -> int:
        """Rows read from all files."""
        return sum(f.read for f in self.files.values())

    @property
    def from_logs(self) -> bool:
        """Whether some file is the log of a trainer, which holds no mixture, and not a table."""
        return any(f.kind not in ("csv", "json", "parquet") for f in self.files.values())

    def skip(self, skip: Skip, *, asked: bool = False) -> None:
        """Count rows that are left out; ``asked`` when the user wants it so.

        Raises:
            InputError: under ``--strict``, unless asked.
        """
        if skip.count and self.repairs.strict and not asked:
            raise InputError("no repairs (--strict)", f"{skip.count} rows skipped: {skip.reason}", where=skip.where)
        if skip.count:
            self.skipped[skip.reason] += skip.count
            self.places.setdefault(skip.reason, skip.where)

    def note(self, *texts: str) -> None:
        """Add remarks, each once."""
        self.notes += [t for t in dict.fromkeys(texts) if t not in self.notes]

    def table(self, table: RunTable) -> None:
        """Take the counts of the finished table."""
        self.kept, self.runs = len(table), len(table.runs)
        losses = {t: int((table.loss(t) != table.loss(t)).sum()) for t in table.targets}
        self.missing = {t: n for t, n in losses.items() if n}
        self.units = {t: table.unit(t).value for t in table.targets}

    def to_mapping(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "rows": {
                "read": self.read,
                "kept": self.kept,
                "merged": self.merged,
                "skipped": sum(self.skipped.values()),
            },
            "runs": self.runs,
            "files": [
                {
                    "file": f.source,
                    "kind": f.kind,
                    "read": f.read,
                    "columns": {c.source: c.name for c in f.columns.values() if c.name},
                    "unused": [c.source for c in f.columns.values() if not c.name],
                }
                for f in self.files.values()
            ],
            "skipped": {r: {"rows": n, "first": self.places.get(r, "")} for r, n in self.skipped.items()},
            "repairs": dict(self.repairs.counts),
            "units": self.units,
            "units_assumed": self.assumed,
            "missing_cells": self.missing,
            "lacking": self.lacking,
            "template": self.template,
            "notes": self.notes,
            "not_read": self.not_read,
        }

    def lines(self) -> list[str]:
        """The report for people, a remark a line."""
        lines = _files(list(self.files.values()))
        lines += _recognised(self.files.values())
        lines.append(
            f"rows: {self.read:,} read = {self.kept:,} kept + {self.merged:,} merged + "
            f"{sum(self.skipped.values()):,} skipped; {self.runs:,} runs"
        )
        lines += [f"skipped {n:,}: {r}{_at(self.places.get(r, ''))}" for r, n in self.skipped.items()]
        lines += [f"repaired {n:,}: {what}" for what, n in self.repairs.counts.items()]
        lines += self._unit_lines()
        if self.missing:
            cells = ", ".join(f"{t} {n:,}" for t, n in self.missing.items())
            lines.append(f"missing loss cells: {shorten(cells.split(', '), 12)}")
        lines += [f"lacking {fact}: {self._runs(runs)}" for fact, runs in self.lacking.items()]
        unused = [c.source for f in self.files.values() for c in f.columns.values() if not c.name]
        if self.lacking and unused:
            lines.append("note: where a column not used holds what is lacking, name it with --map or as mix/NAME")
        lines += [f"note: {n}" for n in self.notes]
        lines += [f"not read: {n}" for n in self.not_read[:_SHOWN]]
        more = len(self.not_read) - _SHOWN
        return [*lines, f"not read: {more} more files, see the --report file"] if more > 0 else lines

    def _runs(self, runs: Sequence[str]) -> str:
        return f"all {self.runs:,} runs" if len(runs) == self.runs else shorten(runs, 6)

    def _unit_lines(self) -> list[str]:
        by_unit: dict[str, list[str]] = {}
        for target, unit in self.units.items():
            by_unit.setdefault(unit, []).append(target)
        lines = [f"unit {unit}: {shorten(targets, 8)}" for unit, targets in by_unit.items()]
        if self.assumed:
            lines.append(
                f"note: no name or option states the unit of {shorten(self.assumed, 8)}: taken as "
                f"{Unit.NATS.value}; declare another with --unit"
            )
        return lines


def _at(place: str) -> str:
    return f" (first: {place})" if place else ""


def _recognised(files: Iterable[FileReport]) -> list[str]:
    lines = []
    for file in files:
        used = [f"{c.source} -> {c.name}" for c in file.columns.values() if c.name and c.source != c.name]
        unused = [c.source for c in file.columns.values() if not c.name]
        lines += [f"  {shorten(used, 24)}"] if used else []
        lines += [f"  not used: {shorten(unused, 12)}"] if unused else []
    return list(dict.fromkeys(lines))


def _files(files: Sequence[FileReport]) -> list[str]:
    """A line for each file, or for each kind where there are many."""
    if len(files) <= _SHOWN:
        return [f"{f.source}: {f.kind}, {f.read:,} rows" for f in files]
    same = {kind: [f for f in files if f.kind == kind] for kind in dict.fromkeys(f.kind for f in files)}
    return [f"{kind}: {len(fs):,} files, {sum(f.read for f in fs):,} rows" for kind, fs in same.items()]
