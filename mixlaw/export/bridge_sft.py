"""Megatron-Bridge fine-tuning: ``source_weights`` are epochs per source (2.5 = two passes and a half)."""

from __future__ import annotations

from mixlaw.export.base import About, Meaning, Order, Reading, Written
from mixlaw.export.content import keyed, list_at, mapping_at, parse
from mixlaw.export.convert import SUPPLY, passes
from mixlaw.files import to_yaml


class BridgeSft:
    """The two lists of the dataset's fields."""

    about = About(
        "bridge-sft",
        "Megatron-Bridge SFT dataset.source_weights",
        Meaning.PASSES,
        "August 2026: documentation",
        (SUPPLY, "tokens"),
    )

    def write(self, order: Order) -> Written:
        """Sources and epochs in the order of the mixture."""
        numbers = passes(order, "Bridge SFT takes epochs per source")
        paths = order.single_paths()
        lists = {"sources": [paths[name] for name in numbers], "source_weights": list(numbers.values())}
        return Written(to_yaml({"dataset": lists}), ("passes count rows: train for one epoch of the blend",))

    def read(self, text: str) -> Reading:
        """Read sources and epochs."""
        dataset = mapping_at(parse(text), "dataset")
        sources, weights = list_at(dataset, "sources"), list_at(dataset, "source_weights")
        return Reading.flat(keyed(sources, weights, "source_weights", zero=False), Meaning.PASSES)
