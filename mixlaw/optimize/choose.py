"""From fitted laws to the mixture to train with: the one call behind ``mixlaw optimize-mixture``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from mixlaw.domains import Domains
from mixlaw.errors import InputError
from mixlaw.fits import FitSet, Prediction
from mixlaw.flags import Flag
from mixlaw.laws.base import Floats
from mixlaw.mixture import Constraints, Mixture
from mixlaw.optimize.interior import Optimum
from mixlaw.optimize.objective import Objective
from mixlaw.optimize.region import Region
from mixlaw.optimize.solver import SolveOptions, solve
from mixlaw.optimize.surface import Scale, Surface


@dataclass(frozen=True)
class Request:
    """What is asked.

    Attributes:
        scale: of the run to be trained.
        objective: weights and limits; empty for the mean loss.
        domains: supply, bounds, groups and priors.
        minimum: floors by domain on top of the domains file.
        maximum: ceilings by domain on top of the domains file.
        natural: natural mixture; None takes the priors of the domains file.
        incumbent: mixture in use.
        solver: how to search.
    """

    scale: Scale = field(default_factory=Scale)
    objective: Objective = field(default_factory=lambda: Objective({}))
    domains: Domains = field(default_factory=Domains)
    minimum: Mapping[str, float] = field(default_factory=dict)
    maximum: Mapping[str, float] = field(default_factory=dict)
    natural: Mixture | None = None
    incumbent: Mixture | None = None
    solver: SolveOptions = field(default_factory=SolveOptions)

    def constraints(self, domains: tuple[str, ...]) -> Constraints:
        """All bounds on a mixture of these domains.

        Raises:
            InputError: for bounds on a domain that the fit does not know.
        """
        base = self.domains.constraints(domains, tokens=self.scale.tokens)
        lower, upper, reasons = base.lower.copy(), base.upper.copy(), dict(base.reasons)
        for option, bounds in (("--min", self.minimum), ("--max", self.maximum)):
            for name, bound in bounds.items():
                if name not in domains:
                    raise InputError(f"domains among {', '.join(domains)} in {option}", repr(name))
                index = domains.index(name)
                if option == "--min":
                    lower[index] = max(lower[index], bound)
                elif bound < upper[index]:
                    upper[index], reasons[name] = bound, f"max {bound:g}"
        return Constraints(domains, lower, upper, base.groups, reasons)


@dataclass(frozen=True)
class Choice:
    """The mixture proposed and what it is compared with.

    Attributes:
        request: what was asked.
        fits: the laws.
        surface: the predicted objective.
        region: the mixtures allowed.
        optimum: where the search ended.
        mixture: the proposal, shape (K,).
        baselines: other mixtures by name (natural, uniform, incumbent, best_observed), each of shape (K,).
        best_run: name of the best observed run.
        flags: doubts.
    """

    request: Request
    fits: FitSet
    surface: Surface
    region: Region
    optimum: Optimum
    mixture: Floats
    baselines: Mapping[str, Floats]
    best_run: str
    flags: tuple[Flag, ...]

    @property
    def predicted(self) -> dict[str, Prediction]:
        """Losses of the proposal by target."""
        return self.fits.predict(self.surface.inputs(self.mixture[None]))


def choose(fits: FitSet, request: Request | None = None, *, progress: Callable[[float], None] | None = None) -> Choice:
    """Find the mixture with the best predicted objective that satisfies every constraint.

    Raises:
        InputError: for names that the fit does not know, or a scale that the laws need and nobody gave.
        InfeasibleError: naming the constraints that collide.
    """
    request = request or Request()
    objective = request.objective.over(fits.targets)
    surface = Surface.of(fits, objective, request.scale)
    region = Region.of(request.constraints(fits.domains))
    best, shares = _best_observed(fits, objective, surface)
    baselines = _baselines(fits, request, shares)
    optimum = solve(surface, region, list(baselines.values()), options=request.solver, progress=progress)
    flags = fits.flags_at(optimum.mixture, request.scale.params, request.scale.tokens)
    return Choice(request, fits, surface, region, optimum, optimum.mixture, baselines, best, flags)


def _baselines(fits: FitSet, request: Request, best: Floats) -> dict[str, Floats]:
    width = len(fits.domains)
    known = {"natural": request.natural or request.domains.natural(), "incumbent": request.incumbent}
    found = {name: mixture.vector(fits.domains) for name, mixture in known.items() if mixture is not None}
    return {**found, "uniform": np.full(width, 1 / width), "best_observed": best}


def _best_observed(fits: FitSet, objective: Objective, surface: Surface) -> tuple[str, Floats]:
    """Name and mixture of the run with the best measured objective among those of the largest size and length.

    Runs at several scales cannot be compared by their losses: only the largest size counts. Without a run that has
    every loss of the objective, predictions decide.
    """
    seen = fits.seen
    largest = np.nanmax(seen.params) if np.isfinite(seen.params).any() else np.nan
    at_size = ~(seen.params < 0.99 * largest)
    longest = np.nanmax(seen.tokens[at_size]) if np.isfinite(seen.tokens[at_size]).any() else np.nan
    candidates = np.flatnonzero(at_size & ~(seen.tokens < 0.95 * longest))
    measured = np.zeros(len(candidates))
    for name, weight in objective.weights.items():
        column = seen.losses.get(name.removeprefix("loss/"), np.full(len(seen.runs), np.nan))
        measured = measured + weight * column[candidates]
    if not np.isfinite(measured).any():
        measured = surface.value(seen.mixtures[candidates])
    winner = int(candidates[np.nanargmin(measured)])
    return seen.runs[winner], seen.mixtures[winner]
