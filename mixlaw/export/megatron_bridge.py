"""Megatron-Bridge pretraining: ``dataset.data_path`` holds Megatron's words; ``finalize`` turns them into ``blend``."""

from __future__ import annotations

from typing import Any

from mixlaw.errors import InputError
from mixlaw.export.base import About, Meaning, Order, Reading, Written
from mixlaw.export.content import keyed, list_at, mapping_at, parse
from mixlaw.export.megatron import blend, read_blend, words_of
from mixlaw.files import to_yaml


class MegatronBridge:
    """The fields of ``GPTDatasetConfig``."""

    about = About(
        "megatron-bridge",
        "Megatron-Bridge dataset.data_path (YAML or override)",
        Meaning.SHARE,
        "snapshot of August 2026: source read",
    )

    def write(self, order: Order) -> Written:
        """Weight and prefix in turn under ``dataset.data_path``."""
        return Written(to_yaml({"dataset": {"data_path": blend(order)}}))

    def read(self, text: str) -> Reading:
        """Read ``data_path``, or ``blend`` as a pair of lists."""
        dataset = mapping_at(parse(text), "dataset")
        if "blend_weights" in dataset:
            raise InputError("dataset.data_path or dataset.blend", "blend_weights", hint="Bridge has no such field.")
        if "data_path" in dataset:
            return read_blend(words_of(dataset["data_path"], "dataset.data_path"))
        return Reading.flat(_pair(dataset), Meaning.SHARE)


def _pair(dataset: dict[str, Any]) -> dict[str, float]:
    pair = list_at(dataset, "blend")
    if len(pair) != 2 or not all(isinstance(part, list) for part in pair):
        raise InputError("dataset.blend to be [[paths], [weights]]", repr(pair)[:80])
    return keyed(pair[0], pair[1], "dataset.blend", zero=False)
