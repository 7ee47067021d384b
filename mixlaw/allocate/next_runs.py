"""From a request and the runs done to the runs to make next."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from mixlaw.allocate.designs import farthest
from mixlaw.allocate.plan import Done, Plan, PlanRequest, Stage
from mixlaw.allocate.prior import Prior
from mixlaw.allocate.sequential import Proposal, propose
from mixlaw.laws.base import Floats, Inputs

STEPS = (0.1, 0.3, 1.0)
"""How far from the best mixture towards the others its rivals lie."""
ROUNDS = 6
RIVALS = 12


def contenders(stage: Stage) -> Inputs:
    """Mixtures between which the decision falls: the best that the law knows now, near rivals and far ones.

    The best is found by moving from the best candidate part of the way to every other, as long as that helps; mixtures
    between two allowed ones are allowed.
    """
    request, prior = stage.request, stage.accuracy.prior
    mixtures = stage.accuracy.goal.shares

    def losses(shares: Floats) -> Floats:
        inputs = Inputs.build(request.names, shares, request.target.effective, request.target.tokens)
        return np.asarray(prior.law.predict(prior.theta, inputs).mean(axis=0))

    best = mixtures[np.argmin(losses(mixtures))]
    for _ in range(ROUNDS):
        tried = np.vstack([best, *(best + step * (mixtures - best) for step in STEPS)])
        best = tried[np.argmin(losses(tried))]
    others = mixtures[farthest(best[None], mixtures, RIVALS)]
    rivals = [best + step * (others - best) for step in STEPS]
    return Inputs.build(request.names, np.vstack([best, *rivals]), request.target.effective, request.target.tokens)


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
    stage = replace(stage, accuracy=stage.accuracy.judged_on(contenders(stage)))
    budget = request.budget if math.isfinite(request.budget) else None
    rng = np.random.default_rng([request.seed, 3])
    proposal = propose(stage.accuracy, rng, count=count, budget=budget)
    accuracy = stage.accuracy
    return Plan(request, "next", {}, stage.candidates, accuracy.menu, accuracy.prior, done.count), proposal
