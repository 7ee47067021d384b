"""open_lm records: ``hyperparameters`` and one result per validation set."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from mixlaw.logs.evals import finish
from mixlaw.logs.options import IngestOptions
from mixlaw.logs.part import Part
from mixlaw.logs.readers.table_json import load
from mixlaw.logs.source import Source
from mixlaw.units import parse_number


def matches(content: Mapping[str, Any]) -> bool:
    """Whether a JSON object is a file of this kind."""
    return isinstance(content.get("hyperparameters"), Mapping) and isinstance(content.get("results"), list)


def read_open_lm(source: Source, options: IngestOptions, *, paired: bool = False) -> Iterator[Part]:
    """Read an open_lm record: sizes and tokens, and a loss for each validation set."""
    content = load(source)
    hyper = content["hyperparameters"]
    row = {k: parse_number(hyper[k], name=k) for k in ("params", "tokens") if hyper.get(k) is not None}
    sets = [r for r in content["results"] if isinstance(r, Mapping)]
    for i, result in enumerate(sets):
        name = result.get("val_data") or result.get("val-data") or [f"set{i + 1}"]
        text = str(name[0] if isinstance(name, list) else name)
        label = _set_name(text)
        if isinstance(result.get("loss"), int | float):
            row[f"loss/{label}"] = result["loss"]
    model = content.get("name") or result_model(sets) or source.stem
    yield finish(row, source, options, kind="open_lm", models=(model,), notes=[])


def _set_name(path: str) -> str:
    """Name of a validation set: its file, or the folder of its shards."""
    parts = [re.sub(r"\.(?:tar|jsonl?|json\.gz|pipe)$", "", p) for p in path.rstrip("/").split("/")]
    named = [p for p in parts if p and not re.fullmatch(r"(?:shard|part|chunk)[-_]?[\d{}.]+|\d+", p)]
    return named[-1] if named else path


def result_model(results: list[Mapping[str, Any]]) -> str | None:
    """Name of the model that results belong to, where they say it."""
    return next((str(r["model"]) for r in results if r.get("model")), None)
