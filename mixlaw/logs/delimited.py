"""Delimited text: how a file is written, and its rows in pieces."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any, cast

import numpy as np
import pandas as pd

from mixlaw.errors import InputError
from mixlaw.logs.numbers import EXACT_FLOATS
from mixlaw.logs.part import Skip
from mixlaw.logs.source import Source

CHUNK_ROWS = 50_000
_SAMPLE_ROWS = 400
_SPACES = r"\s+"
_PREAMBLE = re.compile(r"\s*|\s*#.*|sep=.", re.DOTALL)


@dataclass(frozen=True)
class Layout:
    """How a delimited file is written.

    Attributes:
        delimiter: one character.
        decimal: "." or ",".
        names: column names, several header rows joined by "/".
        header_lines: number of lines before the data.
        spaced: spaces follow the delimiter (the parser is slower then).
    """

    delimiter: str
    decimal: str
    names: tuple[str, ...]
    header_lines: int
    spaced: bool = False


def sniff(source: Source) -> Layout:
    """Find the delimiter, decimal point and header of a delimited file.

    Raises:
        InputError: for a file without a header or with a column name that occurs twice.
    """
    text = source.head_text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    every = text.split("\n")
    before = next((i for i, line in enumerate(every) if not _PREAMBLE.fullmatch(line)), len(every))
    lines = [line for line in every[before : before + _SAMPLE_ROWS + 4] if line.strip()]
    if not lines:
        raise InputError("a table with a header", "an empty file", where=source.name)
    delimiter = max(",;\t|", key=lambda d: (_width(lines[0], d), -",;\t|".index(d)))
    if _width(lines[0], delimiter) == 1 and _in_words(lines):
        delimiter = _SPACES
    rows = _split(lines[:_SAMPLE_ROWS], delimiter)
    names, header_lines = _header(rows)
    header_lines += before
    _check_header(names, source)
    cells = [cell.strip() for row in rows[1:] for cell in row]
    comma = delimiter != "," and sum(bool(re.fullmatch(r"[+-]?\d+,\d+(e[+-]?\d+)?", c, re.I)) for c in cells)
    point = sum(bool(re.fullmatch(r"[+-]?\d+\.\d+(e[+-]?\d+)?", c, re.I)) for c in cells)
    spaced = delimiter != _SPACES and f"{delimiter} " in text
    return Layout(delimiter, "," if comma > point else ".", names, header_lines, spaced)


def _split(lines: list[str], delimiter: str) -> list[list[str]]:
    return [line.split() for line in lines] if delimiter == _SPACES else list(csv.reader(lines, delimiter=delimiter))


def _width(line: str, delimiter: str) -> int:
    return len(_split([line], delimiter)[0])


def _in_words(lines: list[str]) -> bool:
    """Whether a table is set with spaces: as many words in each of the first lines, with numbers below the first."""
    words = [line.split() for line in lines[:6]]
    return len(words) > 1 and len({len(w) for w in words}) == 1 and any(map(_is_number, words[1]))


def _header(rows: list[list[str]]) -> tuple[tuple[str, ...], int]:
    """Names from one header row, or from two or three as pandas writes a MultiIndex."""
    names = [cell.strip() for cell in rows[0]]
    if len(rows) > 1 and all(re.fullmatch(r"\s*:?-+:?\s*|\s*", cell) for cell in rows[1]) and any(rows[1]):
        return tuple(names), 2  # a Markdown table
    repeats = max(Counter(n for n in names if n).values(), default=0) > 1 or names.count("") > 1
    if not repeats or len(rows) < 3 or any(_is_number(c) for c in rows[1]) or len(rows[1]) != len(names):
        return tuple(names), 1
    below = [cell.strip() for cell in rows[1]]
    joined = [
        f"{a}/{b}" if a and b and not b.startswith("Unnamed:") else a or b for a, b in zip(names, below, strict=True)
    ]
    third = [cell.strip() for cell in rows[2]]
    index_names = any(third) and not any(_is_number(c) for c in third) and third.count("") >= len(third) // 2
    if index_names:
        joined = [c or n for c, n in zip(third, joined, strict=False)]
    return tuple(joined), 3 if index_names else 2


def _is_number(cell: str) -> bool:
    return re.fullmatch(r"\s*[+-]?[\d.,]+(e[+-]?\d+)?%?\s*", cell, re.IGNORECASE) is not None


def _check_header(names: tuple[str, ...], source: Source) -> None:
    doubled = [n for n, count in Counter(n for n in names if n).items() if count > 1]
    if doubled:
        hint = "Remove or rename one of them."
        raise InputError("each column name once", f"{doubled[0]!r} twice", where=f"{source.name}, header", hint=hint)
    if sum(map(_is_number, names)) > len(names) // 2:
        raise InputError("column names in the first row", f"numbers: {', '.join(names[:4])}", where=source.name)


def chunks(
    source: Source, layout: Layout, names: list[str], *, strings: set[str] | None = None, text: bool = False
) -> Iterator[pd.DataFrame]:
    """Pieces of the table.

    Args:
        source: the file.
        layout: how it is written.
        names: columns to take.
        strings: columns to take as text; other columns are numbers where all cells of a piece are.
        text: take every column as text.

    Raises:
        InputError: for rows of the wrong width or bytes that are no text.
    """
    only_returns = "\r" in source.head_text and "\n" not in source.head_text  # line ends of old Excel exports
    utf8 = source.encoding in ("utf-8", "utf-8-sig") and not only_returns
    handle: IO[Any] = cast(IO[Any], source.open()) if utf8 else source.text()
    with source.reading(), handle:
        wanted = set(layout.names) if text else strings or set()
        yield from _pieces(handle, source, layout, names, strings=wanted, rows=CHUNK_ROWS)


def whole(source: Source, layout: Layout) -> pd.DataFrame:
    """The whole table as text; ``attrs["skipped"]`` holds what was left out."""
    pieces = list(chunks(source, layout, list(layout.names), text=True))
    skipped = [s for piece in pieces for s in piece.attrs.pop("skipped", [])]
    frame = pd.concat(pieces, ignore_index=True)
    frame.attrs["skipped"] = skipped
    return frame


class _Tail:
    """A table whose header is replaced by numbers and one more column, and that remembers how it ended.

    The column more shows rows that are too long: the parser drops their cells silently when it takes only some columns.
    """

    def __init__(self, handle: IO[Any], layout: Layout) -> None:
        self._handle = handle
        for _ in range(layout.header_lines):
            handle.readline()
        join = " " if layout.delimiter == _SPACES else layout.delimiter
        header = join.join(map(str, range(len(layout.names) + 1))) + "\n"
        self.end: Any = handle.read(0)
        self._header: Any = header.encode() if isinstance(self.end, bytes) else header

    def read(self, size: int = -1) -> Any:
        if self._header:
            block, self._header = self._header, self.end
            return block
        block = self._handle.read(size)
        if block:
            self.end = (self.end + block)[-(1 << 16) :]
        return block

    def __iter__(self) -> Iterator[Any]:  # pandas asks for it, and reads by read()
        return iter(self._handle)

    def last_line(self, encoding: str) -> str:
        """The last line when it has no line end, else ""."""
        text = self.end.decode(encoding, errors="replace") if isinstance(self.end, bytes) else self.end
        return str(re.split(r"[\r\n]", text)[-1])


def _pieces(
    handle: IO[Any], source: Source, layout: Layout, names: list[str], *, strings: set[str], rows: int
) -> Iterator[pd.DataFrame]:
    """Pieces of the table, with a cut last line left out and rows of the wrong width refused."""
    tail = _Tail(handle, layout)
    extra = len(layout.names)
    wanted = {i: n for i, n in enumerate(_unique(layout.names)) if layout.names[i] in names}
    text = {str(i): str for i, n in wanted.items() if n in strings}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pd.errors.DtypeWarning)
        try:
            reader = pd.read_csv(
                cast(Any, tail),
                sep=layout.delimiter,
                skipinitialspace=layout.spaced,
                index_col=False,
                usecols=[*wanted, extra],
                chunksize=rows,
                dtype=cast(Any, {**text, str(extra): str}),
                decimal=layout.decimal,
                encoding="utf-8",
                **EXACT_FLOATS,
            )
            line, waiting = layout.header_lines + 1, None
            for chunk in reader:
                _check_width(chunk[str(extra)], source, line, extra)
                line += len(chunk)
                if waiting is not None:
                    yield waiting
                chunk = chunk.drop(columns=str(extra)).reset_index(drop=True)
                waiting = chunk.rename(columns={str(i): n for i, n in wanted.items()})
            if waiting is not None:
                yield _without_cut(waiting, tail.last_line(source.encoding), layout)
        except pd.errors.ParserError as error:
            reason = str(error).removeprefix("Error tokenizing data. C error: ").strip()
            raise InputError("a table of equal rows", reason, where=source.name) from error


def _unique(names: tuple[str, ...]) -> list[str]:
    """Names for the parser: columns without a name get one that nobody uses."""
    return [n or f"Unnamed: {i}" for i, n in enumerate(names)]


def _check_width(extra: pd.Series, source: Source, line: int, width: int) -> None:
    long = extra.notna().to_numpy()
    if long.any():
        row = int(np.flatnonzero(long)[0])
        raise InputError(
            f"{width} cells as in the header",
            f"more, the next one {extra.iloc[row]!r}",
            where=f"{source.name}, line {line + row}",
            hint="Quote cells that hold the separator; a decimal comma needs ';' between the cells.",
        )


def _without_cut(chunk: pd.DataFrame, last: str, layout: Layout) -> pd.DataFrame:
    """Leave out a last line that ends early, as a crash leaves it."""
    if not last.strip() or _width(last, layout.delimiter) >= len(layout.names):
        return chunk
    cut = chunk.iloc[:-1]
    cut.attrs["skipped"] = [Skip("last line cut short", 1)]
    return cut


def head_rows(source: Source, layout: Layout) -> pd.DataFrame:
    """The first rows, all as text."""
    lines = source.head_text.replace("\r\n", "\n").replace("\r", "\n").splitlines(keepends=True)
    if not source.complete_head:
        lines = lines[:-1]
    head = io.StringIO("".join(lines[: layout.header_lines + _SAMPLE_ROWS]), newline="")
    return next(_pieces(head, source, layout, list(layout.names), strings=set(layout.names), rows=_SAMPLE_ROWS))
