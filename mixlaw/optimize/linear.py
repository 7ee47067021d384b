"""Small linear programs, solved by SciPy's HiGHS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog

from mixlaw.laws.base import Floats

_OPTIONS: Any = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


@dataclass(frozen=True)
class LinearSolution:
    """Where a linear program ended.

    Attributes:
        point: shape (n,).
        value: of the cost.
        prices: change of the value per unit of each limit, shape (m,).
    """

    point: Floats
    value: float
    prices: Floats


def linear_program(
    cost: Floats, rows: Floats, limit: Floats, *, total: Floats | None = None, lower: Floats | None = None,
    upper: Floats | None = None,
) -> LinearSolution | None:  # fmt: skip
    """Minimise ``cost . x`` subject to ``rows x <= limit``; None when nothing satisfies that.

    Args:
        cost: shape (n,).
        rows: shape (m, n).
        limit: shape (m,).
        total: coefficients of one equation ``total . x = 1``, shape (n,).
        lower: bounds, shape (n,); free where left out.
        upper: bounds, shape (n,); free where left out.
    """
    low = np.full(len(cost), -np.inf) if lower is None else lower
    high = np.full(len(cost), np.inf) if upper is None else upper
    bounds = list(zip(low.tolist(), high.tolist(), strict=True))
    equation: dict[str, Any] = {} if total is None else {"A_eq": total[None], "b_eq": np.ones(1)}
    found: Any = linprog(cost, A_ub=rows, b_ub=limit, bounds=bounds, options=_OPTIONS, **equation)
    if found.x is None:
        return None
    return LinearSolution(np.asarray(found.x), float(found.fun), np.asarray(found.ineqlin.marginals))
