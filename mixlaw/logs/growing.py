"""Rows that come in pieces, kept once: each column is an array that grows in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

_LARGE = 5_000_000  # cells


def whole(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame of few cells in one block, since pandas is slow on many small ones; a large one as it is."""
    return frame.copy() if frame.size < _LARGE else frame


class Growing:
    """Appends frames below each other.

    Numbers go into float64 arrays that grow by reallocation, names of runs into codes, other text into a list.
    """

    def __init__(self) -> None:
        self.length = 0
        self._numbers: dict[str, NDArray[np.float64]] = {}
        self._codes: dict[str, NDArray[np.int32]] = {}
        self._names: dict[str, dict[object, int]] = {}
        self._texts: dict[str, list[tuple[int, pd.Series]]] = {}
        self._order: dict[str, None] = {}

    def append(self, frame: pd.DataFrame) -> None:
        """Append rows; a column that a frame lacks is missing in its rows."""
        start, self.length = self.length, self.length + len(frame)
        for name in map(str, frame.columns):
            self._order.setdefault(name)
            cells = frame[name]
            if cells.dtype == np.float64 and name not in self._texts:
                self._put(self._numbers, name, cells.to_numpy(), start, np.nan)
            elif isinstance(cells.dtype, pd.CategoricalDtype):
                self._put(self._codes, name, self._coded(name, cells), start, -1)
            else:
                self._texts.setdefault(name, []).append((start, cells))

    def _put(
        self, columns: dict[str, NDArray[Any]], name: str, cells: NDArray[Any], start: int, missing: float
    ) -> None:
        column = columns.get(name)
        if column is None:
            column = columns[name] = np.full(max(start + len(cells), 1), missing, dtype=cells.dtype)
        end = start + len(cells)
        if len(column) < end:
            filled = len(column)
            column.resize(max(end, filled + filled // 16), refcheck=False)
            column[filled:] = missing
        column[start:end] = cells

    def _coded(self, name: str, cells: pd.Series) -> NDArray[np.int32]:
        known = self._names.setdefault(name, {})
        new = [known.setdefault(category, len(known)) for category in cells.cat.categories]
        return np.array([*new, -1], dtype=np.int32)[cells.cat.codes.to_numpy()]

    def frame(self, names: Sequence[str] | None = None) -> pd.DataFrame:
        """All rows of some columns (of all for None); the arrays are handed over without a copy."""
        columns: dict[str, Any] = {}
        for name in self._order if names is None else names:
            if name in self._texts:
                columns[name] = self._text(name)
            elif name in self._codes:
                codes = self._trimmed(self._codes.pop(name), -1)
                columns[name] = pd.Categorical.from_codes(
                    codes, categories=pd.Index(list(self._names[name]), dtype=object)
                )
            else:
                columns[name] = self._trimmed(self._numbers.pop(name), np.nan)
        return whole(pd.DataFrame(columns, index=pd.RangeIndex(self.length), copy=False))

    def _trimmed(self, column: NDArray[Any], missing: float) -> NDArray[Any]:
        filled = len(column)
        column.resize(self.length, refcheck=False)
        column[filled:] = missing
        return column

    def _text(self, name: str) -> NDArray[Any]:
        column = np.full(self.length, None, dtype=object)
        if name in self._numbers:  # a column of numbers in some pieces and of text in others
            numbers = self._numbers.pop(name)
            column[: min(len(numbers), self.length)] = numbers[: self.length]
        for start, cells in self._texts.pop(name):
            column[start : start + len(cells)] = cells.astype(object).to_numpy()
        return column
