"""From token shares to the numbers of trainers that count documents, passes or examples.

With token shares w, run tokens T, available tokens N and mean tokens per document L of each source:
document probability p = (w / L) / sum(w / L), passes r = w T / N, documents n = w T / L.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from mixlaw.errors import InputError
from mixlaw.export.base import Order
from mixlaw.export.digits import exact_shares, rounded

LENGTH = "mean_tokens_per_document"
SUPPLY = "available_tokens"


def probabilities(order: Order, why: str) -> dict[str, Decimal]:
    """Probability of each source per document drawn, by name; sums to exactly 1 as printed.

    Raises:
        MissingFactError: naming the domains without ``mean_tokens_per_document``.
    """
    lengths = order.need(LENGTH, why)
    return exact_shares({name: share / lengths[name] for name, share in order.shares.items()})


def passes(order: Order, why: str) -> dict[str, Decimal]:
    """How often each source is seen in the run, by name.

    Raises:
        MissingFactError: naming the domains without ``available_tokens``, or the run's tokens.
    """
    supply = order.need(SUPPLY, why)
    tokens = order.need_tokens(why)
    return {name: rounded(share * tokens / supply[name]) for name, share in order.shares.items()}


def counts(order: Order, sizes: Mapping[str, float], why: str) -> tuple[dict[str, int], tuple[str, ...]]:
    """Whole documents (or samples) to draw from each source, by name, and what the rounding does.

    Args:
        order: the recipe and its run.
        sizes: tokens per document, by name.
        why: what needs the run's tokens, for the message.

    Raises:
        MissingFactError: when the run's tokens are unknown.
        InputError: naming the domains whose share is less than half a document.
    """
    tokens = order.need_tokens(why)
    numbers = {name: round(share * tokens / sizes[name]) for name, share in order.shares.items()}
    lost = [name for name, number in numbers.items() if number == 0]
    if lost:
        raise InputError(
            "a share that is worth at least one document",
            ", ".join(f"{order.shares[name] * tokens / sizes[name]:.2g} documents of {name!r}" for name in lost),
            hint="Drop the domain, or raise its share or the run's tokens.",
        )
    drawn = {name: number * sizes[name] for name, number in numbers.items()}
    total = sum(drawn.values())
    worst = max(drawn, key=lambda name: abs(drawn[name] / total - order.shares[name]))
    off = drawn[worst] / total - order.shares[worst]
    return numbers, (f"whole numbers move the token share of {worst} most, by {off:+.1e}",) if off else ()
