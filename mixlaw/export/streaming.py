"""MosaicML Streaming and LLM Foundry: ``streams``, each with one of ``proportion``, ``repeat`` or ``choose``.

All three count MDS samples. A proportion is a token share only where every sample is one block of the same
length; on raw text it is a document probability. Values go straight to ``Stream(**...)``, which refuses unknown
keys and numbers in quotes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from mixlaw.errors import InputError
from mixlaw.export.base import About, Entry, Meaning, Order, Phase, Reading, Written
from mixlaw.export.content import at, mapping_at, only, parse, weight
from mixlaw.export.convert import LENGTH, SUPPLY, counts, passes, probabilities
from mixlaw.files import to_yaml

_KINDS = ("proportion", "repeat", "choose")
_KEYS = (
    *("remote", "local", "split", *_KINDS),
    *("download_retry", "download_timeout", "validate_hash", "keep_zip"),
)
_MEANINGS = {"repeat": Meaning.PASSES, "choose": Meaning.COUNT}


@dataclass(frozen=True)
class Streaming:
    """The streams of an LLM Foundry training YAML, weighted by ``kind``."""

    about: About
    kind: str

    def write(self, order: Order) -> Written:
        """One stream per domain; remote paths get a folder of their own as cache."""
        numbers, remarks = self._numbers(order)
        paths = order.single_paths()
        folders = _folders(paths)
        streams = {name: {**_place(paths[name], folders[name]), self.kind: n} for name, n in numbers.items()}
        dataset = {"streams": streams, **self._epoch(order)}
        return Written(to_yaml({"train_loader": {"dataset": dataset}}), remarks)

    def read(self, text: str) -> Reading:
        """Read the streams under ``train_loader.dataset`` or at the top."""
        content = parse(text)
        dataset = content if "streams" in content else at(content, "train_loader", "dataset")
        streams = mapping_at(dataset, "streams")
        found = {name: _weight(name, stream) for name, stream in streams.items()}
        kinds = {kind for kind, _ in found.values()}
        if "proportion" in kinds and len(kinds) > 1:
            raise InputError("proportion on every stream or on none", ", ".join(sorted(kinds)))
        entries = tuple(Entry(name, number, self._meaning(kind)) for name, (kind, number) in found.items())
        return Reading((Phase(entries),))

    def _numbers(self, order: Order) -> tuple[Mapping[str, Decimal | int], tuple[str, ...]]:
        why = "Streaming counts samples"
        if self.kind == "repeat":
            return passes(order, why), ()
        if self.kind == "choose":
            return counts(order, order.need(LENGTH, why), why)
        if self.about.meaning is Meaning.PROBABILITY:
            return probabilities(order, why), ()
        return order.exact, ("proportions are token shares only if every sample is one block of the same length",)

    def _epoch(self, order: Order) -> dict[str, int]:
        length = order.options.sequence_length
        if self.about.meaning is not Meaning.SHARE or order.tokens is None or length is None:
            return {}
        return {"epoch_size": round(order.tokens / length)}

    def _meaning(self, kind: str) -> Meaning:
        if kind != "proportion":
            return _MEANINGS[kind]
        return Meaning.PROBABILITY if self.about.meaning is Meaning.PROBABILITY else Meaning.SHARE


def _folders(paths: Mapping[str, str]) -> dict[str, str]:
    slugs = {name: re.sub(r"[^\w.-]+", "-", name).strip(".-") for name in paths}
    if len(set(slugs.values())) < len(slugs) or "" in slugs.values():
        return {name: f"cache/{number}-{slug}" for number, (name, slug) in enumerate(slugs.items())}
    return {name: f"cache/{slug}" for name, slug in slugs.items()}


def _place(path: str, folder: str) -> dict[str, str]:
    return {"remote": path, "local": folder} if "://" in path else {"local": path}


def _weight(name: str, stream: Any) -> tuple[str, float]:
    if not isinstance(stream, Mapping):
        raise InputError("a mapping of settings", repr(stream), where=f"stream {name!r}")
    only(stream, _KEYS, f"stream {name!r}")
    given = [kind for kind in _KINDS if stream.get(kind) is not None]
    if len(given) > 1:
        raise InputError("one of proportion, repeat and choose", " and ".join(given), where=f"stream {name!r}")
    kind = given[0] if given else "repeat"
    return kind, weight(stream.get(kind, 1.0), name, text=False)


def _about(name: str, meaning: Meaning, needs: tuple[str, ...] = ()) -> About:
    kind = {"streaming-repeat": "repeat", "streaming-choose": "choose"}.get(name, "proportion")
    where = f"LLM Foundry streams, Streaming {kind}"
    return About(name, where, meaning, "mosaicml-streaming 0.13: shards drawn", needs)


BLOCKS = Streaming(_about("streaming", Meaning.SHARE), "proportion")
TEXT = Streaming(_about("streaming-text", Meaning.PROBABILITY, (LENGTH,)), "proportion")
REPEAT = Streaming(_about("streaming-repeat", Meaning.PASSES, (SUPPLY, "tokens")), "repeat")
CHOOSE = Streaming(_about("streaming-choose", Meaning.COUNT, (LENGTH, "tokens")), "choose")
