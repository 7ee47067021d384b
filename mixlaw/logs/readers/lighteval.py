"""LightEval: ``results."<suite>|<task>|<shots>"`` with an ``all`` row that averages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from mixlaw.errors import InputError
from mixlaw.logs.evals import finish, score
from mixlaw.logs.options import IngestOptions
from mixlaw.logs.part import Part
from mixlaw.logs.readers.table_json import load
from mixlaw.logs.source import Source


def matches(content: Mapping[str, Any]) -> bool:
    """Whether a JSON object is a file of this kind."""
    return "config_general" in content and isinstance(content.get("results"), Mapping)


def read_lighteval(source: Source, options: IngestOptions, *, paired: bool = False) -> Iterator[Part]:
    """Read LightEval results; the rows of averages are left out."""
    content = load(source)
    row: dict[str, Any] = {}
    for task, metrics in content["results"].items():
        name = re.sub(r"\|\d+(?:\|\d+)?$", "", str(task))
        name = re.sub(r"^[^|]*\|", "", name)
        if name != "all" and not name.endswith(("_average", ":_average|0")) and isinstance(metrics, Mapping):
            row |= score(name, metrics)
    if not row:
        raise InputError("a task with an accuracy", ", ".join(content["results"]), where=source.name)
    config = content["config_general"]
    model = config.get("model_name") or (config.get("model_config") or {}).get("model_name")
    yield finish(row, source, options, kind="lighteval", models=(model, source.path.parent.name), notes=[])
