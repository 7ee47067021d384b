"""From a request and the runs done to the runs to make next."""

from __future__ import annotations

import math

import numpy as np

from mixlaw.allocate.plan import Done, Plan, PlanRequest, Stage
from mixlaw.allocate.prior import Prior
from mixlaw.allocate.sequential import Proposal, propose


def next_runs(request: PlanRequest, count: int, *, done: Done, prior: Prior | None = None) -> tuple[Plan, Proposal]:
    """Propose runs by the expected reduction of decision regret.

    Args:
        request: sizes, target, domains; a finite budget bounds the proposal.
        count: runs to propose.
        done: runs that are there.
        prior: law to plan with; the default prior if left out.

    Returns:
        A plan without outcomes that names the menu, and the proposal.
    """
    stage = Stage.of(request, prior=prior, done=done)
    budget = request.budget if math.isfinite(request.budget) else None
    rng = np.random.default_rng([request.seed, 3])
    proposal = propose(stage.accuracy, rng, count=count, budget=budget)
    accuracy = stage.accuracy
    return Plan(request, "next", {}, stage.candidates, accuracy.menu, accuracy.prior, done.count), proposal
