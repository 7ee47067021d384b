"""Constraints as inequalities, each with the words a person would use for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from mixlaw.laws.base import Floats
from mixlaw.mixture import Constraints

Kind = Literal["min", "max", "group min", "group max"]


@dataclass(frozen=True)
class Row:
    """``coefficients . h <= limit``.

    Attributes:
        kind: what the row bounds, and from which side.
        name: of the domain or group.
        bound: share, as people state it.
        coefficients: shape (K,); -1 for members of a minimum.
        limit: right-hand side: ``bound``, negative for a minimum.
        reason: where the bound comes from, if it is not plain.
    """

    kind: Kind
    name: str
    bound: float
    coefficients: Floats
    limit: float
    reason: str = ""

    @property
    def lower(self) -> bool:
        """Whether the bound is a minimum."""
        return self.kind.endswith("min")

    def __str__(self) -> str:
        of = f"group {self.name!r}" if self.kind.startswith("group") else repr(self.name)
        why = f" ({self.reason})" if self.reason and not self.reason.startswith("max ") else ""
        return f"{'at least' if self.lower else 'at most'} {self.bound:.6g} of {of}{why}"


def rows_of(constraints: Constraints) -> tuple[Row, ...]:
    """All inequalities: a minimum for every domain, and what else does bind somewhere on the simplex."""
    rows = []
    unit = np.eye(len(constraints.domains))
    for index, name in enumerate(constraints.domains):
        low, high = float(constraints.lower[index]), float(constraints.upper[index])
        rows.append(Row("min", name, low, -unit[index], -low))
        if high < 1:
            rows.append(Row("max", name, high, unit[index], high, constraints.reasons.get(name, "")))
    for group in constraints.groups:
        members = constraints.members(group)
        if group.minimum > 0:
            rows.append(Row("group min", group.name, group.minimum, -members, -group.minimum))
        if group.maximum < 1:
            rows.append(Row("group max", group.name, group.maximum, members, group.maximum))
    return tuple(rows)
