"""JSON logger of Levanter and Marin: ``{"tracker": "json_logger", "event": "log", "metrics": {...}}``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mixlaw.logs.json_lines import flat, objects
from mixlaw.logs.options import IngestOptions
from mixlaw.logs.part import Part
from mixlaw.logs.rows import Rows, part_of
from mixlaw.logs.source import Source

NAMES = {
    "step": "step",
    "throughput/total_tokens": "tokens",
    "train/loss": "meta/train_loss",
    "grad/norm/total": "meta/grad_norm",
}


def read_levanter(source: Source, options: IngestOptions, *, paired: bool = False) -> Iterator[Part]:
    """Read the JSON logger's lines, which may stand behind a time stamp; other events are counted and left out."""
    log = Rows()
    for line, row in objects(source, log):
        metrics = row.get("metrics", row.get("data"))
        if not isinstance(metrics, Mapping) or not str(row.get("event", "")).startswith("log"):
            log.skip("event without metrics", f"{source.name}, line {line}")
            continue
        step = row.get("step", metrics.get("step"))
        if step is None:
            log.skip("event without a step (configuration or summary)", f"{source.name}, line {line}")
            continue
        log.add(line, {**flat(metrics), "step": step})
    yield part_of(log, source, options, kind="levanter", names=NAMES)
