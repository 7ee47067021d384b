"""Fit one law to every target of a data set: the only caller of the least-squares solver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mixlaw.dataset import Dataset, Selection
from mixlaw.diagnose import Geometry, flags_of, geometry, largest_size_flags
from mixlaw.errors import FitError, InputError
from mixlaw.flags import Doubt, Flag
from mixlaw.laws import FORMS, bound
from mixlaw.laws.base import DomainLaw, Floats, Inputs, Law, Regressor
from mixlaw.laws.repeated import Unique, effective
from mixlaw.problems import LogModel, problems_for, shared_pattern, shrunk
from mixlaw.solver import Problems, Solution, SolverOptions, minimise, polish
from mixlaw.support import form_for, served, stacked

BLOCK = 16
"""Targets that are fitted in one batch, which is the unit of work of an executor."""
FIRST_STAGE = 60
"""Iterations after which starts that cannot win are left where they are."""


class Status(Enum):
    """How a fit ended; the value is what the user reads."""

    CONVERGED = "Converged."
    STARTS_DISAGREE = "Converged, but few starts agree: raise --starts, or distrust single parameters."
    NOT_CONVERGED = "Not converged: the objective was still falling; raise --starts or choose a smaller law."
    FAILED = "No start gave finite predictions: check the units of params and tokens."


@dataclass(frozen=True)
class FitOptions:
    """Everything that decides a fit beside the data.

    Attributes:
        selection: which rows to use.
        solver: penalty, ridge and stopping rule.
        starts: starting points per target.
        seed: of the starting points.
        strict: a fit that did not converge is an error.
        unique: domain and unique tokens, where a law is to count repeated tokens for less.
        shrink: pull of each target's domain coefficients towards those that all targets share.
    """

    selection: Selection = field(default_factory=Selection)
    solver: SolverOptions = field(default_factory=SolverOptions)
    starts: int = 12
    seed: int = 0
    strict: bool = False
    unique: Unique = ()
    shrink: float = 0.0

    def __post_init__(self) -> None:
        if self.starts < 1:
            raise InputError("--starts of at least 1", str(self.starts))


@dataclass(frozen=True)
class Fit:
    """One law fitted to one target.

    Attributes:
        target: what the loss is measured on.
        form: name of the law, or of its reduced form, in ``FORMS``.
        domains: names of the training domains.
        theta: parameter vector, shape (P,).
        covariance: of ``theta``, clustered by run, shape (P, P).
        status: how the fit ended.
        objective: summed penalty plus ridge.
        gradient: norm of the projected gradient.
        points: rows used.
        runs: runs used.
        starts: starting points tried.
        agreeing: share of starts that end within 1 % of the best objective.
        residual: median absolute log residual on the data used (not an accuracy).
        geometry: rank, condition number, parameters at bounds, redundant directions.
        flags: doubts.
        draws: bootstrap parameter vectors, shape (S, P); S may be 0.
        state: what a law without parameters learned, as a text.
        unique: domain and unique tokens, where the fit counts repeated tokens for less.
    """

    target: str
    form: str
    domains: tuple[str, ...]
    theta: Floats
    covariance: Floats
    status: Status
    objective: float
    gradient: float
    points: int
    runs: int
    starts: int
    agreeing: float
    residual: float
    geometry: Geometry
    flags: tuple[Flag, ...] = ()
    draws: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    state: str = field(default="", repr=False)
    unique: Unique = ()

    @cached_property
    def law(self) -> Law:
        """The functional form, as it predicts this target."""
        return bound(self.form, self.target, state=self.state, unique=self.unique)

    @property
    def redrawable(self) -> bool:
        """Whether a bootstrap can refit this target alone: it has parameters, and shares none with other targets."""
        form = FORMS[self.form]
        return len(self.theta) > 0 and not (isinstance(form, DomainLaw) and form.joint)

    def predict(self, inputs: Inputs) -> Floats:
        """Loss of each row, shape (n,)."""
        return self.law.predict(self.theta, inputs)

    def values(self) -> dict[str, tuple[float, float]]:
        """Each parameter's value and standard error, by name."""
        errors = np.sqrt(np.maximum(np.diag(self.covariance), 0))
        parameters = self.law.parameters(self.domains)
        values = [p.value(float(t)) for p, t in zip(parameters, self.theta, strict=True)]
        scaled = (v * e if p.log else e for p, v, e in zip(parameters, values, errors, strict=True))
        return {p.name: (v, float(e)) for p, v, e in zip(parameters, values, scaled, strict=True)}


def fit_law(law: Law, dataset: Dataset, options: FitOptions | None = None) -> tuple[Fit, ...]:
    """Fit a law to every target that it serves; see ``fit_laws``."""
    return fit_laws([law], dataset, options)[0]


def fit_laws(
    laws: Sequence[Law],
    dataset: Dataset,
    options: FitOptions | None = None,
    *,
    executor: Executor | None = None,
    progress: Callable[[float], None] | None = None,
) -> list[tuple[Fit, ...]]:
    """Fit several laws, each to every target that it serves, in batches of ``BLOCK`` targets with all their starts.

    The batches are the same with and without an executor, so that the fits are too, to the last bit. A law of a
    domain's own loss serves only targets that are domains (``served``); the others get no fit.

    Raises:
        InputError: when the data cannot support any form of a law, or it serves no target.
        FitError: under ``options.strict``, when a fit did not converge.
    """
    options = options or FitOptions()
    each = executor.map if executor else map
    blocks = [(number, block) for number, law in enumerate(laws) for block in _blocks(law, dataset, options)]
    shared = any(b.shared for _, b in blocks)
    explored = list(each(_explore, [b for _, b in blocks])) if shared else [None] * len(blocks)
    ready = [replace(b, explored=e) for (_, b), e in zip(blocks, explored, strict=True)]
    patterns = [_pattern([b for (n, _), b in zip(blocks, ready, strict=True) if n == i]) for i in range(len(laws))]
    ready = [replace(b, pattern=patterns[n]) for (n, _), b in zip(blocks, ready, strict=True)]
    fits: list[list[Fit]] = [[] for _ in laws]
    for done, ((number, _), made) in enumerate(zip(blocks, each(_complete, ready), strict=True)):
        fits[number] += made
        if progress:
            progress((done + 1) / len(blocks))
    if options.strict:
        for made in fits:
            _insist(made)
    return [tuple(replace(f, unique=options.unique) for f in made) for made in fits]


@dataclass(frozen=True)
class _Block:
    """A unit of work: some targets of one law.

    Attributes:
        form: the law, or the form of it that the data support.
        dataset: the targets of the block.
        options: how to fit.
        shared: whether the targets of the law share a pattern over domains (``options.shrink``).
        explored: where every start ended, for targets that share a pattern.
        pattern: that of all targets of the law, shape (P,); None without shrinking.
    """

    form: Law
    dataset: Dataset
    options: FitOptions
    shared: bool = False
    explored: Solution | None = None
    pattern: Floats | None = None


def _blocks(law: Law, dataset: Dataset, options: FitOptions) -> list[_Block]:
    """The work that a law is: by ``BLOCK`` targets; by target, or all at once, for laws of a domain's own loss."""
    form = form_for(law, dataset)
    dataset = dataset.only(served(form, dataset))
    if options.unique:
        dataset = replace(dataset, inputs=effective(dataset.inputs, options.unique))
    if isinstance(form, DomainLaw) and form.joint:
        return [_Block(form, dataset, options)]
    if isinstance(form, DomainLaw):
        return [_Block(form.about(t), dataset.only([t]), options) for t in dataset.targets]
    many = len(dataset.targets) > 1 and not isinstance(form, Regressor)
    shared = bool(options.shrink and options.solver.ridge and many)
    starts = range(0, len(dataset.targets), BLOCK)
    return [_Block(form, dataset.only(dataset.targets[i : i + BLOCK]), options, shared) for i in starts]


def _explore(block: _Block) -> Solution | None:
    """Run every start of every target of a block, where the pattern of all targets has to be known to go on."""
    if not block.shared:
        return None
    problems, start = problems_for(block.form, block.dataset, starts=block.options.starts, seed=block.options.seed)
    return _in_two_stages(problems, start, block.options)


def _pattern(blocks: Sequence[_Block]) -> Floats | None:
    """The pattern that all targets of one law share, where they do."""
    best = [b.explored.theta[_best_of(b.explored, b.options.starts)] for b in blocks if b.explored is not None]
    if not best:
        return None
    return shared_pattern(np.concatenate(best), blocks[0].form, blocks[0].dataset.inputs.domains)


def _complete(block: _Block) -> list[Fit]:
    """The fits of a block."""
    form, dataset, options = block.form, block.dataset, block.options
    if isinstance(form, Regressor):
        return _train(form, dataset, options)
    if isinstance(form, DomainLaw) and form.joint:
        return _together(form, dataset, options)
    problems, start = problems_for(form, dataset, starts=options.starts, seed=options.seed)
    solution = block.explored or _in_two_stages(problems, start, options)
    if block.pattern is not None:
        best = solution.theta[_best_of(solution, options.starts)]
        strength = options.shrink / options.solver.ridge
        problems = shrunk(problems, best, block.pattern, form, dataset.inputs.domains, strength=strength)
        solution = minimise(problems, solution.theta, options=options.solver)
    fits = []
    for index, target in enumerate(dataset.targets):
        mine = np.arange(index * options.starts, (index + 1) * options.starts)
        fits.append(_with_flags(_finish(form, dataset, target, problems, solution, mine, options), dataset))
    return fits


def _together(form: DomainLaw, dataset: Dataset, options: FitOptions) -> list[Fit]:
    """Fit one theta to all targets at once; each target's fit holds the whole of it."""
    rows = stacked(dataset)
    problems, start = problems_for(form, rows, starts=options.starts, seed=options.seed)
    solution = _in_two_stages(problems, start, options)
    whole = _finish(form, rows, rows.targets[0], problems, solution, np.arange(options.starts), options)
    fits = []
    for index, target in enumerate(dataset.targets):
        present = dataset.weights[index] > 0
        fit = replace(whole, target=target, points=int(present.sum()), runs=len(np.unique(dataset.run[present])))
        residuals = np.log(fit.predict(dataset.inputs)) - dataset.log_y[index]
        fits.append(_with_flags(replace(fit, residual=float(np.median(np.abs(residuals[present])))), dataset))
    return fits


def _train(form: Regressor, dataset: Dataset, options: FitOptions) -> list[Fit]:
    """Let a law without parameters learn each target."""
    fits = []
    for index, target in enumerate(dataset.targets):
        present = dataset.weights[index] > 0
        rows, log_y = dataset.inputs.rows(present), dataset.log_y[index, present]
        state = form.train(rows, np.exp(log_y), seed=options.seed)
        fit = Fit(
            target=target, form=form.name, domains=dataset.inputs.domains,
            theta=np.zeros(0), covariance=np.zeros((0, 0)), status=Status.CONVERGED, objective=0.0, gradient=0.0,
            points=len(rows), runs=len(np.unique(dataset.run[present])), starts=1, agreeing=1.0, residual=0.0,
            geometry=Geometry(0, 1.0), state=state,
        )  # fmt: skip
        residual = float(np.median(np.abs(np.log(fit.predict(rows)) - log_y)))
        fits.append(_with_flags(replace(fit, residual=residual), dataset))
    return fits


def _in_two_stages(problems: Problems, start: Floats, options: FitOptions) -> Solution:
    """Run every start for a while, then only those that can still win to the end.

    A start can still win within 5 % of its target's best objective, or as one of its three best.
    """
    short = replace(options.solver, iterations=min(FIRST_STAGE, options.solver.iterations))
    first = minimise(problems, start, options=short)
    objective = first.objective.reshape(-1, options.starts)
    rank = objective.argsort(axis=1).argsort(axis=1)
    contender = (objective <= 1.05 * objective.min(axis=1, keepdims=True)) | (rank < 3)
    going = np.flatnonzero((contender.ravel() & ~first.converged) & np.isfinite(first.objective))
    if not len(going):
        return first
    rest = replace(options.solver, iterations=max(1, options.solver.iterations - short.iterations))
    second = minimise(problems.part(going), first.theta[going], options=rest)
    for name in ("theta", "objective", "gradient", "converged", "iterations"):
        getattr(first, name)[going] = getattr(second, name)
    return first


def _best_of(solution: Solution, starts: int) -> NDArray[np.intp]:
    """Index of the best start of each target, shape (T,)."""
    best = solution.objective.reshape(-1, starts).argmin(axis=1)
    return np.asarray(best + starts * np.arange(len(best)))


def _finish(
    form: Law,
    dataset: Dataset,
    target: str,
    problems: Problems,
    solution: Solution,
    mine: NDArray[np.intp],
    options: FitOptions,
) -> Fit:
    """Pick the best start of a target, polish it, and describe it, all but its flags."""
    objectives = solution.objective[mine]
    best = mine[int(np.argmin(objectives))]
    agreeing = float(np.mean(objectives <= 1.01 * solution.objective[best] + 1e-12))
    one = polish(problems.part(np.array([best])), solution.theta[best], options=options.solver)
    index = dataset.targets.index(target)
    present = dataset.weights[index] > 0
    gained = 1 - one.objective[0] / max(float(solution.objective[best]), 1e-300)
    status = _status(one, agreeing, still_falling=not solution.converged[best] and gained > 0.01)
    shape = geometry(LogModel(form, dataset.inputs.rows(present)), one.theta[0], problems.lower, problems.upper)
    shape = shape.named([p.name for p in form.parameters(dataset.inputs.domains)])
    residuals = np.log(form.predict(one.theta[0], dataset.inputs)) - dataset.log_y[index]
    runs = len(np.unique(dataset.run[present]))
    return Fit(
        target=target,
        form=form.name,
        domains=dataset.inputs.domains,
        theta=one.theta[0],
        covariance=shape.covariance(residuals[present], dataset.run[present], options.solver, pull=problems.pull),
        status=status,
        objective=float(one.objective[0]),
        gradient=float(one.gradient[0]),
        points=int(present.sum()),
        runs=runs,
        starts=options.starts,
        agreeing=agreeing,
        residual=float(np.median(np.abs(residuals[present]))),
        geometry=shape,
    )


def _with_flags(fit: Fit, dataset: Dataset) -> Fit:
    flags = flags_of(
        fit.geometry, dataset, runs=fit.runs, agreeing=fit.agreeing, parameters=len(fit.theta), residual=fit.residual
    )
    index = dataset.targets.index(fit.target)
    residuals = np.log(fit.predict(dataset.inputs)) - dataset.log_y[index]
    return replace(fit, flags=(*flags, *largest_size_flags(residuals, dataset, dataset.weights[index] > 0)))


def _status(solution: Solution, agreeing: float, *, still_falling: bool) -> Status:
    if not np.isfinite(solution.objective[0]):
        return Status.FAILED
    if still_falling:
        return Status.NOT_CONVERGED
    return Status.CONVERGED if agreeing >= 0.1 else Status.STARTS_DISAGREE


def _insist(fits: Sequence[Fit]) -> None:
    bad = [f"{f.target} ({f.status.value})" for f in fits if f.status in (Status.NOT_CONVERGED, Status.FAILED)]
    bad += [f"{f.target} ({flag})" for f in fits for flag in f.flags if flag.doubt is Doubt.MISFIT]
    if bad:
        raise FitError("every fit to converge and to describe its data (--strict)", "; ".join(bad))
