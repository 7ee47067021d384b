"""Lingua's ``metrics.jsonl``: slashed names, appended to on resume; ``loss/out`` is the training loss."""

from __future__ import annotations

from collections.abc import Iterator

from mixlaw.logs.json_lines import flat, objects
from mixlaw.logs.options import IngestOptions
from mixlaw.logs.part import Part
from mixlaw.logs.rows import Rows, part_of
from mixlaw.logs.source import Source

NAMES = {
    "global_step": "step",
    "step": "step",
    "optim/total_tokens": "tokens",
    "loss/out": "meta/train_loss",
    "optim/grad_norm": "meta/grad_norm",
    "acc_step": "",
}


def read_lingua(source: Source, options: IngestOptions, *, paired: bool = False) -> Iterator[Part]:
    """Read ``metrics.jsonl`` of Lingua: one object per logged step, appended to on resume."""
    log = Rows()
    for line, row in objects(source, log):
        log.add(line, flat(row))
    yield part_of(log, source, options, kind="lingua", names=NAMES)
