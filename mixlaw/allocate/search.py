"""The best plan that costs at most a budget: paths of plans that do not know the budget, cut off where it ends.

A fit that weights all rows alike can lose by more runs: they pull it towards the misfit of the law where they are. So
the best plan need not spend its budget. From starting points of ``strategies.starts`` a path goes on as long as the
criterion falls: runs are exchanged, then added to one size or taken from one, then exchanged again. Neither the
starting points nor the paths depend on the budget; it only says how far one may look. A larger budget sees the plans
that a smaller one sees, but for those too far behind its best: the expected error falls with it, except where one of
those would have gained more (rises of up to 4 % of the error have been seen, at budgets of a few large runs).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mixlaw.allocate.accuracy import Accuracy
from mixlaw.allocate.exchange import ExchangeOptions, Slot, exchange, flat, random_order, slots_of
from mixlaw.allocate.menu import Indices
from mixlaw.allocate.strategies import MOST_RUNS, starts
from mixlaw.allocate.tally import Tally
from mixlaw.errors import InputError

THINNED = 1.05
"""A starting point counts where its criterion is by this factor below that of every cheaper one."""
HOPELESS = 2.5
"""Starting points whose criterion is so many times the best found are left alone: exchange does not gain so much."""
NEAR = 1.1
"""Paths set out from plans whose criterion is at most so many times the best."""
TRIED = 10
"""Random choices of runs that are tried for each size before a step."""
PORTION = 8
"""A step adds or takes an eighth of the runs of a size, one at least, or twice as many."""


@dataclass(frozen=True)
class Found:
    """A plan on a path: its runs in slots, what they cost and the criterion."""

    slots: tuple[Slot, ...]
    cost: float
    value: float


@dataclass(frozen=True)
class Walk:
    """What every step of a path needs.

    Attributes:
        accuracy: the criterion and the menu.
        options: how long to look, and whether sizes share mixtures.
        keep: runs that stay, and that are the first to be added at their size.
    """

    accuracy: Accuracy
    options: ExchangeOptions
    keep: frozenset[int]

    def found(self, slots: Sequence[Slot]) -> Found:
        """A plan with its cost and criterion."""
        runs = flat(slots)
        return Found(tuple(slots), float(self.accuracy.menu.cost[runs].sum()), self.accuracy.criterion(runs))

    def polished(self, start: Found, rng: np.random.Generator, *, trials: int, tally: Tally | None = None) -> Found:
        """The same numbers of runs with better mixtures."""
        return self.found(exchange(self.accuracy, start.slots, rng, trials=trials, keep=self.keep, tally=tally))

    def path(self, start: Found, rng: np.random.Generator, *, largest: int) -> Iterator[Found]:
        """Plans of falling criterion; runs of sizes up to ``largest`` are added."""
        now, tally = start, Tally(self.accuracy, flat(start.slots))
        for _ in range(self.options.steps):
            step = self._step(now, tally, rng, largest=largest)
            if step is None:
                return
            tally.change(*_difference(now.slots, step.slots))
            now = self.polished(step, rng, trials=self.options.early, tally=tally)
            yield now

    def _step(self, now: Found, tally: Tally, rng: np.random.Generator, *, largest: int) -> Found | None:
        """The addition or removal that lowers the criterion most per unit of cost; removals come first."""
        better = []
        for size in range(self.accuracy.menu.sizes):
            for change in (self._more, self._fewer) if size <= largest else (self._fewer,):
                tried = (change(now.slots, size, rng, portions=1 + number % 2) for number in range(TRIED))
                better += [
                    f for f in (self._beside(now, slots, tally) for slots in tried if slots) if f.value < now.value
                ]
        if not better:
            return None
        return max(better, key=lambda f: (f.cost <= now.cost, (now.value - f.value) / max(f.cost - now.cost, 1e-300)))

    def _beside(self, now: Found, slots: Sequence[Slot], tally: Tally) -> Found:
        """A plan that differs from another by a few runs."""
        gone, come = _difference(now.slots, slots)
        cost = self.accuracy.menu.cost
        return Found(tuple(slots), now.cost + float(cost[come].sum() - cost[gone].sum()), tally.after(gone, come))

    def _portion(self, slots: Sequence[Slot], size: int) -> int:
        return max(1, self._count(slots, size) // PORTION)

    def _count(self, slots: Sequence[Slot], size: int) -> int:
        return int((self.accuracy.menu.size[flat(slots)] == size).sum())

    def _more(self, slots: Sequence[Slot], size: int, rng: np.random.Generator, *, portions: int) -> list[Slot] | None:
        """More runs of a size, those to keep first; None where there are no more."""
        out: list[Slot] | None = list(slots)
        for _ in range(portions * self._portion(slots, size)):
            out = None if out is None else self._one_more(out, size, rng)
        return out

    def _one_more(self, slots: list[Slot], size: int, rng: np.random.Generator) -> list[Slot] | None:
        menu = self.accuracy.menu
        taken = {r for slot in slots for r in slot}
        free = [int(r) for r in menu.at(size) if int(r) not in taken]
        if not free or len(taken) >= MOST_RUNS:
            return None
        place = self._count(slots, size)
        if self.options.nested and place < len(slots):  # the size takes over the next mixture of the others
            same = [r for r in free if menu.mixture[r] == menu.mixture[slots[place][0]]]
            return [*slots[:place], (*slots[place], same[0]), *slots[place + 1 :]] if same else None
        wanted = [r for r in free if r in self.keep]
        return [*slots, (wanted[0] if wanted else int(rng.choice(free)),)]

    def _fewer(self, slots: Sequence[Slot], size: int, rng: np.random.Generator, *, portions: int) -> list[Slot] | None:
        """Fewer runs of a size; None where all of them stay, or nothing would be left."""
        size_of = self.accuracy.menu.size
        can = [i for i, slot in enumerate(slots) for r in slot if size_of[r] == size and r not in self.keep]
        count = min(portions * self._portion(slots, size), len(can))
        drop = set(can[-count:]) if self.options.nested else {int(i) for i in rng.permutation(can)[:count]}
        out = [tuple(r for r in s if size_of[r] != size) if i in drop else s for i, s in enumerate(slots)]
        left = [slot for slot in out if slot]
        return left if count and (left or self.accuracy.menu.done.any()) else None


def _difference(before: Sequence[Slot], after: Sequence[Slot]) -> tuple[list[int], list[int]]:
    """Runs that are gone, and runs that have come."""
    old, new = ({r for slot in slots for r in slot} for slots in (before, after))
    return sorted(old - new), sorted(new - old)


def best_runs(
    accuracy: Accuracy,
    rng: np.random.Generator,
    *,
    budget: float,
    options: ExchangeOptions | None = None,
    orders: Sequence[Sequence[Indices]] = (),
    keep: frozenset[int] = frozenset(),
) -> Indices:
    """The runs with the smallest expected error that cost at most the budget, ascending; they may cost less.

    With runs done it may be best to buy none. Every starting point takes the first runs of the same orders (a random
    one if none are given). Runs of ``keep`` stay where they have come in.

    Raises:
        InputError: when the budget does not buy one run.
    """
    menu, options = accuracy.menu, options or ExchangeOptions()
    if not (~menu.done & (menu.cost <= budget)).any():
        cheapest = f"the cheapest costs {menu.prices.min():.3g}"
        raise InputError("a budget that buys at least one run", f"{budget:.3g}, {cheapest}")
    orders = orders or [random_order(menu, rng, nested=options.nested)]
    walk = Walk(accuracy, options, keep)
    entropy = int(rng.integers(2**32))
    counts = starts(menu.prices, menu.stock, rng=rng, empty=bool(menu.done.any()))
    seen: list[Found] = []
    for start in reversed(_records(walk, counts, orders, budget)):
        if not seen or start.value <= HOPELESS * min(f.value for f in seen):
            seen.append(walk.polished(start, _rng(walk, start, entropy, 0), trials=options.trials))
    close = [f for f in seen if f.value <= NEAR * min(f.value for f in seen)]
    near = [walk.polished(f, _rng(walk, f, entropy, 1), trials=options.late) for f in close]
    seen += near
    for start, largest in itertools.product(near, range(menu.sizes)):
        further = walk.path(start, _rng(walk, start, entropy, 2 + largest), largest=largest)
        seen += itertools.takewhile(lambda f: f.cost <= budget, further)
    return flat(min(seen, key=lambda f: (accuracy.error(flat(f.slots)), f.cost)).slots)


def _rng(walk: Walk, start: Found, *seeds: int) -> np.random.Generator:
    """Randomness that the start alone decides, not the budget."""
    menu = walk.accuracy.menu
    return np.random.default_rng([*seeds, *np.bincount(menu.size[flat(start.slots)], minlength=menu.sizes)])


def _records(walk: Walk, counts: Sequence[Indices], orders: Sequence[Sequence[Indices]], budget: float) -> list[Found]:
    """Starting points within the budget that are better than all cheaper ones, the cheapest first."""
    menu, nested = walk.accuracy.menu, walk.options.nested
    choices = [
        walk.found(slots_of(menu, count, order, nested=nested))
        for count in counts
        if menu.prices @ count <= budget
        for order in orders
    ]
    records: list[Found] = []
    for one in sorted(choices, key=lambda f: (f.cost, f.value)):
        if not records or one.value * THINNED < records[-1].value:
            records.append(one)
    return records
