"""Why no mixture satisfies all constraints: the smallest set that collides, and by how much."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mixlaw.laws.base import Floats
from mixlaw.mixture import Constraints
from mixlaw.optimize.linear import linear_program
from mixlaw.optimize.rows import Row

_NOTHING = 1e-9


def explain(constraints: Constraints, rows: Sequence[Row]) -> str:
    """Say which constraints collide and by how much share.

    A linear program gives every row a slack and minimises their sum; its dual weights name the rows that cannot hold
    together (a certificate by Farkas' lemma), and the sum is what has to give.
    """
    width = len(constraints.domains)
    matrix = np.array([row.coefficients for row in rows])
    limit = np.array([row.limit for row in rows])
    colliding = _colliding(matrix, limit, width)
    missing = _shortage(matrix[colliding], limit[colliding], width)
    listed = [rows[i] for i in colliding if not (rows[i].lower and rows[i].bound == 0)]
    return f"{_together(listed, constraints)}: they miss each other by {missing:.6g} of the mixture"


def _solve(matrix: Floats, limit: Floats, width: int) -> tuple[float, Floats]:
    """Smallest sum of slacks that makes rows satisfiable, and the price of each row, shape (m,)."""
    count = len(limit)
    cost = np.append(np.zeros(width), np.ones(count))
    lower = np.append(np.full(width, -np.inf), np.zeros(count))
    total = np.append(np.ones(width), np.zeros(count))
    found = linear_program(cost, np.hstack([matrix, -np.eye(count)]), limit, total=total, lower=lower)
    if found is None:  # slacks make every set of rows satisfiable
        raise AssertionError("a linear program with slacks has no solution")
    return found.value, found.prices


def _shortage(matrix: Floats, limit: Floats, width: int) -> float:
    return _solve(matrix, limit, width)[0]


def _colliding(matrix: Floats, limit: Floats, width: int) -> list[int]:
    """Rows that cannot hold together though any one fewer could: an irreducible set."""
    _, price = _solve(matrix, limit, width)
    kept = [int(i) for i in np.flatnonzero(np.abs(price) > _NOTHING)]
    for index in list(kept):
        rest = [i for i in kept if i != index]
        if rest and _shortage(matrix[rest], limit[rest], width) > _NOTHING:
            kept = rest
    return kept


def _together(rows: Sequence[Row], constraints: Constraints) -> str:
    """The rows in words; long lists of floors or ceilings are summed up."""
    floors = [r for r in rows if r.kind == "min"]
    ceilings = [r for r in rows if r.kind == "max"]
    groups = [r for r in rows if r.kind.startswith("group")]
    parts = [str(r) for r in groups]
    for which, word in ((floors, "floors"), (ceilings, "ceilings")):
        if len(which) > 4:
            largest = sorted(which, key=lambda r: -r.bound)[:3]
            total = sum(r.bound for r in which)
            every = "all" if len(which) == len(constraints.domains) else str(len(which))
            parts.append(f"the {word} of {every} domains (sum {total:.6g}; {'; '.join(map(str, largest))}; ...)")
        else:
            parts += [str(r) for r in which]
    return " with ".join(parts)
