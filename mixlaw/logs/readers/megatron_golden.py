"""Megatron golden values: metric -> ``{start_step, step_interval, values: {"1": 12.58}}``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mixlaw.logs.options import IngestOptions
from mixlaw.logs.part import Part
from mixlaw.logs.readers.table_json import load
from mixlaw.logs.rows import Rows, part_of
from mixlaw.logs.source import Source


def matches(content: Mapping[str, Any]) -> bool:
    """Whether a JSON object is a file of this kind."""
    return bool(content) and all(
        isinstance(v, Mapping) and isinstance(v.get("values"), Mapping) and "step_interval" in v
        for v in content.values()
    )


def read_golden(source: Source, options: IngestOptions, *, paired: bool = False) -> Iterator[Part]:
    """Read Megatron golden values: metric -> ``{start_step, end_step, step_interval, values: {"1": 12.58}}``."""
    content = load(source)
    by_step: dict[int, dict[str, Any]] = {}
    for name, series in content.items():
        for step, value in series["values"].items():
            by_step.setdefault(int(step), {})[str(name)] = value
    log = Rows()
    for i, step in enumerate(sorted(by_step), start=1):
        log.add(i, {"step": step, **by_step[step]})
    yield part_of(log, source, options, kind="megatron_golden", names={"step": "step", "lm loss": "meta/train_loss"})
