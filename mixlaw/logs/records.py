"""Rows of JSON objects with different keys, gathered as columns; nested objects get names with slashes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mixlaw.logs.growing import Growing

_SAMPLE = 400
_MISSING = type(None)
_PLAIN = frozenset({int, float, _MISSING})


@dataclass
class Records:
    """Columns that grow block by block.

    Attributes:
        length: rows so far.
        rows: the columns.
        first: some cells of each column, of the block where it first occurs.
    """

    length: int = 0
    rows: Growing = field(default_factory=Growing)
    first: dict[str, NDArray[Any]] = field(default_factory=dict)

    def add(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Append rows."""
        self.add_columns(columns_of(rows), len(rows))

    def add_columns(self, columns: Mapping[str, NDArray[Any]], rows: int) -> None:
        """Append rows that are columns already."""
        self.rows.append(pd.DataFrame(dict(columns), index=pd.RangeIndex(rows), copy=False))
        for name, cells in columns.items():
            if name not in self.first:
                self.first[name] = cells[:_SAMPLE].copy()
        self.length += rows

    def sample(self) -> pd.DataFrame:
        """For each column some cells of the block where it first occurs."""
        size = max((len(c) for c in self.first.values()), default=0)
        return pd.DataFrame({n: _padded(c, size) for n, c in self.first.items()})

    def frame(self, names: Sequence[str]) -> pd.DataFrame:
        """The columns ``names`` over all rows, handed on."""
        return self.rows.frame(names)


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
            plain = (json.dumps(c) if type(c) is list else c for c in cells)
            columns[str(key)] = np.fromiter(plain, dtype=object, count=len(cells))
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
