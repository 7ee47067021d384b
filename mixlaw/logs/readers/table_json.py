"""Tables as JSON: one object a line, an array of objects, one object, or an object of runs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from mixlaw.errors import InputError
from mixlaw.logs.flat_json import flat_columns
from mixlaw.logs.json_lines import objects, parse
from mixlaw.logs.long import find_long, widen
from mixlaw.logs.names import recognise, stated_units
from mixlaw.logs.numbers import canonical, rows_where
from mixlaw.logs.options import IngestOptions
from mixlaw.logs.part import Part, Skip
from mixlaw.logs.records import Records
from mixlaw.logs.rows import Rows
from mixlaw.logs.source import Source

BLOCK_BYTES = 1 << 23
_SECTIONS = {"config", "metrics", "mixture", "loss", "losses", "args", "hparams", "summary", "eval", "train", "val"}
_ROW_LISTS = ("runs", "rows", "data", "records", "history", "log_history")


def read_json(source: Source, options: IngestOptions, *, paired: bool = False) -> Iterator[Part]:
    """Read rows of JSON objects.

    Raises:
        InputError: naming the line that is no JSON or no object.
    """
    records = Records()
    skips: list[Skip] = []
    if is_prefixed(source.head_text):
        log = Rows()
        for line, row in objects(source, log):
            log.add(line, row)
        records.add(log.rows)
        lines, skips = np.array(log.lines, dtype=np.int64), log.skipped
    elif one_per_line(source):
        lines = _read_lines(source, records, skips)
    else:
        rows = rows_of(load(source), source)
        records.add(rows)
        lines = np.arange(1, len(rows) + 1, dtype=np.int64)
    yield from parts_of(records, lines, source, options, skips=skips, paired=paired)


def sample_json(source: Source) -> pd.DataFrame:
    """The first rows, to look at."""
    records = Records()
    if one_per_line(source):
        lines = [parse(line) for line in source.head_text.lstrip("\ufeff").splitlines()[:400]]
        records.add([row for row in lines if isinstance(row, dict)])
    else:
        records.add(rows_of(load(source), source)[:400])
    return records.sample()


def parts_of(
    records: Records,
    lines: np.ndarray,
    source: Source,
    options: IngestOptions,
    *,
    kind: str = "json",
    skips: Sequence[Skip] = (),
    paired: bool = False,
) -> Iterator[Part]:
    """Records as a part of the run table, wide or long."""
    if not records.length:
        raise InputError("at least one row", "none", where=source.name)
    sample = records.sample()
    long = find_long(sample)
    if long is not None:
        frame = records.frame(list(sample.columns))
        frame.attrs["skipped"] = list(skips)
        yield from widen(frame, long, source, options, kind=kind)
        return
    plan = recognise(sample, options, paired=paired)
    frame = records.frame([c.source for c in plan.used])
    content = canonical(frame, plan.used, where=rows_where(source.name, lines))
    yield Part(
        source=source.name,
        kind=kind,
        frame=pd.DataFrame(content, index=pd.RangeIndex(len(frame)), copy=False),
        lines=lines,
        columns=plan.columns,
        units=stated_units(plan.columns),
        notes=plan.notes,
        table=True,
        skipped=tuple(skips),
    )


def is_prefixed(text: str) -> bool:
    """Whether most lines of a console log end in a JSON object with words before it."""
    lines = [line for line in text.splitlines() if line.strip()][:40]
    found = [b for line in lines if (b := line.find("{")) > 0 and isinstance(parse(line[b:]), dict)]
    return len(found) * 2 > len(lines) and not text.lstrip("\ufeff \n").startswith(("{", "["))


def one_per_line(source: Source) -> bool:
    """Whether the file has one JSON object a line (a first line that is one, and more than one line)."""
    lines = [line for line in source.head_text.lstrip("﻿").splitlines() if line.strip()]
    return len(lines) > 1 and isinstance(parse(lines[0]), dict)


def load(source: Source) -> Any:
    """Parse a whole JSON file.

    Raises:
        InputError: with the line and column where the JSON breaks.
    """
    with source.reading(), source.text() as handle:
        text = handle.read().lstrip("﻿")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        several = _documents(text) if error.msg == "Extra data" else None
        if several is not None:
            return several
        place = f"{source.name}, line {error.lineno}, column {error.colno}"
        raise InputError("valid JSON", error.msg, where=place) from error
    except RecursionError as error:
        raise InputError("JSON of a run log", "thousands of nested brackets", where=source.name) from error


def _documents(text: str) -> list[Any] | None:
    """Objects that follow each other, with or without commas; None where one of them is broken."""
    decoder, place, found = json.JSONDecoder(), 0, []
    while place < len(text):
        try:
            content, place = decoder.raw_decode(text, place)
        except json.JSONDecodeError:
            return None
        found.append(content)
        match = re.compile(r"[\s,]*").match(text, place)
        place = match.end() if match else len(text)
    return found


def rows_of(content: Any, source: Source) -> list[dict[str, Any]]:
    """The rows that a JSON document holds: an array, an object of columns or of runs, or a single row.

    Raises:
        InputError: when nothing in it looks like rows.
    """
    if isinstance(content, Mapping):
        content = content["runs"] if isinstance(content.get("runs"), dict) else content
        inner = next((content[k] for k in _ROW_LISTS if isinstance(content.get(k), list)), content)
        content = _rows_of_mapping(inner) if isinstance(inner, Mapping) else inner
    if not isinstance(content, list) or not all(isinstance(row, dict) for row in content):
        raise InputError("JSON objects, one for each row", _kind(content), where=source.name)
    return content


def _rows_of_mapping(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows of an object of columns, of runs, or of one row."""
    values = list(content.values())
    if values and all(isinstance(v, list) and v and all(isinstance(r, dict) for r in v) for v in values):
        return [{"run": name, **row} for name, rows in content.items() for row in rows]
    if values and all(isinstance(v, list) for v in values) and len({len(v) for v in values}) == 1:
        return [dict(zip(content, row, strict=True)) for row in zip(*values, strict=True)]
    if len(values) > 1 and all(isinstance(v, Mapping) for v in values):
        inner = [set(v) for v in values]
        if all(k.isdigit() for keys in inner for k in keys) and inner[0]:
            rows = list(dict.fromkeys(k for v in values for k in v))
            return [{name: column.get(r) for name, column in content.items()} for r in rows]
        if set.intersection(*inner) and not set(content) & _SECTIONS:
            return [{"run": name, **dict(row)} for name, row in content.items()]
    return [dict(content)]


def _kind(content: Any) -> str:
    if isinstance(content, list):
        odd = next((c for c in content if not isinstance(c, dict)), None)
        return f"a list with {json.dumps(odd)[:40]}"
    return f"{type(content).__name__} {json.dumps(content)[:40]}"


def _read_lines(source: Source, records: Records, skips: list[Skip]) -> np.ndarray:
    """Read blocks of lines into ``records`` and return the line number of each row."""
    numbers: list[np.ndarray] = []
    line = 0
    with source.reading(), source.open() as handle:
        for block, later in _blocks(source, handle):
            columns = flat_columns(block)
            if columns is not None:
                count = block.count(b"\n") + (not block.endswith(b"\n"))
                records.add_columns(columns, count)
                numbers.append(np.arange(line + 1, line + 1 + count, dtype=np.int64))
                line += count
                continue
            lines = block.decode("utf-8").split("\n")
            texts, places = _filled(lines[:-1] if lines[-1] == "" else lines, line)
            rows = _parse_block(texts, places, source, skips, later)
            records.add(rows)
            numbers.append(places[: len(rows)])
            line += len(lines) - (lines[-1] == "")
    return np.concatenate(numbers) if numbers else np.zeros(0, dtype=np.int64)


def _blocks(source: Source, handle: BinaryIO) -> Iterator[tuple[bytes, Iterator[Any]]]:
    """Whole lines as UTF-8, a block at a time, with the rest of the file."""
    if source.encoding not in ("utf-8", "utf-8-sig"):
        with source.text() as text:
            while lines := list(islice(text, 4000)):
                yield "".join(lines).encode("utf-8"), iter(text)
        return
    while block := handle.read(BLOCK_BYTES):
        yield (block + handle.readline()).removeprefix(b"\xef\xbb\xbf"), iter(handle)


def _filled(block: list[str], line: int) -> tuple[list[str], np.ndarray]:
    """The lines that are not blank, and their numbers."""
    texts = [text for text in block if text and not text.isspace()]
    if len(texts) == len(block):
        return texts, np.arange(line + 1, line + 1 + len(block), dtype=np.int64)
    places = [line + i + 1 for i, text in enumerate(block) if text and not text.isspace()]
    return texts, np.array(places, dtype=np.int64)


def _parse_block(
    texts: list[str], places: np.ndarray, source: Source, skips: list[Skip], later: Iterator[Any]
) -> list[dict[str, Any]]:
    """Parse many lines at once; when that fails, one by one to find the line."""
    rows = parse(f"[{','.join(texts)}]".replace("﻿", "", 1))
    if isinstance(rows, list) and len(rows) == len(texts) and set(map(type, rows)) <= {dict}:
        return rows
    return list(_parse_each(texts, places, source, skips, later))


def _parse_each(
    texts: list[str], places: np.ndarray, source: Source, skips: list[Skip], later: Iterator[Any]
) -> Iterator[dict[str, Any]]:
    for i, (text, place) in enumerate(zip(texts, places, strict=True)):
        row = parse(text.lstrip("﻿"))
        if isinstance(row, dict):
            yield row
            continue
        where = f"{source.name}, line {place}"
        if i == len(texts) - 1 and not any(rest.strip() for rest in later):
            skips.append(Skip("last line cut short", 1, where))
            return
        hint = "Only the last line may be cut short; remove this one." if row is None else ""
        raise InputError("one JSON object a line", repr(text.strip()[:60]), where=where, hint=hint)
