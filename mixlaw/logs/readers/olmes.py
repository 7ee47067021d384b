"""OLMES: one object per task with ``metrics.primary_score``, alone, one a line, or under ``tasks``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mixlaw.errors import InputError
from mixlaw.logs.evals import finish
from mixlaw.logs.json_lines import parse
from mixlaw.logs.options import IngestOptions
from mixlaw.logs.part import Part, Skip, skipped_part
from mixlaw.logs.readers.table_json import load, one_per_line
from mixlaw.logs.source import Source


def matches(content: Mapping[str, Any]) -> bool:
    """Whether a JSON object is a file of this kind."""
    tasks = content.get("tasks")
    first = tasks[0] if isinstance(tasks, list) and tasks and isinstance(tasks[0], Mapping) else content
    return "task_name" in first and "metrics" in first


def read_olmes(source: Source, options: IngestOptions, *, paired: bool = False) -> Iterator[Part]:
    """Read OLMES metrics: one object per task, by its primary metric; aggregates beside their members are left out."""
    tasks = _olmes_tasks(source)
    rows: dict[str, dict[str, Any]] = {}
    models: tuple[object, ...] = ()
    aggregates = 0
    for task in tasks:
        name = str(task["task_name"])
        if "::" in name and (task.get("task_config") or {}).get("metadata", {}).get("num_tasks"):
            aggregates += 1
            continue
        metrics = task.get("metrics") or {}
        score = metrics.get("primary_score", metrics.get((task.get("task_config") or {}).get("primary_metric")))
        row = rows.setdefault("", {})
        if isinstance(score, int | float):
            bits = "bits_per_byte" in str((task.get("task_config") or {}).get("primary_metric", ""))
            row[f"{name}/bits_per_byte" if bits else f"bench/{name}"] = float(score)
        if isinstance(metrics.get("bits_per_byte"), int | float):
            row[f"{name}/bits_per_byte"] = float(metrics["bits_per_byte"])
        config = task.get("model_config") or {}
        models = (config.get("model_path"), config.get("revision"), config.get("model"), *models)[:6]
    if aggregates and not rows.get(""):
        yield skipped_part(source.name, "olmes", Skip("aggregate beside its members", aggregates, source.name))
        return
    if not rows.get(""):
        raise InputError("a task with a primary score", "none", where=source.name)
    notes = [f"{aggregates} aggregates beside their members left out"] if aggregates else []
    yield finish(rows[""], source, options, kind="olmes", models=models, notes=notes)


def _olmes_tasks(source: Source) -> list[dict[str, Any]]:
    if one_per_line(source):
        rows = [parse(line) for line in source.lines() if line.strip()]
        return [r for r in rows if isinstance(r, dict) and "task_name" in r]
    content = load(source)
    tasks = content.get("tasks") if isinstance(content.get("tasks"), list) else [content]
    return [t for t in tasks if isinstance(t, dict) and "task_name" in t]
