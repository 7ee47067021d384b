"""Trainers that print one line per step: what their lines look like, and how all of them are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mixlaw.logs.numbers import to_number
from mixlaw.logs.options import IngestOptions
from mixlaw.logs.part import Part
from mixlaw.logs.rows import Rows, numbered, part_of
from mixlaw.logs.source import Source

Parse = Callable[[re.Match[str]], dict[str, Any]]


@dataclass(frozen=True)
class Console:
    """How one trainer prints.

    Attributes:
        kind: name of the reader.
        lines: pattern of a line -> row that it gives.
        facts: pattern of a line that holds for the whole log -> name of the fact (first group).
        notes: remarks on what the numbers are.
        names: name in the rows -> run-table column.
    """

    kind: str
    lines: tuple[tuple[re.Pattern[str], Parse], ...]
    facts: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)

    def read(self, source: Source, options: IngestOptions, *, paired: bool = False) -> Iterator[Part]:
        """Read a log of this trainer."""
        log = Rows(notes=list(self.notes), console=True)
        facts: dict[str, float] = {}
        before: float | None = None
        restarts = 0
        for line, text in numbered(source):
            row = self._row(text)
            if row is not None:
                row.setdefault("step", before or 0)
                restarts += before is not None and row["step"] < before
                before = row["step"]
                log.add(line, row)
                continue
            for name, pattern in self.facts.items():
                if match := pattern.search(text):
                    facts[name] = float(to_number(match[1], human=True) or "nan")
        log.fill(**facts)
        if restarts:
            log.notes.append(f"{source.name}: {restarts} restarts (the step goes back); the last written counts")
        yield part_of(log, source, options, kind=self.kind, names=NAMES | dict(self.names))

    def _row(self, text: str) -> dict[str, Any] | None:
        for pattern, parse in self.lines:
            if match := pattern.search(text):
                return parse(match)
        return None

    def matches(self, text: str) -> bool:
        """Whether a line is of this trainer."""
        return any(pattern.search(text) for pattern, _ in self.lines)


NAMES = {
    "step": "step",
    "tokens": "tokens",
    "params": "params",
    "train": "meta/train_loss",
    "grad": "meta/grad_norm",
    "samples": "meta/samples",
    "tokens_per_step": "meta/tokens_per_step",
    "loss/validation": "loss/validation",
}


def value(text: str) -> float:
    """A number with or without a suffix, NaN for other text."""
    found = to_number(text, human=True)
    return float("nan") if found is None else found


def pairs(text: str, separator: str) -> dict[str, float]:
    """``name: value`` pairs of a line whose numbers may have suffixes."""
    pairs = (piece.partition(separator) for piece in text.split("|"))
    return {n.strip(): value(v) for n, _, v in pairs if v.strip() and to_number(v, human=True) is not None}
