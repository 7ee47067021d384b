"""Numbers as trainer configs need them: plain decimals whose printed digits add up exactly."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import ROUND_HALF_EVEN, Decimal, localcontext

from mixlaw.errors import InputError

SIGNIFICANT = 12
"""Digits that the smallest number of a file keeps."""

SMALLEST = 1e-15
"""Shares below this are lost when floats are added up to 1, so no trainer can draw them."""

_MOST = 400
"""Digits to calculate with: the largest float has 309 before the point."""


_DIGITS = r"\d+(?:_\d+)*"
_FLOAT = re.compile(
    rf"\s*[-+]?(?:nan|inf(?:inity)?|(?:{_DIGITS}\.?(?:{_DIGITS})?|\.{_DIGITS})(?:e[-+]?{_DIGITS})?)\s*", re.IGNORECASE
)


def as_float(text: str) -> float | None:
    """Read text that Python's ``float`` (and so most trainers) takes for a number; None for any other."""
    return float(text) if _FLOAT.fullmatch(text) else None


def exact_shares(weights: Mapping[str, float]) -> dict[str, Decimal]:
    """Turn weights into shares that sum to exactly 1 in the digits that are printed.

    The smallest share keeps 12 significant digits; the remainder of the rounding goes to the largest.

    Args:
        weights: positive numbers by name; only their ratios matter.

    Returns:
        Decimals by name, in the same order.

    Raises:
        InputError: for a share below ``SMALLEST``.
    """
    total = math.fsum(weights.values())
    values = {name: _decimal(weight / total) for name, weight in weights.items()}
    lost = [name for name, value in values.items() if value < SMALLEST]
    if lost:
        raise InputError(
            f"shares of at least {SMALLEST:g}",
            ", ".join(f"{weights[name] / total:.3g} for {name!r}" for name in lost),
            hint="Drop the domain from the mixture, or give it a share that can be drawn.",
        )
    step = Decimal(1).scaleb(-_places(min(values.values())))
    with localcontext() as context:
        context.prec = _MOST
        shares = {name: value.quantize(step, ROUND_HALF_EVEN) for name, value in values.items()}
        largest = max(shares, key=lambda name: shares[name])
        shares[largest] += 1 - sum(shares.values())
    return {name: trimmed(share) for name, share in shares.items()}


def rounded(value: float) -> Decimal:
    """Round a positive number to 15 significant digits, without trailing zeros: 2.5 -> ``2.5``, 3 -> ``3.0``."""
    with localcontext() as context:
        context.prec = 15
        short = +_decimal(value)
    return trimmed(short)


def trimmed(value: Decimal) -> Decimal:
    """Drop trailing zeros but keep one digit after the point, so that readers see a decimal."""
    with localcontext() as context:
        context.prec = _MOST
        whole = value.to_integral_value()
        return whole.quantize(Decimal("0.1")) if whole == value else value.normalize()


def plain(value: Decimal) -> str:
    """Write a decimal without an exponent."""
    return f"{value:f}"


def _decimal(value: float) -> Decimal:
    """The shortest decimal that reads back as this float (``Decimal(0.1)`` shows binary noise)."""
    return Decimal(repr(float(value)))


def _places(smallest: Decimal) -> int:
    return SIGNIFICANT - 1 - smallest.adjusted()
