"""Composer and LLM Foundry: console blocks ``[batch=20/3200]:`` and the file logger's ``[BATCH][step=2]: {json}``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from mixlaw.logs.json_lines import parse
from mixlaw.logs.options import IngestOptions
from mixlaw.logs.part import Part
from mixlaw.logs.rows import Rows, number, numbered, part_of
from mixlaw.logs.source import Source

BLOCK = re.compile(r"\[batch=(\d+)(?:/\d+)?\]:")
EVENT = re.compile(r"\[(?:BATCH|EPOCH|FIT|EVAL)\]\[(?:batch|step)=(\d+)\]:\s*(\{.*)")
_VALUE = re.compile(r"^\s*(?:Train|Eval)?\s*([\w./\- ]*?/[\w./\-@ ]+):\s*(\S+)\s*$")
_PREFIX = re.compile(r"^\[std(?:out|err)\]:\s?")

NAMES = {
    "step": "step",
    "time/token": "tokens",
    "time/tokens": "tokens",
    "time/batch": "",
    "time/sample": "meta/samples",
    "loss/train/total": "meta/train_loss",
    "metrics/train/LanguageCrossEntropy": "meta/train_loss",
    "metrics/train/LanguagePerplexity": "",
}


def read_composer(source: Source, options: IngestOptions, *, paired: bool = False) -> Iterator[Part]:
    """Read the console output or the log file of Composer."""
    log = Rows(console=True)
    row: dict[str, Any] = {}
    begun = 0
    for line, text in numbered(source):
        plain = _PREFIX.sub("", text)
        if match := EVENT.search(plain):
            values = parse(match[2])
            if isinstance(values, dict):
                log.add(line, {"step": int(match[1]), **{_named(k): v for k, v in values.items() if _is_cell(v)}})
            else:
                log.skip("event cut short", f"{source.name}, line {line}")
        elif match := BLOCK.search(plain):
            _close(log, begun, row)
            row, begun = {"step": int(match[1])}, line
        elif row and (value := _VALUE.match(plain)) and (found := number(value[2])) is not None:
            row[_named(value[1].strip())] = found
    _close(log, begun, row)
    yield part_of(log, source, options, kind="composer", names=NAMES)


def _close(log: Rows, line: int, row: dict[str, Any]) -> None:
    if row:
        log.add(line, row)


def _named(name: str) -> str:
    """Scores of the evaluation gauntlet as benchmarks; other names as they are."""
    return re.sub(r"^icl/metrics/eval_gauntlet/", "bench/gauntlet/", name)


def _is_cell(value: Any) -> bool:
    return not isinstance(value, dict | list)
