"""W&B local folder: ``files/wandb-summary.json`` (last values) with ``files/config.yaml`` beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from mixlaw.errors import InputError
from mixlaw.files import read_mapping
from mixlaw.logs.json_lines import flat
from mixlaw.logs.names import recognise, stated_units
from mixlaw.logs.numbers import canonical
from mixlaw.logs.options import IngestOptions, Rule
from mixlaw.logs.part import Part
from mixlaw.logs.readers.table_json import load
from mixlaw.logs.source import Source

_STEPS = ("trainer/global_step", "train/global_step", "global_step", "iteration", "iter", "step", "_step")


def is_summary(content: Any) -> bool:
    """Whether a JSON object is a run's summary."""
    keys = {"_step", "_runtime", "_timestamp", "_wandb"}
    return isinstance(content, Mapping) and len(keys & set(content)) >= 2 and "event" not in content


def read_wandb_folder(source: Source, options: IngestOptions, *, paired: bool = False) -> Iterator[Part]:
    """Read a summary and the configuration beside it.

    Raises:
        InputError: for a summary that is no JSON object.
    """
    content = load(source)
    if not isinstance(content, Mapping):
        raise InputError("a JSON object", type(content).__name__, where=source.name)
    row = {k: v for k, v in flat(content).items() if not k.startswith("_wandb")}
    step = next((n for n in _STEPS if n in row), None)
    config = source.path.with_name("config.yaml")
    if config.is_file():
        row = {**_config(read_mapping(config)), **row}
    frame = pd.DataFrame({k: pd.Series([v], dtype=object) for k, v in row.items()})
    rules = tuple(Rule(n, "step" if n == step else "") for n in _STEPS)
    plan = recognise(frame, IngestOptions(rules=(*options.rules, *rules), units=options.units))
    used = [c for c in plan.used if c.name != "run"]
    yield Part(
        source=source.name,
        kind="wandb_folder",
        frame=pd.DataFrame(canonical(frame, used, where=lambda _: source.name), index=frame.index),
        lines=np.ones(1, dtype=np.int64),
        columns=plan.columns,
        units=stated_units(plan.columns),
        notes=("a W&B summary holds the last value of each metric only", *plan.notes),
    )


def _config(content: Mapping[str, Any]) -> dict[str, Any]:
    """Configuration without the wrapping ``{desc, value}``; lists and W&B's own keys are left out."""
    plain = {
        k: v["value"] if isinstance(v, Mapping) and "value" in v else v
        for k, v in content.items()
        if k not in ("_wandb", "wandb_version")
    }
    return flat(plain)
