"""Lingua: ``data.sources``, subfolder to weight; a JSONL line is drawn, so weights are document probabilities."""

from __future__ import annotations

from mixlaw.export.base import About, Meaning, Order, Reading, Written
from mixlaw.export.content import mapping_at, parse, weight
from mixlaw.export.convert import LENGTH, probabilities
from mixlaw.export.text import refuse_words
from mixlaw.files import to_yaml


class Lingua:
    """The mapping of sources."""

    about = About("lingua", "Meta Lingua data.sources", Meaning.PROBABILITY, "June 2025: its sampler run", (LENGTH,))

    def write(self, order: Order) -> Written:
        """Subfolders of ``data.root_dir`` and their weights."""
        shares = probabilities(order, "Lingua draws documents")
        paths = order.single_paths()
        refuse_words(paths)
        sources = {paths[name]: share for name, share in shares.items()}
        return Written(to_yaml({"data": {"sources": sources}}), ("set data.root_dir: sources are folders below it",))

    def read(self, text: str) -> Reading:
        """Read the weights; Lingua normalises them."""
        sources = mapping_at(parse(text), "data", "sources")
        return Reading.flat({key: weight(value, key) for key, value in sources.items()}, Meaning.PROBABILITY)
