"""OLMo and OLMo-core: console blocks ``[step=10/1000,epoch=1]`` with indented ``name=value`` lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from mixlaw.logs.options import IngestOptions
from mixlaw.logs.part import Part
from mixlaw.logs.rows import Rows, number, numbered, part_of
from mixlaw.logs.source import Source

BLOCK = re.compile(r"\[step=([\d,]+)/[\d,?]+")
_VALUE = re.compile(r"^\s+(\S.*?)=(\S+)\s*$")

NAMES = {
    "step": "step",
    "throughput/total_tokens": "tokens",
    "throughput/total tokens": "tokens",
    "train/CE loss": "meta/train_loss",
    "train/CrossEntropyLoss": "meta/train_loss",
    "train/PPL": "",
    "train/Perplexity": "",
    "optim/total grad norm": "meta/grad_norm",
    "optim/total_grad_norm": "meta/grad_norm",
}


def read_olmo(source: Source, options: IngestOptions, *, paired: bool = False) -> Iterator[Part]:
    """Read the console output of OLMo or OLMo-core."""
    log = Rows(console=True)
    row: dict[str, Any] | None = None
    begun = 0
    for line, text in numbered(source):
        if match := BLOCK.search(text):
            if row is not None:
                log.add(begun, row)
            row, begun = {"step": int(match[1].replace(",", ""))}, line
        elif row is not None and (value := _VALUE.match(text)) and (found := number(value[2])) is not None:
            row[value[1]] = found
        elif row is not None and text.strip() and not text[0].isspace():
            log.add(begun, row)
            row = None
    if row is not None:
        log.add(begun, row)
    yield part_of(log, source, options, kind="olmo", names=NAMES)
