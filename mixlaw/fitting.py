"""The front door of fitting: a run table and the names of laws in, a FitSet out."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace

from mixlaw.check.auto import AUTO, choose
from mixlaw.check.bootstrap import bootstrap
from mixlaw.check.calibrate import calibrate
from mixlaw.check.shrink import settle
from mixlaw.dataset import Dataset
from mixlaw.errors import InputError, UsageError
from mixlaw.fit import FitOptions, fit_laws
from mixlaw.fits import FitSet
from mixlaw.laws import named
from mixlaw.runs import RunTable

DEFAULT_LAW = "capacity"


@dataclass(frozen=True)
class Request:
    """What to fit, beside the table.

    Attributes:
        laws: names; ``("auto",)`` chooses and weights them on held-out data.
        options: how to fit.
        bootstrap: number of bootstrap draws; 0 for none.
        shrink: strength of the pull towards coefficients shared over targets; None chooses it by cross-validation
            where there are fewer than 6 (K + 1) runs, and is 0 elsewhere.
    """

    laws: tuple[str, ...] = (DEFAULT_LAW,)
    options: FitOptions = field(default_factory=FitOptions)
    bootstrap: int = 0
    shrink: float | None = None


def fit_table(
    table: RunTable,
    request: Request | None = None,
    *,
    executor: Executor | None = None,
    progress: Callable[[float], None] | None = None,
) -> FitSet:
    """Fit laws to every target of a table; several named laws are averaged with equal weights.

    Raises:
        UsageError: for an unknown law.
        InputError: when the table cannot support any of the laws.
    """
    request = request or Request()
    report = progress or (lambda done: None)
    _insist_on_mixtures(table, request.laws)
    if request.shrink is None and table.domains:
        law = DEFAULT_LAW if request.laws == (AUTO,) else request.laws[0]
        options, evidence = settle(table, law, request.options, executor=executor)
    else:
        options, evidence = replace(request.options, shrink=request.shrink or 0.0), {}
    if request.laws == (AUTO,):
        choice = choose(table, options, executor=executor, progress=lambda done: report(0.4 * done))
        weights, evidence = choice.weights, {**evidence, **choice.as_evidence()}
    else:
        weights = {named(name).name: 1 / len(request.laws) for name in request.laws}
    dataset = Dataset.build(table, options.selection)
    laws = [named(name) for name in weights]
    made = fit_laws(laws, dataset, options, executor=executor, progress=lambda done: report(0.4 + 0.3 * done))
    fitted = dict(zip(weights, made, strict=True))
    fits = replace(FitSet.combine(fitted, weights, dataset, options), evidence=evidence)
    if not request.bootstrap:
        return fits
    fits = bootstrap(
        fits, dataset, request.bootstrap, executor=executor, progress=lambda done: report(0.7 + 0.2 * done)
    )
    fits = calibrate(fits, table, weights, executor=executor)
    report(1.0)
    return fits


def _insist_on_mixtures(table: RunTable, laws: tuple[str, ...]) -> None:
    """Refuse a table without mixtures for laws that have the mixture in them.

    Raises:
        InputError: naming the law.
    """
    wanting = [name for name in laws if name == AUTO or "mix" in named(name).needs]
    if wanting and not table.domains:
        hint = "See mixlaw ingest --help; --law chinchilla fits without mixtures."
        raise InputError(f"mixture columns (mix/<domain>) for --law {wanting[0]}", "a table without any", hint=hint)


def split_laws(text: str) -> tuple[str, ...]:
    """Split ``a,b,c`` into names of laws, ``auto`` among them.

    Raises:
        UsageError: for no name or an unknown one.
    """
    names = tuple(part.strip() for part in text.split(",") if part.strip())
    if not names:
        raise UsageError("the name of a law after --law", repr(text))
    for name in names:
        if name != AUTO:
            named(name)
    return names


def named_laws(text: str) -> tuple[str, ...]:
    """Split the names of laws that answer together.

    Raises:
        UsageError: for an unknown or doubled name, or ``auto`` beside others.
    """
    names = split_laws(text)
    if len(set(names)) < len(names):
        raise UsageError("the names of laws after --law, each once", repr(text))
    if AUTO in names and len(names) > 1:
        raise UsageError("auto alone, or named laws", repr(text))
    return names
