"""Conversions between units of loss, only where the user asks for one and gives the factor that it needs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixlaw.errors import InputError, MissingFactError
from mixlaw.units import Unit

Floats = NDArray[np.float64]

_PER_BYTE = (Unit.BITS_PER_BYTE, Unit.NATS_PER_BYTE)


@dataclass(frozen=True)
class Conversion:
    """From one unit to another.

    Attributes:
        source: unit of the numbers in the file.
        target: unit of the numbers in the table.
        bytes_per_token: mean bytes per token of the tokenizer on the target's text, for bits per byte.
    """

    source: Unit
    target: Unit
    bytes_per_token: float | None = None

    def __post_init__(self) -> None:
        if (self.source in _PER_BYTE) is not (self.target in _PER_BYTE):
            if self.bytes_per_token is None:
                raise MissingFactError(f"bytes_per_token to turn {self.source.value} into {self.target.value}", "none")
            if self.bytes_per_token <= 0:
                raise InputError("bytes_per_token above zero", f"{self.bytes_per_token:g}")

    def __call__(self, values: Floats) -> Floats:
        """Convert numbers; NaN stays NaN."""
        return values if self.source is self.target else self._from_nats(self._to_nats(values))

    def _to_nats(self, values: Floats) -> Floats:
        if self.source is Unit.PERPLEXITY:
            return np.log(values, where=values > 0, out=np.full_like(values, np.nan))
        return values * self._nats_in(self.source)

    def _from_nats(self, nats: Floats) -> Floats:
        return np.exp(nats) if self.target is Unit.PERPLEXITY else nats / self._nats_in(self.target)

    def _nats_in(self, unit: Unit) -> float:
        """Nats per token in one unit; bits per byte = nats / (bytes per token x ln 2)."""
        if unit is Unit.BITS:
            return math.log(2)
        length = (self.bytes_per_token or 1.0) if unit in _PER_BYTE else 1.0
        return math.log(2) * length if unit is Unit.BITS_PER_BYTE else length
