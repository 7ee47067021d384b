"""The runs that can be bought: every candidate mixture at every size, or the runs of a table in a replay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mixlaw.allocate.sizes import Size
from mixlaw.laws.base import Floats, Inputs

Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Menu:
    """R runs, each with a price and with one or more rows (checkpoints).

    Attributes:
        inputs: rows of all runs, n of them.
        run: run of each row, shape (n,).
        size: position of each run's size, ascending, shape (R,).
        cost: price of each run, shape (R,).
        mixture: code of each run's mixture, shape (R,).
        done: runs that are there already and cost nothing, shape (R,).
    """

    inputs: Inputs
    run: Indices
    size: Indices
    cost: Floats
    mixture: Indices
    done: NDArray[np.bool_]

    @classmethod
    def product(cls, sizes: Sequence[Size], domains: Sequence[str], mixtures: Floats) -> Menu:
        """Every mixture, shape (M, K), at every size; run ``s M + m`` is mixture m at size s."""
        count = len(mixtures)
        params, tokens, run, which = [], [], [], []
        for position, size in enumerate(sizes):
            for count_of_tokens in size.tokens:
                params.append(np.full(count, size.effective))
                tokens.append(np.full(count, count_of_tokens))
                run.append(position * count + np.arange(count))
                which.append(np.arange(count))
        order = np.argsort(np.concatenate(run), kind="stable")
        inputs = Inputs(tuple(domains), mixtures, np.concatenate(which)[order].astype(np.intp),
                        np.concatenate(params)[order], np.concatenate(tokens)[order])  # fmt: skip
        return cls(
            inputs=inputs,
            run=np.concatenate(run)[order].astype(np.intp),
            size=np.repeat(np.arange(len(sizes)), count),
            cost=np.repeat([size.cost for size in sizes], count),
            mixture=np.tile(np.arange(count), len(sizes)),
            done=np.zeros(count * len(sizes), dtype=bool),
        )

    def after(self, inputs: Inputs, run: Indices) -> Menu:
        """The menu with runs put behind it that are done: rows ``inputs`` (n',) of runs ``run`` (n',) from 0."""
        extra = int(run.max()) + 1 if len(run) else 0
        joined = Inputs.build(
            self.inputs.domains,
            np.vstack([self.inputs.shares, inputs.shares]),
            np.concatenate([self.inputs.params, inputs.params]),
            np.concatenate([self.inputs.tokens, inputs.tokens]),
        )
        return Menu(
            inputs=joined,
            run=np.concatenate([self.run, run + len(self.size)]),
            size=np.concatenate([self.size, np.full(extra, -1)]),
            cost=np.concatenate([self.cost, np.zeros(extra)]),
            mixture=np.concatenate([self.mixture, np.full(extra, -1)]),
            done=np.concatenate([self.done, np.ones(extra, dtype=bool)]),
        )

    @cached_property
    def sizes(self) -> int:
        """How many sizes there are."""
        return int(self.size.max()) + 1

    @cached_property
    def _rows_by_run(self) -> list[Indices]:
        order = np.argsort(self.run, kind="stable")
        ends = np.searchsorted(self.run[order], np.arange(1, len(self.size)))
        return [part.astype(np.intp) for part in np.split(order, ends)]

    @cached_property
    def done_rows(self) -> Indices:
        """Rows of the runs that are done."""
        return self.rows(np.flatnonzero(self.done))

    def rows(self, runs: Indices | Sequence[int]) -> Indices:
        """Rows of some runs."""
        parts = [self._rows_by_run[int(r)] for r in runs]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.intp)

    def at(self, size: int) -> Indices:
        """Runs of one size that can be bought."""
        return np.flatnonzero((self.size == size) & ~self.done)

    @cached_property
    def stock(self) -> Indices:
        """How many runs of each size there are, shape (L,)."""
        return np.array([len(self.at(s)) for s in range(self.sizes)], dtype=np.intp)

    @cached_property
    def prices(self) -> Floats:
        """Largest price of a run of each size, shape (L,)."""
        return np.array([self.cost[self.size == s].max() for s in range(self.sizes)])
