"""Nanotron: ``data_stages``, each with ``dataset_folder`` and ``dataset_weights``; shares of fixed-length sequences.

The mapping of folder to weight that Nanotron's own docs show is refused by its parser, as are unknown keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from mixlaw.errors import InputError
from mixlaw.export.base import About, Entry, Meaning, Order, Phase, Reading, Written
from mixlaw.export.content import at, keyed, list_at, mappings_at, parse, weight
from mixlaw.export.stages import Step, steps
from mixlaw.files import to_yaml


class Nanotron:
    """The stages; one mixture throughout is one stage."""

    about = About("nanotron", "Nanotron data_stages", Meaning.SHARE, "April 2026: config classes run", staged=True)

    def write(self, order: Order) -> Written:
        """One entry of ``data_stages`` per stage; Nanotron counts steps from 1."""
        paths = order.single_paths()
        placed, remarks = steps(order)
        return Written(to_yaml({"data_stages": [_stage(i, step, paths) for i, step in enumerate(placed)]}), remarks)

    def read(self, text: str) -> Reading:
        """Read folders and weights of every stage."""
        found = [_phase(stage) for stage in mappings_at(parse(text), "data_stages")]
        starts = [phase.start for phase in found]
        if starts[0] != 0 or any(a >= b for a, b in pairwise(starts)):
            raise InputError(
                "start_training_step 1 for the first stage, then rising",
                ", ".join(str(start + 1) for start in starts),
            )
        return Reading(tuple(found))


def _stage(number: int, step: Step, paths: Mapping[str, str]) -> dict[str, Any]:
    return {
        "name": f"stage_{number + 1}",
        "start_training_step": step.start + 1,
        "data": {
            "seed": 42,
            "num_loading_workers": 1,
            "dataset": {
                "dataset_folder": [paths[name] for name in step.shares],
                "dataset_weights": list(step.shares.values()),
            },
        },
    }


def _phase(stage: Mapping[str, Any]) -> Phase:
    dataset = at(stage, "data", "dataset")
    folders = at(dataset, "dataset_folder")
    if isinstance(folders, Mapping):
        raise InputError("lists dataset_folder and dataset_weights", "a mapping of folders (Nanotron refuses it)")
    folders = [folders] if isinstance(folders, str) else list_at(dataset, "dataset_folder")
    weights = [1.0] if len(folders) == 1 and not dataset.get("dataset_weights") else list_at(dataset, "dataset_weights")
    numbers = keyed(folders, weights, "dataset_weights")
    start = weight(stage.get("start_training_step"), "start_training_step", zero=False)
    return Phase(tuple(Entry(key, number, Meaning.SHARE) for key, number in numbers.items()), int(start) - 1)
