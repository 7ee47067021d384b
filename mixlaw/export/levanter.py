"""Levanter: ``data.train_weights``; the sources sit under ``components`` (current) or ``configs`` (older).

Weights are normalised and exact per block of ``mixture_block_size`` sequences: a share below half a sequence per
block draws nothing, and every share is rounded to whole sequences. The block is made as large as the shares need.
A schedule is a list of [first step, weights]; a change must fall on a whole block.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from mixlaw.errors import InputError
from mixlaw.export.base import About, Entry, Meaning, Order, Phase, Reading, Written
from mixlaw.export.content import at, list_at, mapping_at, parse, weight
from mixlaw.export.stages import Step, steps
from mixlaw.files import to_yaml

_BLOCK = 2048
_LARGEST = 32768
_ROUNDING = 0.02


@dataclass(frozen=True)
class Levanter:
    """The weights and the sources, under ``components`` or under ``configs``."""

    about: About
    key: str

    def write(self, order: Order) -> Written:
        """The sources, their weights, and the block."""
        block = _block([float(share) for stage in _mixtures(order) for share in stage])
        sequences = math.gcd(order.options.batch_size or 1, block)
        placed, remarks = steps(order, multiple=block // sequences)
        sources = {name: self._source(urls) for name, urls in order.paths().items()}
        data = {self.key: sources, "train_weights": _weights(placed), "mixture_block_size": block}
        return Written(to_yaml({"data": data}), (*remarks, *_rounding(placed, block)))

    def read(self, text: str) -> Reading:
        """Read the weights; those of sources that are not there are refused."""
        data = mapping_at(parse(text), "data")
        other = "configs" if self.key == "components" else "components"
        if self.key not in data and other in data:
            raise InputError(
                f"data.{self.key}", f"data.{other}", hint="The block was renamed: use the format for that version."
            )
        sources = mapping_at(data, self.key)
        phases = tuple(_phases(at(data, "train_weights")))
        unknown = {entry.key for phase in phases for entry in phase.entries} - set(sources)
        if unknown:
            raise InputError(f"weights of sources under data.{self.key}", ", ".join(sorted(unknown)))
        block = int(weight(data.get("mixture_block_size", _BLOCK), "mixture_block_size", zero=False))
        silent = (f"{name}: draws no sequence in blocks of {block}" for name in _silent(phases, block))
        return Reading(phases, tuple(silent))

    def _source(self, urls: tuple[str, ...]) -> dict[str, Any]:
        if self.key == "configs":
            return {"train_urls": list(urls)}
        return {"source": {"type": "url", "train_urls": list(urls)}}


def _mixtures(order: Order) -> Iterable[Iterable[Decimal | float]]:
    if len(order.stages) < 2:
        return [order.exact.values()]
    return [stage.mixture.nonzero().values() for stage in order.stages]


def _block(shares: list[float]) -> int:
    """The smallest block whose rounding to whole sequences moves no share by more than 2%, or the largest."""
    block = _BLOCK
    while block < _LARGEST and any(abs(round(s * block) - s * block) > _ROUNDING * s * block for s in shares):
        block *= 2
    smallest = min(shares)
    if smallest * block < 0.5:
        raise InputError(
            f"shares of at least {0.5 / _LARGEST:.2g} (half a sequence in Levanter's largest block)",
            f"{smallest:.3g}",
            hint="Drop the domain from the mixture, or raise its share.",
        )
    return block


def _weights(placed: tuple[Step, ...]) -> Any:
    if len(placed) == 1:
        return dict(placed[0].shares)
    return [[step.start, dict(step.shares)] for step in placed]


def _rounding(placed: tuple[Step, ...], block: int) -> Iterable[str]:
    for step in placed:
        for name, share in step.shares.items():
            exact = float(share) * block
            if abs(round(exact) - exact) > _ROUNDING * exact:
                yield f"{name}: {exact:.3g} sequences in blocks of {block} become about {round(exact)}"


def _phases(weights: Any) -> Iterable[Phase]:
    if isinstance(weights, Mapping):
        yield Phase(tuple(_entries(weights)))
        return
    previous = -1
    for item in list_at({"train_weights": weights}, "train_weights"):
        if not isinstance(item, list) or len(item) != 2 or not isinstance(item[1], Mapping):
            raise InputError("train_weights to be a mapping, or a list of [first step, mapping]", repr(item)[:80])
        start = int(weight(item[0], "first step"))
        if start <= previous or (previous < 0 and start != 0):
            raise InputError("first steps that begin at 0 and rise", str(start))
        previous = start
        yield Phase(tuple(_entries(item[1])), start)


def _entries(weights: Mapping[Any, Any]) -> Iterable[Entry]:
    return (Entry(str(key), weight(value, str(key)), Meaning.SHARE) for key, value in weights.items())


def _silent(phases: Iterable[Phase], block: int) -> Iterable[str]:
    for phase in phases:
        total = math.fsum(entry.number for entry in phase.entries) or 1.0
        yield from (e.key for e in phase.entries if 0 < e.number / total * block < 0.5)


COMPONENTS = Levanter(
    About(
        "levanter",
        "Levanter / Marin data.components (current)",
        Meaning.SHARE,
        "marin-levanter 0.2.20: parsed, mixture drawn",
        staged=True,
    ),
    "components",
)
CONFIGS = Levanter(
    About(
        "levanter-configs",
        "Levanter data.configs (2023 to September 2025)",
        Meaning.SHARE,
        "September 2025: source read",
        staged=True,
    ),
    "configs",
)
