"""Which reader a file is for, decided by its content and not by its name."""

from __future__ import annotations

import re

from mixlaw.errors import InputError
from mixlaw.logs.source import Source
from mixlaw.logs.table_json import parse

_BINARY = (
    (b"PAR1", "parquet", ""),
    (b"PK\x03\x04", "", "a zip archive (Excel workbooks are): save the sheet as CSV"),
    (b":W&B", "", "a binary .wandb file: export the run with wandb's run.scan_history() or the CSV button of a panel"),
    (b"\x80\x04", "", "a Python pickle, which is never read: write it as CSV"),
    (b"\x93NUMPY", "", "a NumPy array without names: write it as CSV"),
    (b"\x89HDF", "", "HDF5: write it as CSV"),
    (b"SQLite format 3", "", "a SQLite database: export the table as CSV"),
)


def detect(source: Source) -> str:
    """Name of the reader for a file.

    Raises:
        InputError: for a file that is empty, binary or no log, saying what it looks like and what to do.
    """
    head = source.head
    if not head.strip():
        raise InputError("a table or a log", "an empty file", where=source.name)
    for magic, reader, refusal in _BINARY:
        if head.startswith(magic):
            if reader:
                return reader
            raise InputError("a table or a log", refusal, where=source.name)
    if source.encoding == "utf-8" and b"\0" in head:
        raise InputError("a table or a log", "a binary file", where=source.name)
    text = source.head_text.lstrip("﻿ \t\r\n")
    return _text_kind(text, source)


def _text_kind(text: str, source: Source) -> str:
    first = text.split("\n", 1)[0].strip()
    if first.startswith("{") or (first.startswith("[") and isinstance_json_array(text)):
        return "json"
    if re.search(r"[,;\t|]", first) or len(first.split()) == 1:
        return "csv"
    hint = "Readable are CSV and JSON tables and the logs of trainers; see the list in the README."
    raise InputError("a table or a log", f"text that begins {first[:60]!r}", where=source.name, hint=hint)


def isinstance_json_array(text: str) -> bool:
    """Whether text that begins with a bracket is the begin of a JSON array of objects."""
    return bool(re.match(r"\[\s*(\{|\]|$)", text)) or isinstance(parse(text), list)
