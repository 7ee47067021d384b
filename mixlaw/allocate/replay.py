"""The evidence: buy runs from a table that is there already, refit, and score the size that was held out.

``optimal`` plans the whole budget from the default prior, as the command does; ``optimal-in-rounds`` plans a first part
so and the rest from a fit to the runs of the first part. Held-out losses are seen by the score alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from mixlaw.allocate.accuracy import Accuracy
from mixlaw.allocate.exchange import ExchangeOptions, flat, random_order, slots_of
from mixlaw.allocate.menu import Indices, Menu
from mixlaw.allocate.prior import Prior, default_prior, spread_of
from mixlaw.allocate.search import best_runs
from mixlaw.allocate.sizes import FLOPS_PER_PARAMETER_AND_TOKEN
from mixlaw.allocate.strategies import IN_ROUNDS, OPTIMAL, REPLAYED, fill, shape
from mixlaw.dataset import Dataset, Selection, inputs_of
from mixlaw.errors import InputError, UsageError
from mixlaw.fit import FitOptions, fit_law
from mixlaw.laws import LAWS, named
from mixlaw.laws.base import Floats, Inputs
from mixlaw.runs import RunTable

FULL = "all runs"
PLANNED_CHECKPOINTS = 3
GOAL_MIXTURES = 64
"""Most mixtures that the expected error is averaged over."""


@dataclass(frozen=True)
class ReplayOptions:
    """What to replay.

    Attributes:
        law: the law that is refitted.
        budgets: shares of the FLOPs of all fitting runs.
        strategies: names.
        seeds: repetitions.
        seed: of the first.
        first_round: share of the budget that ``optimal-in-rounds`` spends before it fits and plans the rest.
        fit: how to refit.
        exchange: how long ``optimal`` looks.
    """

    law: str = "capacity"
    budgets: tuple[float, ...] = (0.1, 0.25, 0.5)
    strategies: tuple[str, ...] = REPLAYED
    seeds: int = 20
    seed: int = 0
    first_round: float = 0.4
    fit: FitOptions = field(default_factory=FitOptions)
    exchange: ExchangeOptions = field(default_factory=ExchangeOptions)

    def __post_init__(self) -> None:
        for name in self.strategies:
            if name not in REPLAYED:
                raise UsageError(f"--strategies among {', '.join(REPLAYED)}", repr(name))
        if self.seeds < 1:
            raise InputError("--seeds of at least 1", str(self.seeds))
        for budget in self.budgets:
            if not 0 < budget <= 1:
                raise InputError("--budgets between 0 and 1 (shares of the table's FLOPs)", f"{budget:g}")


@dataclass(frozen=True)
class Score:
    """How well a fit does on the held-out size, means over targets.

    Attributes:
        error: mean relative error.
        spearman: rank correlation of predicted and true losses over mixtures.
        regret: loss of the mixture that the fit picks minus the best.
    """

    error: float
    spearman: float
    regret: float


@dataclass(frozen=True)
class Trial:
    """One refit: what was bought, what was expected, and what came out."""

    strategy: str
    budget: float
    seed: int
    counts: tuple[int, ...]
    spent: float
    predicted: float
    predicted_regret: float
    score: Score


@dataclass(frozen=True)
class Replay:
    """All trials.

    Attributes:
        sizes: sizes that runs were bought at.
        held_out: the size that was scored.
        total: FLOPs of all fitting runs.
        trials: one per strategy, budget and seed.
        full: score of a fit to all fitting runs.
        options: as asked.
    """

    sizes: tuple[float, ...]
    held_out: float
    total: float
    trials: tuple[Trial, ...]
    full: Score
    options: ReplayOptions

    def cell(self, strategy: str, budget: float) -> list[Trial]:
        """The trials of one strategy at one budget."""
        return [t for t in self.trials if t.strategy == strategy and t.budget == budget]

    def mean(self, strategy: str, budget: float, figure: str) -> tuple[float, float]:
        """Mean and standard error over seeds of error, spearman or regret; NaN error for one seed."""
        values = np.array([getattr(t.score, figure) for t in self.cell(strategy, budget)])
        error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
        return float(values.mean()), float(error)

    def predicted(self, strategy: str, budget: float) -> float:
        """Mean predicted error of a strategy at a budget."""
        return float(np.mean([t.predicted for t in self.cell(strategy, budget)]))

    def agreement(self) -> tuple[float, float]:
        """Correlation of log predicted and log replayed error over cells, and the largest factor between them."""
        cells = [(s, b) for s in self.options.strategies for b in self.options.budgets]
        predicted = np.log([self.predicted(s, b) for s, b in cells])
        replayed = np.log([self.mean(s, b, "error")[0] for s, b in cells])
        correlation = float(np.corrcoef(predicted, replayed)[0, 1]) if len(cells) > 2 else float("nan")
        return correlation, float(np.exp(np.abs(predicted - replayed).max()))


@dataclass(frozen=True)
class Bench:
    """A table cut in two: runs that can be bought, and the runs of the largest size that are scored.

    Attributes:
        table: all rows of the smaller sizes.
        held_out: last checkpoint of each run of the largest size.
    """

    table: RunTable
    held_out: RunTable

    @classmethod
    def of(cls, table: RunTable, *, below: float | None = None) -> Bench:
        """Hold out the largest size of a table.

        Args:
            table: runs with sizes, tokens and mixtures.
            below: leave out sizes from here on before that.

        Raises:
            InputError: for fewer than three sizes, or unknown sizes or tokens.
        """
        params = inputs_of(table).params
        if not (np.isfinite(params).all() and np.isfinite(table.column("tokens")).all()):
            raise InputError("params and tokens of every row for --replay", "missing cells")
        if below is not None:
            table, params = table.select(params < below), params[params < below]
        sizes = np.unique(params)
        if len(sizes) < 3:
            raise InputError("runs of at least three sizes for --replay", f"{len(sizes)}")
        largest = params == sizes[-1]
        return cls(table.select(~largest), table.select(largest).last())

    @cached_property
    def data(self) -> Dataset:
        """Rows as ``mixlaw fit`` uses them."""
        return Dataset.build(self.table)

    @cached_property
    def goal(self) -> Inputs:
        """Candidate mixtures at the held-out scale: mixtures of the fitting runs, never the held-out ones."""
        rng = np.random.default_rng(0)
        mixtures = np.unique(self.data.inputs.mixtures, axis=0)
        chosen = np.sort(rng.choice(len(mixtures), min(GOAL_MIXTURES, len(mixtures)), replace=False))
        scale = inputs_of(self.held_out)
        return Inputs.build(self.table.domains, mixtures[chosen], float(scale.params[0]), float(scale.tokens.max()))

    @cached_property
    def menu(self) -> Menu:
        """The fitting runs with the price of each, 6 N D to its last checkpoint; planned on three rows a run."""
        last = inputs_of(self.table.last())
        thin = Dataset.build(self.table, Selection(checkpoints=PLANNED_CHECKPOINTS))
        return Menu(
            inputs=thin.inputs,
            run=thin.run,
            size=np.unique(last.params, return_inverse=True)[1].astype(np.intp),
            cost=FLOPS_PER_PARAMETER_AND_TOKEN * last.params * last.tokens,
            mixture=self.table.last().mixture_codes,
            done=np.zeros(len(last), dtype=bool),
        )

    @cached_property
    def prior(self) -> Prior:
        """The default prior at the middle of the table: nothing of the losses is used."""
        inputs = self.menu.inputs
        return default_prior(
            inputs.domains,
            inputs.mixtures.mean(axis=0),
            params=float(np.exp(np.log(inputs.params).mean())),
            tokens=float(np.exp(np.log(inputs.tokens).mean())),
        )

    @cached_property
    def accuracy(self) -> Accuracy:
        """Expected errors before any run, averaged over draws round the default prior."""
        return Accuracy(self.menu, self.prior, self.goal).averaged(np.random.default_rng(0))

    def choose(
        self, strategy: str, rng: np.random.Generator, *, budget: float, options: ReplayOptions
    ) -> tuple[Indices, Accuracy]:
        """Runs that a strategy buys, and the expectations it ends with; named shapes draw their runs at random."""
        menu = self.menu
        if strategy == IN_ROUNDS:
            return self._two_rounds(rng, budget, options)
        if strategy == OPTIMAL:
            return best_runs(self.accuracy, rng, budget=budget, options=options.exchange), self.accuracy
        counts = fill(shape(strategy, menu.prices), menu.prices, menu.stock, budget=budget)
        return flat(slots_of(menu, counts, random_order(menu, rng), nested=False)), self.accuracy

    def _two_rounds(self, rng: np.random.Generator, budget: float, options: ReplayOptions) -> tuple[Indices, Accuracy]:
        """Runs of a first round from the default prior, and of a second from a fit to them."""
        first_budget = max(options.first_round * budget, float(self.menu.prices.min()))
        first = best_runs(self.accuracy, rng, budget=first_budget, options=options.exchange)
        after = self.after(first, options)
        left = budget - float(self.menu.cost[first].sum())
        if not (after.menu.prices[after.menu.stock > 0] <= left).any():
            return first, after
        second = best_runs(after, rng, budget=left, options=options.exchange)
        return np.sort(np.concatenate([first, second])), after

    def after(self, runs: Indices, options: ReplayOptions) -> Accuracy:
        """Expectations once some runs are done: from a fit to them, where they can bear one."""
        fits = fit_law(LAWS["capacity"], self.data.rows(np.isin(self.data.run, runs)), options.fit)
        prior = self.prior
        if fits[0].form == prior.law.name:
            theta = np.array([fit.theta for fit in fits])
            prior = Prior(prior.law, tuple(f.target for f in fits), theta, spread_of(prior.law, fits[0].domains), "fit")
        done = np.isin(np.arange(len(self.menu.size)), runs)
        after = Accuracy(replace(self.menu, done=done), prior, self.goal)
        return after.averaged(np.random.default_rng(1), done=len(runs))

    def score(self, runs: Indices, options: ReplayOptions) -> Score:
        """Refit on some runs and score the held-out ones."""
        rows = np.isin(self.data.run, runs)
        fits = fit_law(named(options.law), self.data.rows(rows), options.fit)
        inputs = inputs_of(self.held_out)
        figures = [_figures(fit.predict(inputs), self.held_out.loss(fit.target)) for fit in fits]
        return Score(*(float(x) for x in np.mean(figures, axis=0)))


def _figures(predicted: Floats, true: Floats) -> tuple[float, float, float]:
    """Relative error, rank correlation and regret of one target over the mixtures that have a loss."""
    from scipy.stats import spearmanr

    there = np.isfinite(true)
    predicted, true = predicted[there], true[there]
    error = float(np.mean(np.abs(predicted / true - 1)))
    return error, float(spearmanr(predicted, true).statistic), float(true[np.argmin(predicted)] - true.min())


def replay(
    table: RunTable,
    options: ReplayOptions | None = None,
    *,
    below: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> Replay:
    """Buy, refit and score for every strategy, budget and seed.

    Raises:
        InputError: when the table has fewer than three sizes, or a budget does not buy a run.
    """
    options = options or ReplayOptions()
    bench = Bench.of(table, below=below)
    total = float(bench.menu.cost.sum())
    plan = [(s, b, k) for k in range(options.seeds) for b in options.budgets for s in options.strategies]
    trials = []
    for done, (strategy, budget, seed) in enumerate(plan):
        trials.append(_trial(bench, strategy, budget * total, options.seed + seed, options, budget))
        if progress:
            progress((done + 1) / len(plan))
    return Replay(
        sizes=tuple(float(x) for x in np.unique(inputs_of(bench.table).params)),
        held_out=float(inputs_of(bench.held_out).params[0]),
        total=total,
        trials=tuple(trials),
        full=bench.score(np.arange(len(bench.menu.size)), options),
        options=options,
    )


def _trial(bench: Bench, strategy: str, flops: float, seed: int, options: ReplayOptions, share: float) -> Trial:
    rng = np.random.default_rng([seed, round(1e6 * share), REPLAYED.index(strategy)])
    runs, accuracy = bench.choose(strategy, rng, budget=flops, options=options)
    bought = runs[~accuracy.menu.done[runs]]
    return Trial(
        strategy=strategy,
        budget=share,
        seed=seed,
        counts=tuple(int(n) for n in np.bincount(bench.menu.size[runs], minlength=bench.menu.sizes)),
        spent=float(bench.menu.cost[runs].sum()),
        predicted=accuracy.error(bought),
        predicted_regret=accuracy.regret(bought, rng),
        score=bench.score(runs, options),
    )
