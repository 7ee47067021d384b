"""Console lines of other trainers: a step and ``name=value`` or ``name: value`` pairs, such as ``step=10 loss=3.5``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mixlaw.logs.metrics import metric
from mixlaw.logs.options import IngestOptions
from mixlaw.logs.part import Part
from mixlaw.logs.rows import NUMBER, Rows, numbered, part_of
from mixlaw.logs.source import Source

_STEP = re.compile(
    r"(?:^|[\s\[(|,])(?:global[_ ]?step|step|iteration|iter)s?\s*[=:#]?\s*(\d[\d,]*)(?:\s*/\s*\d+)?(?![\w.])", re.I
)
_PAIR = re.compile(rf"([A-Za-z][\w/.\-()@ ]*?)\s*[=:]\s*({NUMBER})(?![\w.])", re.IGNORECASE)
_CELL = re.compile(rf"\s*([A-Za-z][\w/.\-()@ ]*?)\s+({NUMBER})\s*", re.IGNORECASE)

NAMES = {
    "step": "step",
    "loss": "meta/train_loss",
    "tokens": "tokens",
    "total_tokens": "tokens",
    "tokens_seen": "tokens",
    "consumed_tokens": "tokens",
    "consumed_samples": "meta/samples",
    "grad_norm": "meta/grad_norm",
}


def read_keyvalue(source: Source, options: IngestOptions, *, paired: bool = False) -> Iterator[Part]:
    """Read lines that state a step and values; other lines are passed over."""
    log = Rows(console=True)
    for line, text in numbered(source):
        values = _values(text)
        if values:
            log.add(line, values)
    log.notes.append("a console log of no known trainer: lines with a step and name=value pairs are read")
    yield part_of(log, source, options, kind="keyvalue", names=NAMES)


def is_record(text: str) -> bool:
    """Whether a line states a step and a loss or score."""
    return any(name != "step" for name in _values(text))


def _values(text: str) -> dict[str, str]:
    """The step of a line and the values that are known metrics or counts; empty without both."""
    step = _STEP.search(text)
    if step is None or "loss" not in text.lower():
        return {}
    rest = text[: step.start()] + " " + text[step.end() :]
    pairs = _PAIR.findall(rest) + [m.groups() for cell in rest.split("|") if (m := _CELL.fullmatch(cell))]
    values = {_last_words(name): value.replace(",", "") for name, value in pairs}
    known = {n: v for n, v in values.items() if n in NAMES or metric(n) is not None}
    return {"step": step[1].replace(",", ""), **known} if known else {}


def _last_words(name: str) -> str:
    """The name right before the sign: in ``INFO val loss`` the words that make up a metric, else the last one."""
    words = name.split()
    two = " ".join(words[-2:])
    return two if len(words) > 1 and metric(two) is not None and metric(words[-1]) is not None else words[-1]
