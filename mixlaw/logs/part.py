"""What a reader hands on: rows of one file with run-table column names, and what it made of the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mixlaw.logs.convert import Conversion
from mixlaw.units import Unit


@dataclass(frozen=True)
class Column:
    """What a column of a file was taken for.

    Attributes:
        source: name in the file.
        name: name in the run table (``loss/web``), or "" for a column that is not used.
        unit: unit of a loss, where its name or the user says it.
        scale: factor to multiply by.
        conversion: to the unit of the table, after scaling.
    """

    source: str
    name: str
    unit: Unit | None = None
    scale: float = 1.0
    conversion: Conversion | None = None


@dataclass(frozen=True)
class Skip:
    """Rows that a reader left out."""

    reason: str
    count: int = 1
    where: str = ""


@dataclass(frozen=True)
class Part:
    """Rows of one file, columns named as in the run table.

    Attributes:
        source: the file, as messages call it.
        kind: name of the reader.
        frame: one row per record; ``run`` is absent where the file does not name its runs.
        lines: line (or row) number in the file, shape (n,).
        run: run that the file belongs to, by its name or place, when ``frame`` has no run column.
        columns: what each column of the file was taken for.
        units: unit by target, where names or the user say it.
        notes: remarks for the report.
        skipped: rows read and left out.
        final: the rows are results at the end of a run, without a step of their own.
        table: a table, whose rows may be of several runs even where no column names them.
        place: folder in which the run's name was found, when it is that of a file or folder.
        aliases: other words in the place of the file, one of which may be the name of a run.
        limit: examples a task that an evaluation was cut to; None for all of them.
    """

    source: str
    kind: str
    frame: pd.DataFrame
    lines: NDArray[np.int64]
    run: str | None = None
    columns: tuple[Column, ...] = ()
    units: Mapping[str, Unit] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    skipped: tuple[Skip, ...] = ()
    final: bool = False
    table: bool = False
    place: str = ""
    aliases: tuple[str, ...] = ()
    limit: float | None = None

    def where(self, row: int) -> str:
        """Place of a row for messages."""
        return f"{self.source}, line {self.lines[row]}"


def skipped_part(source: str, kind: str, *skips: Skip) -> Part:
    """A part without rows, for a file all of whose rows are left out."""
    return Part(source, kind, pd.DataFrame(), np.zeros(0, dtype=np.int64), skipped=skips)
