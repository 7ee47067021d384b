"""JSON objects, one a line, possibly behind a time stamp, and their nested names."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from mixlaw.errors import InputError
from mixlaw.logs.rows import Rows, numbered
from mixlaw.logs.source import Source


def parse(text: str | bytes) -> Any:
    """Parse JSON, with NaN and Infinity as Python writes them; None for text that is no JSON."""
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return None


def objects(source: Source, log: Rows) -> Iterator[tuple[int, dict[str, Any]]]:
    """JSON objects of a file, one a line; a cut last line is counted, a broken one before it refused."""
    broken: tuple[int, str] | None = None
    for line, text in numbered(source):
        begin = text.find("{")
        if begin < 0:
            continue
        if broken is not None:
            raise InputError("one JSON object a line", repr(broken[1][:60]), where=f"{source.name}, line {broken[0]}")
        row = parse(text[begin:])
        if isinstance(row, dict):
            yield line, row
        else:
            broken = (line, text)
    if broken is not None:
        log.skip("last line cut short", f"{source.name}, line {broken[0]}")


def flat(row: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """An object with nested names joined by slashes, without lists."""
    plain: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, Mapping):
            plain |= flat(value, f"{prefix}{key}/")
        elif not isinstance(value, list):
            plain[f"{prefix}{key}"] = value
    return plain
