"""dolma: the reshard tool's ``source_prefixes``; ``sample_rate`` is passes over the files of a source.

7.7 means seven copies of every file and a random 70% of the *files*, at least one: with few files the fraction
is coarse.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mixlaw.errors import InputError
from mixlaw.export.base import About, Entry, Meaning, Order, Phase, Reading, Written
from mixlaw.export.content import mappings_at, parse, weight
from mixlaw.export.convert import SUPPLY, passes
from mixlaw.files import to_yaml

_RATES = {"sample_rate": Meaning.PASSES, "target_ratio": Meaning.SHARE}


class Dolma:
    """The sources of a reshard config."""

    about = About(
        "dolma", "dolma reshard source_prefixes", Meaning.PASSES, "dolma 1.2.1: source read", (SUPPLY, "tokens")
    )

    def write(self, order: Order) -> Written:
        """One prefix and rate per domain."""
        rates = passes(order, "dolma takes passes per source")
        paths = order.single_paths()
        sources = [{"prefix": paths[name], "sample_rate": rate} for name, rate in rates.items()]
        remarks = ("add destination_prefix and max_size_bytes", "fractions of a pass are drawn in whole files")
        return Written(to_yaml({"source_prefixes": sources}), remarks)

    def read(self, text: str) -> Reading:
        """Read the rates; newer versions also take ``target_ratio``, a share of all tokens."""
        entries = tuple(_entry(source) for source in mappings_at(parse(text), "source_prefixes"))
        if len({entry.meaning for entry in entries}) > 1:
            raise InputError("sample_rate on every source, or target_ratio on every source", "both")
        return Reading((Phase(entries),))


def _entry(source: Mapping[str, Any]) -> Entry:
    place = source.get("prefix") or ", ".join(map(str, source.get("paths") or ()))
    given = [key for key in _RATES if source.get(key) is not None]
    if not place or len(given) != 1:
        raise InputError("a prefix (or paths) and one of sample_rate and target_ratio", repr(dict(source))[:80])
    return Entry(str(place), weight(source[given[0]], str(place), zero=False), _RATES[given[0]])
