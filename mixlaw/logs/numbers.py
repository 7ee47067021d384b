"""Cells to float64, as people and trainers write numbers: thousands commas, decimal commas, ``410M``, ``60%``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mixlaw.errors import InputError
from mixlaw.logs.part import Column
from mixlaw.runs import NUMBERS
from mixlaw.units import parse_number

Where = Callable[[int], str]

EMPTY = frozenset({"", "-", "nan", "n/a", "na", "none", "null", "<na>", "#n/a"})
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
_FLOAT = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?|[+-]?nan", re.IGNORECASE)
_STEP_WORD = re.compile(r"\s*(?:step|checkpoint|ckpt|iter|global_?step)[-_ ]?0*(\d+)\s*", re.IGNORECASE)
_SUFFIXED = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)\s*[kmbgt]", re.IGNORECASE)
_HUMAN = frozenset({*NUMBERS, "meta/samples"})


EXACT_FLOATS: dict[str, Any] = (
    {} if tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1) else {"float_precision": "round_trip"}
)
"""Makes pandas' CSV parser exact in the last digit, which newer versions always are."""


def is_text(name: str) -> bool:
    """Whether a run-table column holds text as it was found."""
    return name == "run" or (name.startswith("meta/") and name not in NUMERIC_META)


NUMERIC_META = frozenset(
    {
        "meta/train_loss",
        "meta/samples",
        "meta/epoch",
        "meta/grad_norm",
        "meta/nan_iterations",
        "meta/global_batch",
        "meta/sequence_length",
        "meta/tokens_per_step",
    }
)


def canonical(
    frame: pd.DataFrame, columns: Sequence[Column], *, where: Where, decimal: str = "."
) -> dict[str, NDArray[np.float64] | pd.Series]:
    """Name the columns as in the run table and turn their cells into numbers.

    Args:
        frame: rows with the names of the file.
        columns: the columns to take.
        where: names the place of a row.
        decimal: decimal point of the file, "." or ",".

    Returns:
        Run-table column -> cells, shape (n,).

    Raises:
        InputError: with place, column and value of the first cell that is no number.
    """
    content: dict[str, NDArray[np.float64] | pd.Series] = {}
    for column in columns:
        cells = frame[column.source]
        if is_text(column.name):
            content[column.name] = cells
        else:
            if column.name == "step" and not pd.api.types.is_numeric_dtype(cells):
                cells = cells.map(_step_of_word)
            values = to_numbers(cells, where=where, decimal=decimal, human=column.name in _HUMAN)
            if column.scale != 1:
                values = values * column.scale
            elif column.name.startswith("bench/"):
                values = np.where(_signed(cells), values / 100, values)
            content[column.name] = values if column.conversion is None else column.conversion(values)
    return content


def _signed(cells: pd.Series) -> NDArray[np.bool_]:
    """Cells that end in a percent sign, shape (n,): such a score is in percent, whatever is beside it."""
    return np.array([isinstance(cell, str) and cell.strip(" \"'").endswith("%") for cell in cells], dtype=bool)


def _step_of_word(cell: object) -> object:
    """``checkpoint-1500`` and ``step1500`` as the step that they name; other cells as they are."""
    match = _STEP_WORD.fullmatch(cell) if isinstance(cell, str) else None
    return match[1] if match else cell


def to_numbers(cells: pd.Series, *, where: Where, decimal: str = ".", human: bool = False) -> NDArray[np.float64]:
    """Turn one column into float64, NaN where a cell is empty.

    Args:
        cells: numbers or text.
        where: names the place of a row.
        decimal: decimal point of the file.
        human: suffixes k, M, B, T are understood.

    Raises:
        InputError: with place, column and value of the first cell that is no number.
    """
    if pd.api.types.is_bool_dtype(cells):
        raise InputError(f"a number in column {cells.name!r}", repr(bool(cells.iloc[0])), where=where(0))
    if pd.api.types.is_numeric_dtype(cells):
        return cells.to_numpy(dtype=np.float64, na_value=np.nan)
    values = np.full(len(cells), np.nan)
    for row, cell in enumerate(cells):
        value = to_number(cell, decimal=decimal, human=human)
        if value is None:
            raise InputError(f"a number in column {cells.name!r}", repr(cell), where=where(row))
        values[row] = value
    return values


def to_number(cell: object, *, decimal: str = ".", human: bool = False) -> float | None:
    """One cell as a number, NaN for an empty one, None for one that is no number."""
    if isinstance(cell, bool):
        return None
    if isinstance(cell, int | float):
        return float(cell)
    if cell is None or cell is pd.NA:
        return float("nan")
    if not isinstance(cell, str):
        return None
    text = cell.strip().strip("\"'").strip()
    if text.lower() in EMPTY:
        return float("nan")
    if decimal == ",":
        text = text.replace(".", "").replace(",", ".")
    elif _THOUSANDS.fullmatch(text):
        text = text.replace(",", "")
    return _plain(text.removesuffix("%").rstrip(), human)


def _plain(text: str, human: bool) -> float | None:
    if _FLOAT.fullmatch(text):
        return float(text)
    return parse_number(text) if human and _SUFFIXED.fullmatch(text) else None


def rows_where(source: str, lines: NDArray[np.int64]) -> Where:
    """Name the place of a row: file and line."""
    return lambda row: f"{source}, line {lines[row]}"
