"""Rows of JSON objects with different keys, gathered as columns; nested objects get names with slashes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

_MISSING = type(None)
_PLAIN = frozenset({int, float, _MISSING})


@dataclass
class Records:
    """Columns that grow block by block.

    Attributes:
        length: rows so far.
        blocks: column -> (first row, cells) of each block that has it.
    """

    length: int = 0
    blocks: dict[str, list[tuple[int, NDArray[Any]]]] = field(default_factory=dict)

    def add(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Append rows."""
        self.add_columns(columns_of(rows), len(rows))

    def add_columns(self, columns: Mapping[str, NDArray[Any]], rows: int) -> None:
        """Append rows that are columns already."""
        for name, cells in columns.items():
            self.blocks.setdefault(name, []).append((self.length, cells))
        self.length += rows

    def sample(self, rows: int = 400) -> pd.DataFrame:
        """For each column some cells of the block where it first occurs."""
        first = {n: b[0][1][:rows] for n, b in self.blocks.items()}
        size = max((len(c) for c in first.values()), default=0)
        return pd.DataFrame({n: _padded(c, size) for n, c in first.items()})

    def frame(self, names: Sequence[str]) -> pd.DataFrame:
        """The columns ``names`` over all rows, freed here as they are handed on."""
        columns = {n: self._column(self.blocks.pop(n)) for n in names}
        return pd.DataFrame(columns, index=pd.RangeIndex(self.length), copy=False)

    def _column(self, blocks: list[tuple[int, NDArray[Any]]]) -> NDArray[Any]:
        numeric = all(b.dtype == np.float64 for _, b in blocks)
        column = np.full(self.length, np.nan) if numeric else np.full(self.length, None, dtype=object)
        for start, cells in blocks:
            column[start : start + len(cells)] = cells
        return column


def _padded(cells: NDArray[Any], size: int) -> NDArray[Any]:
    if len(cells) == size:
        return cells
    column = np.full(size, np.nan if cells.dtype == np.float64 else None, dtype=cells.dtype)
    column[: len(cells)] = cells
    return column


def columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, NDArray[Any]]:
    """Cells of each key over all rows: float64 with NaN where a number is missing, else objects with None.

    Args:
        rows: objects, possibly nested.
    """
    columns: dict[str, NDArray[Any]] = {}
    for key in dict.fromkeys(chain.from_iterable(rows)):
        cells = [row.get(key) for row in rows]
        kinds = set(map(type, cells))
        if kinds <= _PLAIN:
            columns[str(key)] = np.array(cells, dtype=np.float64) if _MISSING not in kinds else _floats(cells)
        elif dict in kinds or (list in kinds and _named_values(cells)):
            inner = [c if type(c) is dict else dict(_pairs(c)) if type(c) is list else {} for c in cells]
            columns.update({f"{key}/{name}": c for name, c in columns_of(inner).items()})
        else:
            columns[str(key)] = np.fromiter(cells, dtype=object, count=len(cells))
    return columns


_NAME, _VALUE = ("name", "domain", "dataset", "source"), ("weight", "share", "ratio", "proportion", "loss", "value")


def _named_values(cells: Sequence[Any]) -> bool:
    """Whether all lists are of objects with a name and a number, such as ``[{"name": "web", "weight": 0.6}]``."""
    lists = [c for c in cells if type(c) is list]
    return all(len(list(_pairs(c))) == len(c) > 0 for c in lists)


def _pairs(items: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    for item in items:
        if type(item) is dict:
            name = next((item[k] for k in _NAME if k in item), None)
            value = next((item[k] for k in _VALUE if k in item), None)
            if name is not None and value is not None:
                yield str(name), value


def _floats(cells: Sequence[float | None]) -> NDArray[np.float64]:
    return np.array([np.nan if c is None else c for c in cells], dtype=np.float64)
