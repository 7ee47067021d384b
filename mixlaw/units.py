"""Human numbers ("20B", "410M", "1e21"), lists in sentences, and the units of losses and scores."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from enum import Enum

from mixlaw.errors import InputError, MixlawError, UsageError

_SUFFIX = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "g": 1e9, "t": 1e12}
_NUMBER = re.compile(r"^\s*([+-]?(?:\d[\d_,]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([kKmMbBgGtT]?)\s*$")


class Unit(Enum):
    """What a loss column is measured in; the value is the name in files."""

    NATS = "nats/token"
    BITS_PER_BYTE = "bits/byte"
    BITS = "bits/token"
    NATS_PER_BYTE = "nats/byte"
    PERPLEXITY = "perplexity"

    @classmethod
    def named(cls, text: str) -> Unit:
        """Return the unit called ``text``; common aliases are understood.

        Raises:
            InputError: for a unit that mixlaw does not know.
        """
        known = cls.known(text)
        if known is None:
            names = ", ".join(u.value for u in cls)
            raise InputError(f"a unit among {names}", repr(text))
        return known

    @classmethod
    def known(cls, text: str) -> Unit | None:
        """Return the unit called ``text``, or None where there is none of this name."""
        return _UNIT_ALIASES.get(re.sub(r"\s*/\s*", "/", text.strip().lower()))


_UNIT_ALIASES = {
    **{u.value: u for u in Unit},
    **{u.value.replace("/", "_per_"): u for u in Unit},
    **{u.value.replace("/", " per "): u for u in Unit},
    "nats": Unit.NATS,
    "nat": Unit.NATS,
    "bpb": Unit.BITS_PER_BYTE,
    "bits": Unit.BITS,
    "ppl": Unit.PERPLEXITY,
}


def parse_number(text: str | float | int, *, name: str = "number") -> float:
    """Read a number as people write it: ``20B``, ``410M``, ``1e21``, ``1,000``.

    Args:
        text: the number, or its text with an optional suffix k, M, B (or G), T.
        name: what the number is, for the message.

    Raises:
        InputError: when the text is no finite number; UsageError where ``name`` is an option.
    """
    if isinstance(text, int | float) and not isinstance(text, bool):
        value = float(text) if abs(text) < 10**308 else math.inf  # a longer whole number would not convert
    else:
        match = _NUMBER.match(str(text))
        if match is None:
            raise _complaint(name)(f"{name} to be a number such as 20B, 410M or 1e21", repr(text))
        value = float(match[1].replace(",", "").replace("_", "")) * _SUFFIX[match[2].lower()]
    if not math.isfinite(value):
        raise _complaint(name)(f"{name} to be a finite number", repr(text))
    return value


def _complaint(name: str) -> type[MixlawError]:
    """The error for a number that cannot be used: of usage where an option held it, else of input."""
    return UsageError if name.startswith("--") else InputError


def parse_positive(text: str | float | int, *, name: str = "number") -> float:
    """Read a number as ``parse_number`` does and insist that it is above zero."""
    value = parse_number(text, name=name)
    if value <= 0:
        raise _complaint(name)(f"{name} above zero", repr(text))
    return value


def parse_numbers(text: str, *, name: str = "number") -> list[float]:
    """Read a comma-separated list of positive human numbers."""
    return [parse_positive(part, name=name) for part in text.split(",") if part.strip()]


def human(value: float) -> str:
    """Write a count with a suffix and at most three digits: 19998000000 -> ``20B``."""
    if not math.isfinite(value) or value == 0:
        return f"{value:g}"
    for factor, suffix in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= 0.9995 * factor:
            scaled = value / factor
            return f"{scaled:.3g}{suffix}" if abs(scaled) < 999.5 else f"{scaled:.0f}{suffix}"
    return f"{value:.3g}"


def shorten(names: Sequence[str], most: int = 6) -> str:
    """A list of names for a sentence, cut after ``most`` with a count of the rest."""
    listed = ", ".join(names[:most])
    return listed if len(names) <= most else f"{listed} and {len(names) - most:,} more"


def decimal(value: float, digits: int = 12) -> str:
    """Write a plain decimal without an exponent, ``digits`` after the point."""
    return f"{value:.{digits}f}"


def with_error(value: float, error: float) -> str:
    """Show ``value`` to two digits of its error: (2.91834, 0.0123) -> ``2.918 ± 0.012``."""
    if not (math.isfinite(error) and error > 0):
        return f"{value:.4f}"
    places = max(0, 1 - math.floor(math.log10(error)))
    return f"{value:.{places}f} ± {error:.{places}f}"
