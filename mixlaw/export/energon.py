"""Megatron-Energon: a metadataset whose ``blend`` weights count samples (documents, for text)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mixlaw.errors import InputError
from mixlaw.export.base import About, Entry, Meaning, Order, Phase, Reading, Written
from mixlaw.export.content import mapping_at, mappings_at, parse, weight
from mixlaw.export.convert import LENGTH, probabilities
from mixlaw.files import to_yaml

_HEAD = {"__module__": "megatron.energon", "__class__": "MetadatasetV2"}


class Energon:
    """The metadataset file."""

    about = About(
        "energon", "Megatron-Energon metadataset.yaml", Meaning.PROBABILITY, "August 2026: documentation", (LENGTH,)
    )

    def write(self, order: Order) -> Written:
        """The ``train`` split as a blend."""
        shares = probabilities(order, "Energon draws samples")
        paths = order.single_paths()
        blend = [{"weight": share, "path": paths[name]} for name, share in shares.items()]
        return Written(to_yaml({**_HEAD, "splits": {"train": {"blend": blend}}}))

    def read(self, text: str) -> Reading:
        """Read the ``train`` split: ``blend`` by weight, ``blend_epochized`` by repetitions."""
        content = parse(text)
        if content.get("__class__") != _HEAD["__class__"]:
            raise InputError("__class__: MetadatasetV2", repr(content.get("__class__")))
        train = mapping_at(content, "splits", "train")
        if "blend_epochized" in train:
            items = mappings_at(train, "blend_epochized")
            return _reading(items, "repetitions", Meaning.PASSES)
        return _reading(mappings_at(train, "blend"), "weight", Meaning.PROBABILITY)


def _reading(items: list[dict[str, Any]], key: str, meaning: Meaning) -> Reading:
    return Reading((Phase(tuple(_entry(item, key, meaning) for item in items)),))


def _entry(item: Mapping[str, Any], key: str, meaning: Meaning) -> Entry:
    if not isinstance(item.get("path"), str):
        raise InputError("a path in every item of the blend", repr(dict(item))[:80])
    return Entry(item["path"], weight(item.get(key, 1), item["path"]), meaning)
