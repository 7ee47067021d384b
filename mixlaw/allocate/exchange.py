"""Which runs: exchange of single runs on the expected error, over numbers of runs that a budget allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mixlaw.allocate.accuracy import Accuracy
from mixlaw.allocate.menu import Indices, Menu
from mixlaw.allocate.strategies import all_counts

PATIENCE = 12
"""Exchange ends after so many vain proposals per slot (and 100 more)."""


@dataclass(frozen=True)
class ExchangeOptions:
    """How long to look.

    Attributes:
        trials: evaluations of the criterion in the final exchange.
        finalists: numbers of runs per size that are improved by exchange before the best is taken.
        early: evaluations for each finalist.
        nested: sizes share mixtures, as far as they have as many runs.
    """

    trials: int = 4000
    finalists: int = 3
    early: int = 400
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
) -> list[Slot]:
    """Swap single slots for others of the same sizes while that lowers the criterion, at most ``trials`` times.

    Slots with a run of ``keep`` stay.
    """
    current = list(slots)
    movable = [i for i, slot in enumerate(current) if not keep & set(slot)]
    if not movable:
        return current
    best = accuracy.criterion(flat(current))
    failures = 0
    for _ in range(trials):
        if failures > PATIENCE * len(current) + 100:  # nothing found for long
            break
        place = movable[int(rng.integers(len(movable)))]
        other = _alternative(accuracy.menu, current, place, rng)
        if other is None:
            failures += 1
            continue
        trial = [*current[:place], other, *current[place + 1 :]]
        value = accuracy.criterion(flat(trial))
        failures = 0 if value < best else failures + 1
        if value < best:
            current, best = trial, value
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


def best_runs(
    accuracy: Accuracy,
    rng: np.random.Generator,
    *,
    budget: float,
    options: ExchangeOptions | None = None,
    orders: Sequence[Sequence[Indices]] = (),
    keep: frozenset[int] = frozenset(),
) -> Indices:
    """Numbers of runs and runs with the smallest expected error for a budget, ascending run numbers.

    Every count vector is judged with the same orders of runs (two random ones if none are given); the best few are
    improved by a short exchange, the winner by a long one. Runs of ``keep`` stay where an order has brought them in.
    """
    options = options or ExchangeOptions()
    menu = accuracy.menu
    orders = orders or [random_order(menu, rng, nested=options.nested) for _ in range(2)]
    scored: list[tuple[float, int, list[Slot]]] = []
    for counts in all_counts(menu.prices, menu.stock, budget=budget, rng=rng):
        choices = [slots_of(menu, counts, order, nested=options.nested) for order in orders]
        values = [accuracy.criterion(flat(c)) for c in choices]
        scored.append((float(np.mean(values)), len(scored), choices[int(np.argmin(values))]))
    scored.sort(key=lambda entry: entry[:2])
    best = [slots for _, _, slots in scored[: options.finalists]]
    finalists = [exchange(accuracy, slots, rng, trials=options.early, keep=keep) for slots in best]
    winner = min(finalists, key=lambda slots: accuracy.criterion(flat(slots)))
    return flat(exchange(accuracy, winner, rng, trials=options.trials, keep=keep))
