"""Console output of Megatron-LM, Megatron-DeepSpeed, Megatron-Bridge and GPT-NeoX.

Training lines read ``iteration 100/ 50000 | consumed samples: 25600 | ... | lm loss: 6.25E+00 | ...``, validation lines
``validation loss at iteration 1000 | lm loss value: 2.72E+00 | lm loss PPL: ... |``, with many variants. The printed
training loss is the mean over the log interval.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from mixlaw.errors import InputError
from mixlaw.logs.options import IngestOptions
from mixlaw.logs.part import Part
from mixlaw.logs.rows import Rows, number, numbered, part_of
from mixlaw.logs.source import Source

TRAIN = re.compile(r"(?:^|[\s\]:])iteration:?\s+(\d+)(?:\s*/\s*(\d+))?\s*\|")
_AT = (
    r"(?:at )?(?:iteration:?\s+(?P<step>\d+)|(?P<end>the end of training)[^|]*?)"
    r"(?: on (?P<on>\w+) set)?(?: for [^|]*?)?\s*\|"
)
VALID = re.compile(rf"(?P<kind>valid(?:ation)?|test)(?:[-_\s](?P<set>[^|]*?))?\s*loss {_AT}", re.IGNORECASE)
CHART = re.compile(rf"(?P<set>[\w\-./ ]*?)\s*results {_AT}", re.IGNORECASE)
_ARGUMENT = re.compile(r"^\s*(?:\S+:\s*)?(seq_length|seq-length|encoder_seq_length)\s*[.:=\s]{2,}\s*(\d+)\s*$")
_FOLDED_LINES = 6

NAMES = {
    "step": "step",
    "consumed samples": "meta/samples",
    "consumed tokens": "tokens",
    "lm loss": "meta/train_loss",
    "lm_loss": "meta/train_loss",
    "loss": "meta/train_loss",
    "reduced_train_loss": "meta/train_loss",
    "grad norm": "meta/grad_norm",
    "grad_norm": "meta/grad_norm",
    "number of nan iterations": "meta/nan_iterations",
    "global batch size": "meta/global_batch",
    "gloabl batch size": "meta/global_batch",
    "sequence length": "meta/sequence_length",
}


def read_megatron(source: Source, options: IngestOptions, *, paired: bool = False) -> Iterator[Part]:
    """Read a console log in the style of Megatron.

    Raises:
        InputError: when the log holds two runs of different length that both begin at the start.
    """
    log = Rows(console=True)
    totals: list[tuple[int, int, int]] = []
    length: int | None = None
    last = 0
    for line, text in _records(source):
        row = _validation(text, last)
        if row is not None:
            log.add(line, row)
        elif train := TRAIN.search(text):
            last = int(train[1])
            totals.append((line, last, int(train[2] or 0)))
            log.add(line, {"step": last, **_fields(text[train.end() :])})
        elif argument := _ARGUMENT.match(text):
            length = int(argument[2])
    _note_restarts(totals, log, source)
    if length is not None:
        log.fill(**{"sequence length": length})
    yield part_of(log, source, options, kind="megatron", names=NAMES)


def _records(source: Source) -> Iterator[tuple[int, str]]:
    """Lines, with those that a terminal folded put together again."""
    held: tuple[int, str] | None = None
    folds = 0
    for line, text in numbered(source):
        begins = is_record(text)
        if held is not None and not begins and text.strip() and folds < _FOLDED_LINES:
            held, folds = (held[0], held[1].rstrip("\n") + text), folds + 1
            if text.rstrip().endswith("|"):
                yield held
                held = None
            continue
        if held is not None:
            yield held
            held = None
        if begins and not text.rstrip().endswith("|"):
            held, folds = (line, text), 0
        else:
            yield line, text
    if held is not None:
        yield held


def is_record(text: str) -> bool:
    """Whether a line begins a training or validation record."""
    return "|" in text and any(p.search(text) is not None for p in (TRAIN, VALID, CHART))


def _fields(text: str) -> dict[str, Any]:
    """``name: value`` between bars; a value that is no number, or that no bar ends, is left out."""
    fields = {}
    for piece in text.split("|")[:-1]:
        name, colon, value = piece.rpartition(":")
        found = number(value) if colon else None
        if found is not None:
            fields[" ".join(name.split())] = found
    return fields


def _validation(text: str, last: int) -> dict[str, Any] | None:
    """The row of a validation line: one loss per line, named by its set."""
    match = VALID.search(text) or CHART.search(text)
    if match is None:
        return None
    fields = _fields(text[match.end() :])
    losses = {k: v for k, v in fields.items() if re.fullmatch(r"(lm[ _])?loss( value)?", k) or k == "lm_loss value"}
    if not losses:
        return None
    found = match.groupdict()
    target = _target(found)
    step = int(found["step"]) if found["step"] else last
    return {"step": step, f"loss/{target}": next(iter(losses.values()))}


def _target(found: dict[str, str | None]) -> str:
    name = (found.get("set") or "").strip(" -_:")
    name = re.sub(r"^(?:.*[\]:]\s*)", "", name) if not found.get("kind") else name
    kind = (found.get("on") or found.get("kind") or "").lower()
    if not name:
        return "test" if kind == "test" else "validation"
    name = re.sub(r"^(?:lm[ _])?loss$", "", name)
    name = name.rstrip("/").rsplit("/", 1)[-1]
    plain = name.lower() in ("validation", "valid", "test", "eval")
    return (name.lower() if plain else name) or "validation"


def _note_restarts(totals: list[tuple[int, int, int]], log: Rows, source: Source) -> None:
    """Count backward jumps; a second beginning with another number of iterations is another run."""
    jumps = 0
    for (_, before, total), (line, step, new_total) in pairwise(totals):
        if step >= before:
            continue
        jumps += 1
        if step <= totals[0][1] and total != new_total:
            raise InputError(
                "one run in a file",
                f"a run of {total:,} iterations and then one of {new_total:,} from the start",
                where=f"{source.name}, line {line}",
                hint="Split the file: each run needs its own name.",
            )
    if jumps:
        log.notes.append(f"{source.name}: {jumps} restarts (the iteration goes back); the last written counts")
