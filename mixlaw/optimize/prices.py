"""Which constraints bind, and what loosening them would buy."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from mixlaw.domains import Domains
from mixlaw.mixture import Constraints
from mixlaw.optimize.region import Region
from mixlaw.optimize.rows import Row
from mixlaw.optimize.search import Found
from mixlaw.optimize.solver import finish
from mixlaw.units import human

MORE_TOKENS = 10e9
"""Tokens of a domain whose worth is shown."""
NOTHING = 1e-9
"""Prices (objective per unit of share) below which a bound does not bind."""


@dataclass(frozen=True)
class Price:
    """One binding constraint.

    Attributes:
        words: the constraint.
        name: domain, group, or term of a limit.
        kind: ``min``, ``max``, ``supply``, ``group min``, ``group max`` or ``limit``.
        price: objective gained per unit of share (of the term, for a limit) by which the bound is loosened.
        buys: what one more epoch, or 10B more tokens, of the domain gain, solved anew, in units of the objective.
    """

    words: str
    name: str
    kind: str
    price: float
    buys: dict[str, float] = field(default_factory=dict)


def prices(found: Found, domains: Domains, tokens: float | None) -> tuple[Price, ...]:
    """The binding constraints, the dearest first; floors at 0 are left out: they only say that a domain is not used."""
    rows = [row for row, implied in zip(found.region.rows, found.region.implied, strict=True) if not implied]
    out = []
    for row, price in zip(rows, found.optimum.prices, strict=True):
        if price <= NOTHING or (row.kind == "min" and row.bound == 0):
            continue
        buys = _buys(found, row, domains, tokens) if _is_supply(row) and tokens else {}
        out.append(Price(str(row), row.name, "supply" if _is_supply(row) else row.kind, float(price), buys))
    for bound, price in zip(found.bounds, found.limit_prices, strict=True):
        if price > NOTHING:
            out.append(Price(bound.words, next(iter(bound.surface.weights)), "limit", float(price)))
    return tuple(sorted(out, key=lambda p: -p.price))


def _is_supply(row: Row) -> bool:
    return row.kind == "max" and "epochs of" in row.reason


def _buys(found: Found, row: Row, domains: Domains, tokens: float) -> dict[str, float]:
    facts = domains.get(row.name)
    supply = facts.available_tokens or 0.0
    changes = {
        "one more epoch": supply / tokens,
        f"{human(MORE_TOKENS)} more tokens": MORE_TOKENS * facts.max_epochs / tokens,
    }
    return {what: _gain(found, row.name, change, facts.max) for what, change in changes.items()}


def _gain(found: Found, name: str, change: float, ceiling: float) -> float:
    """Fall of the minimised function when a domain's ceiling rises by ``change``, solved anew."""
    constraints = found.region.constraints
    index = constraints.domains.index(name)
    upper = constraints.upper.copy()
    upper[index] = min(ceiling, 1.0, upper[index] + change)
    wider: Constraints = replace(constraints, upper=upper)
    again = finish(found.function, Region.of(wider), found.optimum.mixture)
    return max(0.0, found.optimum.value - again.value) if np.isfinite(again.value) else 0.0
