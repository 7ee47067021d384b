"""The front door of fitting: a run table and the names of laws in, a FitSet out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from mixlaw.dataset import Dataset
from mixlaw.errors import InputError
from mixlaw.fit import Fit, FitOptions, fit_law
from mixlaw.fits import FitSet, Member, Seen
from mixlaw.laws import named
from mixlaw.runs import RunTable

DEFAULT_LAW = "capacity"


def fit_table(
    table: RunTable,
    laws: Sequence[str] = (DEFAULT_LAW,),
    *,
    options: FitOptions | None = None,
    progress: Callable[[float], None] | None = None,
) -> FitSet:
    """Fit laws to every target of a table; several laws are averaged with equal weights.

    Raises:
        UsageError: for an unknown law.
        InputError: when the table cannot support any of the laws.
    """
    options = options or FitOptions()
    chosen = [named(name) for name in laws]
    dataset = Dataset.build(table, options.selection)
    if len(table.domains) == 0:
        raise InputError("mixture columns (mix/<domain>)", "a table without any", hint="See mixlaw ingest --help.")
    by_law = [fit_law(law, dataset, options, progress=progress) for law in chosen]
    return combine(by_law, dataset, options)


def combine(by_law: Sequence[tuple[Fit, ...]], dataset: Dataset, options: FitOptions) -> FitSet:
    """Put the fits of one or several laws together, with equal weights among those that serve a target."""
    first = FitSet.single(by_law[0], dataset, options)
    members = {}
    for target in dataset.targets:
        mine = [fit for fits in by_law for fit in fits if fit.target == target]
        if mine:
            members[target] = tuple(Member(fit, 1 / len(mine)) for fit in mine)
    return replace(first, members=members, seen=Seen.of(dataset))
