"""The set of mixtures that are allowed: a polytope, its relative interior, and who collides when it is empty.

Written ``G h <= g`` and ``sum h = 1``. Rows that hold with equality for every allowed mixture (a domain pinned by
its own bounds, groups whose sums leave no room) are found first and turned into equalities, so that the rest has an
interior for the solver to work in.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mixlaw.errors import InfeasibleError
from mixlaw.laws.base import Floats
from mixlaw.mixture import Constraints
from mixlaw.optimize.infeasible import explain
from mixlaw.optimize.linear import linear_program
from mixlaw.optimize.rows import Row, rows_of

EXACT = 1e-9
"""Violation that counts as none, and width of a region that counts as none."""
ROUNDING = 1e-13
"""Violation that is the arithmetic's."""
_SLOP = 2e-10
_NEWTON_STEPS = 60


@dataclass(frozen=True)
class Region:
    """A non-empty polytope of mixtures.

    Attributes:
        constraints: as given.
        rows: its inequalities, m of them, each with its coefficients and a name for people.
        implied: which rows hold with equality everywhere, shape (m,).
        centre: a mixture well inside, shape (K,).
    """

    constraints: Constraints
    rows: tuple[Row, ...]
    implied: NDArray[np.bool_]
    centre: Floats

    @classmethod
    def of(cls, constraints: Constraints) -> Region:
        """Build the region.

        Raises:
            InfeasibleError: naming the constraints that collide and by how much.
        """
        rows = rows_of(constraints)
        matrix, limit = _stack(rows, len(constraints.domains))
        origin = np.full(len(constraints.domains), 1 / len(constraints.domains))
        implied = np.zeros(len(rows), dtype=bool)
        still = np.ones((1, len(origin)))
        margin, centre = _inside(origin, movements(still), matrix, limit)
        if margin < -EXACT:
            raise InfeasibleError("constraints that some mixture satisfies", explain(constraints, rows))
        if margin < EXACT:
            implied = _implied(matrix, limit)
            still = np.vstack([np.ones(len(origin)), matrix[implied]])
            _, centre = _inside(centre, movements(still), matrix[~implied], limit[~implied])
            implied = implied | (limit - matrix @ centre <= ROUNDING)
            still = np.vstack([np.ones(len(origin)), matrix[implied]])
        centre = _analytic_centre(centre, movements(still), matrix[~implied], limit[~implied])
        return cls(constraints, rows, implied, centre)

    @property
    def domains(self) -> tuple[str, ...]:
        """Names of the domains, K of them."""
        return self.constraints.domains

    @cached_property
    def free(self) -> tuple[Floats, Floats]:
        """Coefficients (m', K) and limits (m',) of the rows that are not implied."""
        matrix, limit = _stack(self.rows, len(self.domains))
        return matrix[~self.implied], limit[~self.implied]

    @cached_property
    def fixed(self) -> tuple[Floats, Floats]:
        """Coefficients (p, K) and values (p,) of what holds with equality; the first is the sum."""
        matrix, limit = _stack(self.rows, len(self.domains))
        return np.vstack([np.ones(len(self.domains)), matrix[self.implied]]), np.append(1.0, limit[self.implied])

    @cached_property
    def basis(self) -> Floats:
        """Orthonormal directions in which mixtures can move, shape (K, r)."""
        return movements(self.fixed[0])

    @cached_property
    def independent(self) -> Floats:
        """As many rows as ``fixed`` has independent ones, spanning the same space, shape (K - r, K)."""
        _, _, vectors = np.linalg.svd(self.fixed[0], full_matrices=False)
        return np.asarray(vectors[: len(self.domains) - self.basis.shape[1]])

    def violation(self, mixture: Floats) -> float:
        """Largest amount by which a mixture, shape (K,), misses a constraint; at most 0 when it misses none."""
        matrix, limit = _stack(self.rows, len(self.domains))
        return float(max((matrix @ mixture - limit).max(initial=0.0), abs(mixture.sum() - 1)))

    def contains(self, mixture: Floats) -> bool:
        """Whether a mixture, shape (K,), satisfies every constraint within ``EXACT``."""
        return self.violation(mixture) <= EXACT

    def inside(self, mixture: Floats, *, keep: float = 0.1) -> Floats:
        """A strictly allowed mixture on the way from the centre to ``mixture``, shape (K,).

        Args:
            mixture: where to go.
            keep: share of the way to the boundary (or to the mixture) that is left.
        """
        step = self.basis @ (self.basis.T @ (mixture - self.centre))
        matrix, limit = self.free
        room, rate = limit - matrix @ self.centre, matrix @ step
        reach = np.min(room[rate > 0] / rate[rate > 0], initial=1.0)
        return np.asarray(self.centre + (1 - keep) * reach * step)

    def snapped(self, mixture: Floats, active: NDArray[np.bool_]) -> Floats:
        """The mixture moved by rounding errors onto the rows of ``free`` that are active, shape (K,)."""
        matrix, limit = self.free
        still, value = self.fixed
        wanted, target = np.vstack([still, matrix[active]]), np.append(value, limit[active])
        out = mixture
        for _ in range(2):
            out = out - np.linalg.lstsq(wanted, wanted @ out - target, rcond=1e-10)[0]
        near = np.abs(out - self.constraints.lower) < ROUNDING
        return np.asarray(np.where(near, self.constraints.lower, out))


def _stack(rows: tuple[Row, ...], width: int) -> tuple[Floats, Floats]:
    matrix = np.array([row.coefficients for row in rows]).reshape(len(rows), width)
    return matrix, np.array([row.limit for row in rows])


def movements(matrix: Floats) -> Floats:
    """Orthonormal directions that change none of the rows of a matrix, shape (K, r)."""
    _, singular, vectors = np.linalg.svd(matrix, full_matrices=True)
    rank = int((singular > 1e-10 * singular[0]).sum())
    return np.ascontiguousarray(vectors[rank:].T)


def _inside(origin: Floats, basis: Floats, matrix: Floats, limit: Floats) -> tuple[float, Floats]:
    """The point ``origin + basis v`` whose smallest slack is largest, and that slack (at most 1)."""
    rows = np.hstack([matrix @ basis, np.ones((len(limit), 1))])
    goal = np.append(np.zeros(basis.shape[1]), -1.0)
    upper = np.append(np.full(basis.shape[1], np.inf), 1.0)
    found = linear_program(goal, rows, limit - matrix @ origin, upper=upper)
    if found is None:
        return 0.0, origin
    return float(found.point[-1]), np.asarray(origin + basis @ found.point[:-1])


def _analytic_centre(point: Floats, basis: Floats, matrix: Floats, limit: Floats) -> Floats:
    """The point with the largest product of slacks, by damped Newton steps from a point with none at 0."""
    rows = matrix @ basis
    for _ in range(_NEWTON_STEPS if basis.shape[1] else 0):
        weighted = rows / (limit - matrix @ point)[:, None]
        step = -np.linalg.solve(weighted.T @ weighted, weighted.sum(axis=0))
        decrement = float(np.linalg.norm(weighted @ step))
        point = point + basis @ step / (1 + decrement)
        if decrement < 0.1:
            break
    return point


def _implied(matrix: Floats, limit: Floats) -> NDArray[np.bool_]:
    """Rows whose largest possible slack is nothing, shape (m,)."""
    width = matrix.shape[1]
    out = np.zeros(len(limit), dtype=bool)
    known = np.zeros(len(limit))
    for index in range(len(limit)):
        if known[index] > EXACT:
            continue
        found = linear_program(matrix[index], matrix, limit + _SLOP, total=np.ones(width))
        if found is not None:
            known = np.maximum(known, limit - matrix @ found.point)
        out[index] = known[index] <= EXACT
    return out
