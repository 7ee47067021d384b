"""One search from request to optimum: penalties, limits, sparsity and risk put together around the solver."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from mixlaw.errors import UsageError
from mixlaw.fits import FitSet
from mixlaw.laws.base import Floats
from mixlaw.optimize.ensemble import Ensemble
from mixlaw.optimize.functions import Divergence, Sum
from mixlaw.optimize.interior import Function, Optimum
from mixlaw.optimize.limits import Bound, within
from mixlaw.optimize.objective import Limit
from mixlaw.optimize.region import Region
from mixlaw.optimize.request import Request
from mixlaw.optimize.solver import finish, solve
from mixlaw.optimize.sparse import ACTIVE, fewest
from mixlaw.optimize.surface import Surface


@dataclass(frozen=True)
class Found:
    """The result of a search.

    Attributes:
        surface: the objective, without penalties.
        function: what was minimised, penalties included.
        region: the mixtures allowed (inactive domains held at 0 under ``max_active``).
        optimum: where the search ended.
        bounds: limits on single terms.
        limit_prices: how much the objective falls per unit of each limit.
    """

    surface: Surface
    function: Function
    region: Region
    optimum: Optimum
    bounds: tuple[Bound, ...]
    limit_prices: Floats


def search(
    fits: FitSet,
    request: Request,
    references: Mapping[str, Floats],
    *,
    start: Floats | None = None,
    progress: Callable[[float], None] | None = None,
) -> Found:
    """Find the best mixture.

    Args:
        fits: the laws.
        request: what is asked.
        references: baselines by name, each of shape (K,): starting points, and what limits may refer to.
        start: a mixture to go on from, shape (K,), in place of a search from many.
        progress: told the share of the starts that are done.
    """
    _insist_on_slopes(fits)
    objective = request.objective.over(fits.targets, fits.benchmarks)
    surface = Surface.of(fits, objective, request.scale)
    region = Region.of(request.constraints(fits.domains))
    function: Function = Ensemble.of(surface, request.risk) if request.risk else surface
    reference = request.reference_shares(fits.domains)
    if reference is not None:
        function = Sum([function, Divergence(reference, request.kl)])
    bounds = tuple(_bound(limit, surface, references) for limit in objective.limits)
    starts = list(references.values())

    def one(where: Region, what: Function, near: Floats | None) -> Optimum:
        if near is not None:
            return finish(what, where, near)
        return solve(what, where, starts, options=request.solver, progress=progress)

    def whole(where: Region, near: Floats | None) -> tuple[Optimum, Floats]:
        if not bounds:
            return one(where, function, near), np.zeros(0)
        return within(bounds, function, lambda what, last: one(where, what, near if last is None else last))

    optimum, prices = whole(region, start)
    if request.max_active is not None and (optimum.mixture > ACTIVE).sum() > request.max_active:
        best = optimum.mixture
        region, _ = fewest(region.constraints, request.max_active, optimum, lambda where: whole(where, best)[0])
        optimum, prices = whole(region, best)
    return Found(surface, function, region, optimum, bounds, prices)


def _insist_on_slopes(fits: FitSet) -> None:
    if any(m.fit.form == "gbm" for members in fits.members.values() for m in members):
        hint = "Fit again with another --law, for example --law auto."
        raise UsageError(
            "laws that say how the loss changes with the mixture", "gbm, which is made of steps", hint=hint
        )


def _bound(limit: Limit, surface: Surface, references: Mapping[str, Floats]) -> Bound:
    level = limit.level
    limit.insist_on(references)
    if limit.baseline:
        level += float(surface.term(limit.term, references[limit.baseline][None])[0])
    return Bound(str(limit), surface.only(limit.term), -level if limit.term.startswith("bench/") else level)


def best_observed(fits: FitSet, surface: Surface) -> tuple[str, Floats]:
    """Name and mixture of the run with the best measured objective among the longest of the largest size.

    Losses at several scales cannot be compared, so only the largest counts. Where no such run has all losses of the
    objective, predictions decide.
    """
    seen = fits.seen
    largest = np.nanmax(seen.params) if np.isfinite(seen.params).any() else np.nan
    at_size = ~(seen.params < 0.99 * largest)
    longest = np.nanmax(seen.tokens[at_size]) if np.isfinite(seen.tokens[at_size]).any() else np.nan
    candidates = np.flatnonzero(at_size & ~(seen.tokens < 0.95 * longest))
    nothing = np.full(len(seen.runs), np.nan)
    losses = {target: seen.losses.get(target, nothing)[candidates] for target in surface.needed}
    measured = surface.score(losses)
    if not np.isfinite(measured).any():
        measured = surface.value(seen.mixtures[candidates])
    winner = int(candidates[np.nanargmin(measured)])
    return seen.runs[winner], seen.mixtures[winner]


def starts_of(fits: FitSet, request: Request, surface: Surface) -> tuple[str, dict[str, Floats]]:
    """Name of the best observed run, and the baselines by name with its mixture among them."""
    name, shares = best_observed(fits, surface)
    return name, {**request.baselines(fits.domains), "best_observed": shares}
