"""A plan: the runs to buy for a budget, with every strategy's expected error beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from mixlaw.allocate.accuracy import Accuracy
from mixlaw.allocate.designs import NATURAL, UNIFORM, Candidates, DesignOptions, candidates, farthest
from mixlaw.allocate.exchange import ExchangeOptions, flat, random_order, slots_of
from mixlaw.allocate.menu import Indices, Menu
from mixlaw.allocate.prior import Prior, default_prior
from mixlaw.allocate.search import best_runs
from mixlaw.allocate.sizes import Scale, Size
from mixlaw.allocate.strategies import OPTIMAL, SHAPES, fill, shape
from mixlaw.allocate.tally import Tally
from mixlaw.domains import Domains
from mixlaw.errors import InputError, UsageError
from mixlaw.laws.base import Floats, Inputs
from mixlaw.mixture import Mixture
from mixlaw.optimize.region import Region

GOAL_MIXTURES = 24
TOLD = 8


@dataclass(frozen=True)
class PlanRequest:
    """What to plan for.

    Attributes:
        sizes: sizes that runs may have, ascending.
        target: the run to be predicted.
        budget: what may be spent, in the unit of the sizes' costs.
        names: training domains, in order.
        domains: facts about them: priors, limits, supply.
        incumbent: mixture in use.
        designs: candidate mixtures.
        exchange: how long to look, and whether sizes share mixtures.
        unit: of the budget.
        seed: of everything random.
    """

    sizes: tuple[Size, ...]
    target: Scale
    budget: float
    names: tuple[str, ...]
    domains: Domains = field(default_factory=Domains)
    incumbent: Mixture | None = None
    designs: DesignOptions = field(default_factory=DesignOptions)
    exchange: ExchangeOptions = field(default_factory=ExchangeOptions)
    unit: str = "FLOPs"
    seed: int = 0

    def __post_init__(self) -> None:
        if len(self.names) < 2:
            raise InputError("at least two domains to mix", ", ".join(self.names) or "none")

    def natural(self) -> Floats:
        """Natural shares, shape (K,); equal ones where a prior is missing."""
        mixture = self._priors()
        return np.full(len(self.names), 1 / len(self.names)) if mixture is None else mixture.vector(self.names)

    @property
    def centre(self) -> str:
        """What ``natural()`` is: natural, or uniform where a prior is missing."""
        return UNIFORM if self._priors() is None else NATURAL

    def _priors(self) -> Mixture | None:
        mixture = self.domains.natural()
        return mixture if mixture is not None and set(mixture.shares) == set(self.names) else None

    def region(self, tokens: float) -> Region:
        """Mixtures that a run of so many tokens may have.

        Raises:
            InfeasibleError: when limits and supply leave none.
        """
        return Region.of(self.domains.constraints(self.names, tokens=tokens))


@dataclass(frozen=True)
class Done:
    """Runs that are there already: their rows, and the run of each row from 0."""

    inputs: Inputs
    run: Indices
    count: int


@dataclass(frozen=True)
class Outcome:
    """What one strategy buys and what that is worth.

    Attributes:
        counts: runs by size, shape (L,).
        runs: positions in the menu.
        spent: of the budget.
        error: expected mean relative error at the target.
        regret: expected loss of the mixture that would be picked minus the best, in the unit of the loss.
    """

    counts: Indices
    runs: Indices
    spent: float
    error: float
    regret: float


@dataclass(frozen=True)
class Plan:
    """The runs to buy.

    Attributes:
        request: what was asked.
        strategy: whose runs the manifest lists.
        outcomes: by strategy.
        candidates: mixtures.
        menu: mixtures at sizes.
        prior: where the law's Jacobian was taken.
        done: number of runs that were there already.
        unshared: the same strategy without shared mixtures, when nesting was asked for.
        one_more: smallest expected error with one run more than ``optimal`` buys, of those that the budget still
            affords; None where it affords none, and for strategies that spend whatever they may.
    """

    request: PlanRequest
    strategy: str
    outcomes: Mapping[str, Outcome]
    candidates: Candidates
    menu: Menu
    prior: Prior
    done: int = 0
    unshared: Outcome | None = None
    one_more: float | None = None

    @property
    def left(self) -> float:
        """What the chosen strategy leaves of the budget."""
        return self.request.budget - self.chosen.spent

    @property
    def chosen(self) -> Outcome:
        """The outcome of the strategy that was asked for."""
        return self.outcomes[self.strategy]


@dataclass(frozen=True)
class Stage:
    """Everything that a plan and a proposal share: mixtures, menu, prior, expected errors."""

    request: PlanRequest
    candidates: Candidates
    accuracy: Accuracy

    @classmethod
    def of(cls, request: PlanRequest, *, prior: Prior | None = None, done: Done | None = None) -> Stage:
        """Draw candidate mixtures and prepare the criterion.

        Raises:
            InfeasibleError: when no mixture is allowed at the proxies or at the target.
        """
        rng = np.random.default_rng([request.seed, 0])
        natural = request.natural()
        longest = max(size.tokens[-1] for size in request.sizes)
        incumbent = None if request.incumbent is None else request.incumbent.vector(request.names)
        mixtures = candidates(
            request.region(longest), natural, rng, incumbent=incumbent, options=request.designs, centre=request.centre
        )
        menu = Menu.product(request.sizes, request.names, mixtures.shares)
        if done is not None:
            menu = menu.after(done.inputs, done.run)
        prior = prior or _default(request, natural)
        return cls(request, mixtures, Accuracy(menu, prior, _goal(request, natural, rng)))

    def averaged(self) -> Stage:
        """The same, averaged over draws of the parameters that the runs done leave possible."""
        rng = np.random.default_rng([self.request.seed, 4])
        return replace(self, accuracy=self.accuracy.averaged(rng, done=int(self.accuracy.menu.done.sum())))

    def orders(self, rng: np.random.Generator) -> list[Indices]:
        """Runs of each size in the order of buying; the largest size begins with the anchors."""
        menu = self.accuracy.menu
        orders = random_order(menu, rng, nested=self.request.exchange.nested)
        anchors = np.array([menu.at(menu.sizes - 1)[i] for i in self.candidates.anchors()], dtype=np.intp)
        if self.request.exchange.nested:
            return [_first(order, menu.at(s)[list(self.candidates.anchors())]) for s, order in enumerate(orders)]
        return [*orders[:-1], _first(orders[-1], anchors)]

    def outcome(self, runs: Indices) -> Outcome:
        """What some runs are worth."""
        menu = self.accuracy.menu
        rng = np.random.default_rng([self.request.seed, 2])
        counts = np.bincount(menu.size[runs], minlength=menu.sizes).astype(np.intp)
        spent = float(menu.cost[runs].sum())
        return Outcome(counts, runs, spent, self.accuracy.error(runs), self.accuracy.regret(runs, rng))

    def one_more(self, runs: Indices) -> float | None:
        """Smallest expected error with one more run that the budget affords, None where it affords none.

        The error is worked out for the few runs whose criterion is smallest.
        """
        menu, tally = self.accuracy.menu, Tally(self.accuracy, runs)
        left = self.request.budget - float(menu.cost[runs].sum())
        free = np.setdiff1d(np.flatnonzero(~menu.done & (menu.cost <= left)), runs)
        best = sorted(free.tolist(), key=lambda run: tally.after([], [run]))[:TOLD]
        return min((self.accuracy.error(np.sort([*runs, run])) for run in best), default=None)

    def buy(self, strategy: str) -> Indices:
        """The runs that a strategy buys."""
        menu, nested = self.accuracy.menu, self.request.exchange.nested
        rng = np.random.default_rng([self.request.seed, 1])
        orders = self.orders(rng)
        if strategy == OPTIMAL:
            anchors = frozenset(int(menu.at(menu.sizes - 1)[i]) for i in self.candidates.anchors())
            return best_runs(
                self.accuracy, rng, budget=self.request.budget, options=self.request.exchange,
                orders=[orders], keep=anchors,
            )  # fmt: skip
        counts = fill(shape(strategy, menu.prices), menu.prices, menu.stock, budget=self.request.budget)
        return flat(slots_of(menu, counts, orders, nested=nested))


def _first(order: Indices, wanted: Indices) -> Indices:
    return np.concatenate([wanted, order[~np.isin(order, wanted)]])


def _default(request: PlanRequest, natural: Floats) -> Prior:
    sizes = [s.effective for s in request.sizes]
    tokens = [t for s in request.sizes for t in s.tokens]
    middle = [float(np.exp(np.log(values).mean())) for values in (sizes, tokens)]
    return default_prior(request.names, natural, params=middle[0], tokens=middle[1])


def _goal(request: PlanRequest, natural: Floats, rng: np.random.Generator) -> Inputs:
    """Candidate mixtures at the target: allowed there, and filling the space."""
    allowed = candidates(
        request.region(request.target.tokens), natural, rng, options=DesignOptions(count=8 * GOAL_MIXTURES)
    ).shares
    order = farthest(allowed[:1], allowed, GOAL_MIXTURES - 1)
    shares = np.vstack([allowed[:1], allowed[order]])
    return Inputs.build(request.names, shares, request.target.effective, request.target.tokens)


def make_plan(
    request: PlanRequest,
    strategy: str = OPTIMAL,
    *,
    prior: Prior | None = None,
    done: Done | None = None,
    progress: Callable[[float], None] | None = None,
) -> Plan:
    """Plan runs for a budget by every strategy, side by side.

    Args:
        request: sizes, target, budget, domains.
        strategy: whose runs the plan is.
        prior: where to take the Jacobian; the default prior if left out.
        done: runs that are there already: they count, at no cost.
        progress: told the share of the work that is done.

    Raises:
        UsageError: for an unknown strategy.
        InputError: when the budget does not buy a run.
        InfeasibleError: when no mixture is allowed.
    """
    if strategy not in (OPTIMAL, *SHAPES):
        raise UsageError(f"--strategy among {', '.join((OPTIMAL, *SHAPES))}", repr(strategy))
    stage = Stage.of(request, prior=prior, done=done).averaged()
    outcomes = {}
    names = (*SHAPES, OPTIMAL)
    for index, name in enumerate(names):
        outcomes[name] = stage.outcome(stage.buy(name))
        if progress:
            progress((index + 1) / len(names))
    unshared = None
    if request.exchange.nested:
        apart = replace(stage, request=replace(request, exchange=replace(request.exchange, nested=False)))
        unshared = apart.outcome(apart.buy(strategy))
    count = 0 if done is None else done.count
    one_more = stage.one_more(outcomes[OPTIMAL].runs) if strategy == OPTIMAL else None
    return Plan(
        request, strategy, outcomes, stage.candidates, stage.accuracy.menu, stage.accuracy.prior, count, unshared,
        one_more,
    )  # fmt: skip
