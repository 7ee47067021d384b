"""Which reader a file is for, decided by its content and not by its name; what is no log is refused with advice."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from mixlaw.errors import InputError
from mixlaw.logs.delimited import sniff
from mixlaw.logs.json_lines import parse
from mixlaw.logs.readers import (
    composer,
    data_mixing_laws,
    dclm,
    keyvalue,
    lighteval,
    llmc,
    lm_eval,
    megatron,
    megatron_golden,
    nanogpt,
    nanotron,
    nemo,
    olmes,
    olmo,
    open_lm,
    tensorboard,
    tensorboard_csv,
    torchtitan,
    wandb_folder,
    wandb_history,
    wandb_panel,
    wandb_runs,
)
from mixlaw.logs.readers.table_json import is_prefixed, one_per_line
from mixlaw.logs.rows import ANSI
from mixlaw.logs.source import Source

_BINARY = (
    (b"PK\x03\x04", "a zip archive (Excel workbooks are): save the sheet as CSV"),
    (b":W&B", "a binary .wandb file: export the run with wandb's run.scan_history() or the CSV button of a panel"),
    (b"\x80\x04", "a Python pickle, which is never read: write it as CSV"),
    (b"\x93NUMPY", "a NumPy array without names: write it as CSV"),
    (b"\x89HDF", "HDF5: write it as CSV"),
    (b"SQLite format 3", "a SQLite database: export the table as CSV"),
)
_SAMPLES = "per-sample results, not a log: give the results_*.json (or metrics) file beside it"
_REFUSED_KEYS: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"doc_id", "doc", "target"}), _SAMPLES),
    (frozenset({"doc_id", "native_id"}), _SAMPLES),
    (frozenset({"request_type", "doc"}), _SAMPLES),
    (frozenset({"doc_id", "arguments"}), _SAMPLES),
    (frozenset({"prediction", "reference"}), _SAMPLES),
    (frozenset({"input_ids"}), "tokenised samples, not a log"),
    (frozenset({"text", "id"}), "training documents, not a log"),
    (frozenset({"model_type", "architectures"}), "the configuration of a model, not a log"),
    (frozenset({"host", "program", "startedAt"}), "W&B metadata without metrics: give wandb-summary.json beside it"),
    (frozenset({"weight_map"}), "the index of a checkpoint, not a log"),
    (frozenset({"added_tokens", "model"}), "a tokenizer, not a log"),
)

_HF_CONSOLE = re.compile(r"^\{'(?:loss|eval_loss|train_runtime)': ", re.MULTILINE)

Check = Callable[[Mapping[str, Any]], bool]
JSON_KINDS: tuple[tuple[str, Check], ...] = (
    ("hf_trainer", lambda content: isinstance(content.get("log_history"), list) and "global_step" in content),
    ("wandb_folder", wandb_folder.is_summary),
    ("lighteval", lighteval.matches),
    ("open_lm", open_lm.matches),
    ("lm_eval", lm_eval.matches),
    ("dclm", dclm.matches),
    ("olmes", olmes.matches),
    ("megatron_golden", megatron_golden.matches),
)
"""Readers of one JSON object, and how to know their files."""

_CONSOLES: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("olmo", lambda line: olmo.BLOCK.search(line) is not None),
    ("composer", lambda line: composer.BLOCK.search(line) is not None or composer.EVENT.search(line) is not None),
    ("nanotron", nanotron.CONSOLE.matches),
    ("nemo", nemo.CONSOLE.matches),
    ("megatron", megatron.is_record),
    ("torchtitan", torchtitan.CONSOLE.matches),
    ("nanogpt", nanogpt.CONSOLE.matches),
    ("llmc", llmc.CONSOLE.matches),
    ("levanter", lambda line: '"tracker"' in line and '"event"' in line and "{" in line),
)
"""Readers of console output, and how to know a line of theirs; the first with a line is taken."""


def detect(source: Source) -> str:
    """Name of the reader for a file.

    Raises:
        InputError: for a file that is empty, binary or no log, saying what it looks like and what to do.
    """
    head = source.head
    if not head.strip(b" \t\r\n\0"):
        raise InputError("a table or a log", "an empty file", where=source.name)
    if head.startswith(b"PAR1"):
        return "parquet"
    if tensorboard.is_events(head):
        return "tensorboard"
    for magic, refusal in _BINARY:
        if head.startswith(magic):
            raise InputError("a table or a log", refusal, where=source.name)
    if source.encoding == "utf-8" and b"\0" in head:
        raise InputError("a table or a log", "a binary file", where=source.name)
    text = source.head_text.lstrip("\ufeff \t\r\n")
    if not text:
        raise InputError("a table or a log", "an empty file", where=source.name)
    if _HF_CONSOLE.match(text) or _HF_CONSOLE.search(text[:20_000]):
        what = "console output of the Hugging Face Trainer, which has no steps: give trainer_state.json instead"
        raise InputError("a table or a log", what, where=source.name)
    if text.startswith("{") or (text.startswith("[") and _is_array(text)):
        return _json_kind(text, source)
    return _console_kind(text, source) or _table_kind(text, source)


def _is_array(text: str) -> bool:
    """Whether text that begins with a bracket is the begin of a JSON array."""
    return bool(re.match(r"\[\s*(\{|\]|$)", text)) or isinstance(parse(text), list)


def _json_kind(text: str, source: Source) -> str:
    lines = one_per_line(source)
    first = parse(text.split("\n", 1)[0]) if lines else parse(text) if source.complete_head else _load_object(source)
    if isinstance(first, list):
        first = first[0] if first else {}
    if not isinstance(first, Mapping):
        return "levanter" if '"tracker"' in text[:2000] and '"event"' in text[:2000] else "json"
    _refuse(first, source)
    if "tracker" in first and "event" in first:
        return "levanter"
    if lines:
        if olmes.matches(first):
            return "olmes"
        return "lingua" if _is_lingua(text) else "json"
    kind = next((name for name, check in JSON_KINDS if check(first)), None)
    return kind or ("olmo_metrics" if _is_olmo_metrics(first) else "json")


def _load_object(source: Source) -> Any:
    """A JSON file larger than the head."""
    with source.reading(), source.text() as handle:
        return parse(handle.read().lstrip("\ufeff"))


def _is_lingua(text: str) -> bool:
    return '"global_step"' in text and ('"loss/out"' in text or '"acc_step"' in text or '"optim/' in text)


def _is_olmo_metrics(content: Mapping[str, Any]) -> bool:
    names = [
        k for k, v in content.items() if isinstance(v, int | float) and re.match(r"(train|eval|throughput|optim)/", k)
    ]
    return len(names) > 0 and len(names) >= len(content) // 2


def _refuse(content: Mapping[str, Any], source: Source) -> None:
    """Refuse JSON that is no log.

    Raises:
        InputError: saying what it is and what to give instead.
    """
    for keys, what in _REFUSED_KEYS:
        if keys <= set(content) and "log_history" not in content:
            raise InputError("a table or a log", what, where=source.name)


def _console_kind(text: str, source: Source) -> str | None:
    lines = [ANSI.sub("", piece) for line in text.splitlines() for piece in line.split("\r")]
    for name, check in _CONSOLES:
        if any(check(line) for line in lines):
            return name
    if sum(map(keyvalue.is_record, lines)) > max(0, sum(map(bool, map(str.strip, lines))) // 10):
        return "keyvalue"
    filled = [line for line in lines if line.strip()][:20]
    paths = [line for line in filled if data_mixing_laws.LINE.fullmatch(line)]
    return "data_mixing_laws" if len(paths) > len(filled) // 2 else None


def _table_kind(text: str, source: Source) -> str:
    if is_prefixed(text):
        return "json"
    layout = sniff(source)
    first = text.split("\n", 1)[0].strip()
    if len(layout.names) == 1 and (" " in layout.names[0] or re.match(r"[\w\-]+:|---$|#|<", first)):
        hint = "Readable are CSV and JSON tables and the logs and results of many trainers: see the README."
        raise InputError("a table or a log", f"text that begins {first[:60]!r}", where=source.name, hint=hint)
    names = layout.names
    if {"Tasks", "Metric", "Value"} <= set(names):
        what = "the console table of lm-evaluation-harness, rounded to 4 digits: give its results_*.json"
        raise InputError("a table or a log", what, where=source.name)
    if tuple(n.strip() for n in names) == tensorboard_csv.HEADER:
        return "tensorboard_csv"
    if wandb_panel.is_panel(names):
        return "wandb_panel"
    if wandb_runs.is_runs_table(names):
        return "wandb_runs"
    if wandb_history.is_history(names):
        return "wandb_history"
    return "litgpt" if _is_litgpt(names) else "csv"


def _is_litgpt(names: tuple[str, ...]) -> bool:
    return "iter" in names and "step" in names and bool({"val_loss", "loss"} & set(names)) and "run" not in names
