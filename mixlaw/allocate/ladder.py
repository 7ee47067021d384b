"""The same plan for several budgets: what half or twice the money would buy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from mixlaw.allocate.plan import Done, Plan, make_plan
from mixlaw.allocate.prior import Prior

FACTORS = (0.25, 0.5, 2.0, 4.0)
"""Other budgets, in units of the one that was asked for."""


def ladder(
    plan: Plan,
    *,
    prior: Prior | None = None,
    done: Done | None = None,
    factors: Sequence[float] = FACTORS,
    progress: Callable[[float], None] | None = None,
) -> list[Plan]:
    """Plans for other budgets, the smallest first.

    ``prior`` and ``done`` are those of the plan. Budgets that do not buy a run are left out.
    """
    cheapest = min(size.cost for size in plan.request.sizes)
    budgets = [f * plan.request.budget for f in factors if f * plan.request.budget >= cheapest]
    plans = []
    for number, budget in enumerate(budgets):
        asked = replace(plan.request, budget=budget)
        plans.append(make_plan(asked, plan.strategy, prior=prior, done=done))
        if progress:
            progress((number + 1) / len(budgets))
    return plans
