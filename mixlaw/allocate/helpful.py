"""The one more run that would help a decision most, at the sizes and costs of the runs that are there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mixlaw.allocate.manifest import PlannedRun, runs_at
from mixlaw.allocate.next_runs import next_runs
from mixlaw.allocate.plan import Done, PlanRequest
from mixlaw.allocate.prior import prior_of_fits
from mixlaw.allocate.sizes import Scale, Size
from mixlaw.check.holdout import SAME_SIZE
from mixlaw.errors import InputError
from mixlaw.fits import FitSet, Seen
from mixlaw.laws.base import Inputs
from mixlaw.optimize.request import Request


@dataclass(frozen=True)
class Helpful:
    """One run to make next.

    Attributes:
        run: its size, tokens and mixture.
        before: expected regret (in mean loss) of deciding now.
        after: expected regret once the run is made.
        settled: no run is expected to change the decision; this one takes most off the variance at the rivals.
    """

    run: PlannedRun
    before: float
    after: float
    settled: bool


def most_helpful(fits: FitSet, request: Request, *, seed: int = 0) -> Helpful:
    """The run that lowers the expected regret of the decision most, among those no dearer than the dearest done.

    Raises:
        InputError: when runs lack sizes or tokens, or the laws depend on neither.
    """
    target, seen = request.scale, fits.seen
    if target.params is None or target.tokens is None:
        raise InputError("size and tokens of the run to be trained", "not both")
    if not (np.isfinite(seen.params).all() and np.isfinite(seen.tokens).all()):
        raise InputError("size and tokens of every run of the fit", "missing numbers")
    sizes = _sizes(seen)
    plan_request = PlanRequest(
        sizes=sizes, target=Scale(target.params, target.tokens), budget=max(size.cost for size in sizes),
        names=fits.domains, domains=request.domains, incumbent=request.incumbent, seed=seed,
    )  # fmt: skip
    inputs = Inputs.build(fits.domains, seen.mixtures, seen.params, seen.tokens)
    done = Done(inputs, np.arange(len(seen.runs), dtype=np.intp), len(seen.runs))
    plan, proposal = next_runs(plan_request, 1, done=done, prior=prior_of_fits(fits, fits.domains))
    (run,) = runs_at(plan, proposal.runs.tolist(), first=done.count + 1)
    return Helpful(run, proposal.before, proposal.steps[-1].regret, proposal.settled)


def _sizes(seen: Seen) -> tuple[Size, ...]:
    """The sizes of the runs, each with the most tokens that a run of it has had; those within 2 % count as one."""
    longest: dict[float, float] = {}
    for params, tokens in sorted(zip(seen.params.tolist(), seen.tokens.tolist(), strict=True)):
        level = next((known for known in longest if params <= SAME_SIZE * known), params)
        longest[level] = max(tokens, longest.get(level, 0.0))
    return tuple(Size(params, (tokens,)) for params, tokens in longest.items())
