"""A fast way through JSON lines that all have the same keys and plain values: they are read as a CSV.

``{"a": 1, "b": 2}`` becomes the CSV row ``"a",1,"b",2`` by exchanging three characters, and the CSV parser of pandas is
several times faster than any JSON parser in the standard library. Whatever could be read differently that way (nested
objects, lists, escapes, colons in text, other keys, true and false) is left to the JSON parser.
"""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mixlaw.logs.numbers import EXACT_FLOATS

_TO_CSV = bytes.maketrans(b":", b",")


def flat_columns(block: bytes) -> dict[str, NDArray[Any]] | None:
    """Columns of whole lines, or None for lines that need a JSON parser.

    Args:
        block: lines of one object each, UTF-8, without blank lines.
    """
    first = _first_row(block)
    rows = block.count(b"\n") + (not block.endswith(b"\n"))
    if first is None or b"\\" in block or block.count(b":") != rows * len(first):
        return None
    text = block.translate(_TO_CSV, b"{}")
    if len(block) - len(text) != 2 * rows:  # other braces than those of one flat object a line
        return None
    frame = _parsed(text, first)
    if frame is None or len(frame) != rows:
        return None
    columns = {}
    for i, (key, value) in enumerate(first.items()):
        names, cells = frame[2 * i].cat, frame[2 * i + 1]
        if list(names.categories) != [key] or names.codes.min() < 0:
            return None
        found = _cells(cells, isinstance(value, str))
        if found is None:
            return None
        columns[key] = found
    return columns


def _first_row(block: bytes) -> dict[str, Any] | None:
    """The first object, when all its values are numbers, text or null."""
    try:
        row = json.loads(block[: block.find(b"\n")] if b"\n" in block else block)
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
        return None
    if not isinstance(row, dict) or not row:
        return None
    return row if all(type(v) in (int, float, str, type(None)) for v in row.values()) else None


def _parsed(text: bytes, first: dict[str, Any]) -> pd.DataFrame | None:
    width = 2 * len(first)
    dtypes: dict[int, Any] = {2 * i: "category" for i in range(len(first))}
    dtypes |= {2 * i + 1: str for i, v in enumerate(first.values()) if isinstance(v, str)}
    try:
        frame: pd.DataFrame = pd.read_csv(
            io.BytesIO(text),
            header=None,
            names=list(range(width)),
            dtype=dtypes,
            skipinitialspace=True,
            index_col=False,
            encoding="utf-8",
            low_memory=False,
            **EXACT_FLOATS,
        )
    except (pd.errors.ParserError, UnicodeDecodeError):
        return None
    return frame


def _cells(column: pd.Series, text: bool) -> NDArray[Any] | None:
    """Numbers as float64, text as objects with None; None for a column that is neither."""
    if text:
        return column.astype(object).where(column.notna(), None).to_numpy(dtype=object)
    if pd.api.types.is_bool_dtype(column) or not pd.api.types.is_numeric_dtype(column):
        return None
    return column.to_numpy(dtype=np.float64)
