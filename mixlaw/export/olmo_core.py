"""OLMo-core: the source mixture YAML of ``SourceMixtureList.from_yaml``; ratios are token shares that must sum to 1.

A source without repetition allowed (the default) stops the build when it is too small, so sources that the run
sees more than once get ``max_repetition_ratio``. A ratio of 0 would still draw a few sequences: such domains are
left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from mixlaw.errors import InputError
from mixlaw.export.base import About, Entry, Meaning, Order, Phase, Reading, Written
from mixlaw.export.content import mappings_at, only, parse, weight
from mixlaw.export.digits import trimmed
from mixlaw.files import to_yaml

_KEYS = ("source_name", "target_ratio", "paths", "max_repetition_ratio", "max_source_fraction")
_SLACK = 1.02
_TOLERANCE = 1e-5


class OlmoCore:
    """The list of sources."""

    about = About(
        "olmo-core",
        "OLMo-core SourceMixtureList.from_yaml(FILE)",
        Meaning.SHARE,
        "ai2-olmo-core 3.0.0: source mixture built",
    )

    def write(self, order: Order) -> Written:
        """One source per domain, with every path it has."""
        paths = order.paths()
        sources = [
            {"source_name": name, "target_ratio": ratio, "paths": list(paths[name]), **_repetition(order, name)}
            for name, ratio in order.exact.items()
        ]
        return Written(to_yaml({"sources": sources}), _unknown_supply(order))

    def read(self, text: str) -> Reading:
        """Read ``target_ratio`` by ``source_name``."""
        entries, warnings = [], []
        for source in mappings_at(parse(text), "sources"):
            name = str(source.get("source_name"))
            only(source, _KEYS, f"source {name!r}")
            ratio = weight(source.get("target_ratio"), name)
            if ratio == 0:
                warnings.append(f"{name}: a ratio of 0 still draws a few sequences: leave the source out")
            _check_source(source, name)
            entries.append(Entry(name, ratio, Meaning.SHARE))
        total = math.fsum(entry.number for entry in entries)
        if abs(total - 1) > _TOLERANCE:
            raise InputError("ratios that sum to 1 (OLMo-core allows 1e-5)", f"{total:.9g}")
        return Reading((Phase(tuple(entries)),), tuple(warnings))


def _check_source(source: Mapping[str, Any], name: str) -> None:
    where = f"source {name!r}"
    if not source.get("paths"):
        raise InputError("paths", "none", where=where)
    repetition = weight(source.get("max_repetition_ratio", 1.0), "max_repetition_ratio")
    fraction = weight(source.get("max_source_fraction", 1.0), "max_source_fraction", zero=False)
    if repetition < 1 or fraction > 1:
        raise InputError(
            "max_repetition_ratio of at least 1 and max_source_fraction of at most 1",
            f"{repetition:g} and {fraction:g}",
            where=where,
        )


def _repetition(order: Order, name: str) -> Mapping[str, Any]:
    supply = order.domains.get(name).available_tokens
    if supply is None or order.tokens is None:
        return {}
    epochs = order.shares[name] * order.tokens / supply
    if epochs <= 1:
        return {}
    return {"max_repetition_ratio": trimmed(Decimal(math.ceil(epochs * _SLACK * 100)).scaleb(-2))}


def _unknown_supply(order: Order) -> tuple[str, ...]:
    unknown = [name for name in order.shares if order.domains.get(name).available_tokens is None]
    if order.tokens is not None and not unknown:
        return ()
    what = "the run's tokens" if order.tokens is None else f"available_tokens of {', '.join(unknown)}"
    return (f"without {what} no max_repetition_ratio is written: OLMo-core stops at a source it would have to repeat",)
