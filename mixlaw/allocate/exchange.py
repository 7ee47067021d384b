"""Which mixtures: exchange of single runs for others of the same size, on the expected error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mixlaw.allocate.accuracy import Accuracy
from mixlaw.allocate.menu import Indices, Menu
from mixlaw.allocate.tally import Tally

PATIENCE = 12
"""Exchange ends after so many vain proposals per slot (and 100 more)."""


@dataclass(frozen=True)
class ExchangeOptions:
    """How long to look.

    Attributes:
        trials: evaluations of the criterion in the exchange for each starting point.
        late: more of them for the best few, from which paths set out.
        early: evaluations in the exchange after each step of a path.
        steps: additions and removals on a path.
        nested: sizes share mixtures, as far as they have as many runs.
    """

    trials: int = 600
    late: int = 2000
    early: int = 200
    steps: int = 12
    nested: bool = False


Slot = tuple[int, ...]
"""Runs of a choice that change together: one run, or with nesting the same mixture at several sizes."""


def slots_of(menu: Menu, counts: Indices, order: Sequence[Indices], *, nested: bool) -> list[Slot]:
    """The first ``counts`` runs of each size in an order; nested ones grouped by their place in it."""
    picked = [[int(r) for r in order[s][:n]] for s, n in enumerate(counts)]
    if not nested:
        return [(r,) for runs in picked for r in runs]
    return [tuple(runs[i] for runs in picked if i < len(runs)) for i in range(int(max(counts)))]


def flat(slots: Sequence[Slot]) -> Indices:
    """All runs of some slots, ascending."""
    return np.array(sorted(r for slot in slots for r in slot), dtype=np.intp)


def exchange(
    accuracy: Accuracy,
    slots: Sequence[Slot],
    rng: np.random.Generator,
    *,
    trials: int,
    keep: frozenset[int] = frozenset(),
    tally: Tally | None = None,
) -> list[Slot]:
    """Swap single slots for others of the same sizes while that lowers the criterion, at most ``trials`` times.

    Slots with a run of ``keep`` stay. A tally of the slots is kept up to date where one is given.
    """
    current = list(slots)
    movable = [i for i, slot in enumerate(current) if not keep & set(slot)]
    if not movable:
        return current
    tally = tally or Tally(accuracy, flat(current))
    failures = 0
    for _ in range(trials):
        if failures > PATIENCE * len(current) + 100:  # nothing found for long
            break
        place = movable[int(rng.integers(len(movable)))]
        other = _alternative(accuracy.menu, current, place, rng)
        failures += 1
        if other is not None and tally.after(current[place], other) < tally.value:
            tally.change(current[place], other)
            current[place], failures = other, 0
    return current


def _alternative(menu: Menu, slots: Sequence[Slot], place: int, rng: np.random.Generator) -> Slot | None:
    """Other runs of the same sizes with one mixture that are not chosen yet."""
    taken = {r for slot in slots for r in slot}
    first, *rest = slots[place]
    free = [int(r) for r in menu.at(int(menu.size[first])) if int(r) not in taken]
    if not free:
        return None
    new = int(rng.choice(free))
    if not rest:
        return (new,)
    same = {int(menu.size[r]): int(r) for r in np.flatnonzero(menu.mixture == menu.mixture[new])}
    others = tuple(same[int(menu.size[r])] for r in rest if int(menu.size[r]) in same)
    return (new, *others) if len(others) == len(rest) and not taken & set(others) else None


def random_order(menu: Menu, rng: np.random.Generator, *, nested: bool = False) -> list[Indices]:
    """The runs of each size in random order; nested: mixtures in the same order at every size."""
    if not nested:
        return [rng.permutation(menu.at(s)) for s in range(menu.sizes)]
    rank = np.argsort(rng.permutation(int(menu.mixture.max()) + 1))
    return [menu.at(s)[np.argsort(rank[menu.mixture[menu.at(s)]], kind="stable")] for s in range(menu.sizes)]
