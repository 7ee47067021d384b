"""The rows of a run table that a fit uses: early parts dropped, checkpoints thinned, all of it counted."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mixlaw.errors import InputError
from mixlaw.laws.base import Floats, Inputs, Need
from mixlaw.runs import RunTable
from mixlaw.units import Unit


@dataclass(frozen=True)
class Selection:
    """Which rows to use.

    Attributes:
        drop_early: share of each run's tokens (or steps) at its start that is left out.
        checkpoints: checkpoints kept per run, evenly spaced and with the last one; 0 keeps all.
        exclude: names or globs of runs to leave out.
    """

    drop_early: float = 0.25
    checkpoints: int = 4
    exclude: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.drop_early < 1:
            raise InputError("--drop-early from 0 to below 1", f"{self.drop_early:g}")


@dataclass(frozen=True)
class Dataset:
    """Rows and losses as the solver takes them.

    Attributes:
        inputs: mixture, size and tokens of each of n rows.
        targets: names of T targets.
        units: unit of each target.
        log_y: log losses, shape (T, n); 0 where missing.
        weights: 1 where a loss is there, 0 where it is missing, shape (T, n).
        run: index of each row's run in ``runs``, shape (n,).
        runs: run names.
        fingerprint: of the table that the rows came from.
        dropped: reason -> number of rows left out.
    """

    inputs: Inputs
    targets: tuple[str, ...]
    units: tuple[Unit, ...]
    log_y: Floats
    weights: Floats
    run: NDArray[np.intp]
    runs: tuple[str, ...]
    fingerprint: str
    dropped: dict[str, int] = field(default_factory=dict)

    @classmethod
    def build(cls, table: RunTable, selection: Selection | None = None) -> Dataset:
        """Select rows of a table.

        Raises:
            InputError: when no loss or no row is left.
        """
        selection = selection or Selection()
        if not table.targets:
            raise InputError("loss columns", "a table without any", hint="Name them loss/<target>.")
        keep, dropped = select_rows(table, selection)
        used = table.select(keep)
        losses = np.array([used.loss(t) for t in table.targets]).reshape(len(table.targets), -1)
        present = np.isfinite(losses)
        if not present.any():
            raise InputError("at least one row with a loss", f"none left ({_listing(dropped) or 'all empty'})")
        return cls(
            inputs=inputs_of(used),
            targets=table.targets,
            units=tuple(table.unit(t) for t in table.targets),
            log_y=np.log(np.where(present, losses, 1.0)),
            weights=present.astype(np.float64),
            run=used.run_codes,
            runs=used.runs,
            fingerprint=table.fingerprint,
            dropped=dropped,
        )

    def __len__(self) -> int:
        return len(self.run)

    @cached_property
    def varies(self) -> frozenset[Need]:
        """What takes at least two values."""
        columns: dict[Need, Floats] = {"params": self.inputs.params, "tokens": self.inputs.tokens}
        known = {name for name, column in columns.items() if np.isfinite(column).all() and np.ptp(column) > 0}
        return frozenset(known | ({"mix"} if len(self.inputs.mixtures) > 1 else set()))

    def rows(self, index: NDArray[np.intp] | NDArray[np.bool_]) -> Dataset:
        """Some of the rows; runs keep their codes."""
        return Dataset(
            self.inputs.rows(index), self.targets, self.units, self.log_y[:, index], self.weights[:, index],
            self.run[index], self.runs, self.fingerprint, self.dropped,
        )  # fmt: skip

    def only(self, targets: Sequence[str]) -> Dataset:
        """Some of the targets."""
        which = [self.targets.index(t) for t in targets]
        return Dataset(
            self.inputs, tuple(targets), tuple(self.units[i] for i in which), self.log_y[which], self.weights[which],
            self.run, self.runs, self.fingerprint, self.dropped,
        )  # fmt: skip

    @cached_property
    def first_rows(self) -> NDArray[np.intp]:
        """One row of each run, shape (R,), in the order of run codes."""
        return np.unique(self.run, return_index=True)[1]


def inputs_of(table: RunTable) -> Inputs:
    """What a law sees of a table; ``params`` are the active ones where the table has them."""
    active, total = table.column("params_active"), table.column("params")
    params = np.where(np.isfinite(active), active, total)
    return Inputs.build(table.domains, table.mixtures, params, table.column("tokens"))


def select_rows(table: RunTable, selection: Selection) -> tuple[NDArray[np.bool_], dict[str, int]]:
    """Mask of the rows to use, shape (n,), and how many were left out for which reason."""
    keep = np.ones(len(table), dtype=bool)
    dropped: dict[str, int] = {}

    def drop(rows: NDArray[np.bool_], why: str) -> None:
        number = int((rows & keep).sum())
        if number:
            dropped[why] = number
        keep[rows] = False

    names = table.frame["run"].to_numpy()
    for pattern in selection.exclude:
        matching = np.array([fnmatch.fnmatchcase(str(n), pattern) for n in names])
        if not matching.any():
            raise InputError(f"a run that matches --exclude {pattern!r}", "none")
        drop(matching, f"excluded by {pattern!r}")
    position = table.column("tokens")
    if not np.isfinite(position).any():
        position = table.column("step")
    drop(position == 0, "at 0 tokens")
    if np.isfinite(position).all():
        ends = np.zeros(len(table.runs))
        np.maximum.at(ends, table.run_codes, position)
        early = position < selection.drop_early * ends[table.run_codes] - 1e-9
        drop(early, f"first {selection.drop_early:.0%} of a run")
    if selection.checkpoints:
        between = ~_spaced(table.run_codes, keep, selection.checkpoints)
        drop(between, f"thinned to {selection.checkpoints} checkpoints a run")
    return keep, dropped


def _spaced(run: NDArray[np.intp], keep: NDArray[np.bool_], number: int) -> NDArray[np.bool_]:
    """Mask with at most ``number`` of the kept rows of each run: evenly spaced, the last one included."""
    chosen = np.zeros(len(run), dtype=bool)
    rows = np.flatnonzero(keep)
    if not len(rows):
        return chosen
    ends = np.flatnonzero(np.diff(run[rows])) + 1
    for part in np.split(rows, ends):
        places = np.linspace(len(part) - 1, 0, min(number, len(part)))
        chosen[part[np.unique(np.round(places).astype(int))]] = True
    return chosen


def _listing(dropped: dict[str, int]) -> str:
    return ", ".join(f"{number} {why}" for why, number in dropped.items())
