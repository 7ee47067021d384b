"""lm-evaluation-harness 0.3 and 0.4: ``results.<task>["acc,none"]``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from mixlaw.errors import InputError
from mixlaw.logs.evals import finish, metric_name, score
from mixlaw.logs.options import IngestOptions
from mixlaw.logs.part import Part
from mixlaw.logs.readers.table_json import load
from mixlaw.logs.source import Source


def matches(content: Mapping[str, Any]) -> bool:
    """Whether a JSON object is a file of this kind."""
    results = content.get("results")
    return isinstance(results, Mapping) and bool(results) and all(isinstance(v, Mapping) for v in results.values())


def read_lm_eval(source: Source, options: IngestOptions, *, paired: bool = False) -> Iterator[Part]:
    """Read results of lm-evaluation-harness 0.3 or 0.4; groups count once."""
    content = load(source)
    results = content.get("results")
    if not isinstance(results, Mapping) or not results:
        raise InputError("results: with tasks", repr(results)[:40], where=source.name)
    row: dict[str, Any] = {}
    for task, metrics in results.items():
        if isinstance(metrics, Mapping):
            row |= score(str(task), _first_filter(metrics))
    if not row:
        raise InputError("a task with an accuracy or bits per byte", ", ".join(results), where=source.name)
    config = content.get("config") or {}
    arguments = config.get("model_args")
    if isinstance(arguments, Mapping):
        arguments = ",".join(f"{k}={v}" for k, v in arguments.items())
    part = finish(
        row,
        source,
        options,
        kind="lm_eval",
        models=(arguments, content.get("model_name"), source.path.parent.name),
        notes=[],
    )
    limit = config.get("limit")
    yield replace(part, limit=float(limit)) if isinstance(limit, int | float) and limit else part


def _first_filter(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """Metrics by name without filter: ``none`` before the others, the first of several others."""
    ranked = sorted(metrics.items(), key=lambda item: not str(item[0]).endswith(",none"))
    plain: dict[str, Any] = {}
    for name, value in ranked:
        plain.setdefault(metric_name(str(name)), value)
    return plain
