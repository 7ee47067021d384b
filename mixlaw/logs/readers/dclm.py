"""DCLM's gauntlet: ``eval_metrics.icl.<task>`` and ``eval_metrics.perplexity``, which is a mean loss."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mixlaw.logs.evals import finish
from mixlaw.logs.options import IngestOptions
from mixlaw.logs.part import Part
from mixlaw.logs.readers.table_json import load
from mixlaw.logs.source import Source


def matches(content: Mapping[str, Any]) -> bool:
    """Whether a JSON object is a file of this kind."""
    metrics = content.get("eval_metrics")
    return isinstance(metrics, Mapping) and bool({"icl", "perplexity", "downstream_perpexity"} & set(metrics))


def read_dclm(source: Source, options: IngestOptions, *, paired: bool = False) -> Iterator[Part]:
    """Read a DCLM evaluation: ICL accuracies, and ``perplexity``, which is a mean loss."""
    content = load(source)
    metrics = content["eval_metrics"]
    icl = metrics.get("icl") or {}
    row: dict[str, Any] = {f"bench/{k}": v for k, v in icl.items() if isinstance(v, int | float)}
    notes = []
    if isinstance(metrics.get("perplexity"), int | float):
        row["loss/perplexity_set"] = metrics["perplexity"]
        notes.append("eval_metrics.perplexity of DCLM is a mean loss in nats per token")
    names = (
        content.get("name"),
        (content.get("model") or {}).get("name") if isinstance(content.get("model"), dict) else None,
    )
    yield finish(row, source, options, kind="dclm", models=names, notes=notes)
