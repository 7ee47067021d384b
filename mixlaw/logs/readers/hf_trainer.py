"""``trainer_state.json`` of the Hugging Face Trainer: training, evaluation and prediction rows in one history."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from mixlaw.errors import InputError
from mixlaw.logs.options import IngestOptions
from mixlaw.logs.part import Part
from mixlaw.logs.readers.table_json import load
from mixlaw.logs.rows import Rows, part_of
from mixlaw.logs.source import Source

NAMES = {
    "step": "step",
    "epoch": "meta/epoch",
    "loss": "meta/train_loss",
    "grad_norm": "meta/grad_norm",
    "train_loss": "",
    "num_input_tokens_seen": "tokens",
    "eval_perplexity": "",
    "perplexity": "",
}
_SPEED = re.compile(r".*(?:runtime|per_second|samples|steps|jit_compilation_time|mem_\w+)")


def read_hf_trainer(source: Source, options: IngestOptions, *, paired: bool = False) -> Iterator[Part]:
    """Read the history of a trainer state.

    Raises:
        InputError: for a state without a history.
    """
    state = load(source)
    history = state.get("log_history")
    if not isinstance(history, list) or not history:
        raise InputError("log_history with rows", repr(history)[:40], where=source.name)
    log = Rows()
    for number, row in enumerate(history, start=1):
        if not isinstance(row, dict) or row.get("step") is None:
            log.skip("row without a step (a prediction)", f"{source.name}, log_history entry {number}")
            continue
        log.add(number, _metrics(row))
    yield part_of(log, source, options, kind="hf_trainer", names=NAMES)


def _metrics(row: dict[str, Any]) -> dict[str, Any]:
    """The row without timings; ``num_input_tokens_seen`` of 0 means that nobody counted."""
    kept = {k: v for k, v in row.items() if not _SPEED.fullmatch(k) and not isinstance(v, dict | list)}
    if not kept.get("num_input_tokens_seen"):
        kept.pop("num_input_tokens_seen", None)
    return kept


def state_step(source: Source) -> int:
    """Steps that the state has seen, to find the newest of several checkpoints."""
    state = load(source)
    step = state.get("global_step") if isinstance(state, dict) else None
    return int(step) if isinstance(step, int | float) else -1
