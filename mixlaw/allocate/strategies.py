"""How many runs of each size: shapes with names, and the spend that fills a budget in a shape."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from mixlaw.allocate.menu import Indices
from mixlaw.errors import InputError, UsageError
from mixlaw.laws.base import Floats

OPTIMAL = "optimal"
IN_ROUNDS = "optimal-in-rounds"
LEVELS = (0, 1, 3, 8, 24, 72)
"""Numbers of runs at each size from which an optimal plan sets out."""
MOST_STARTS = 1500
MOST_RUNS = 120
"""An optimal plan has no more runs, where fewer are possible: misfit does not average out, and time would be lost."""


def _ends(count: int, between: float) -> list[float]:
    """As many runs at the smallest as at the largest size."""
    return [4.0 if i in (0, count - 1) else between for i in range(count)]


SHAPES: dict[str, Callable[[Floats], list[float]]] = {
    "uniform": lambda prices: [1.0] * len(prices),
    "equal-flops": lambda prices: [float(x) for x in prices.max() / prices],
    "pyramid": lambda prices: [2.0 ** (len(prices) - 1 - i) for i in range(len(prices))],
    "hourglass": lambda prices: _ends(len(prices), 1.0),
    "ends": lambda prices: _ends(len(prices), 0.0),
    "top": lambda prices: [1.0] * (len(prices) - 1) + [4.0],
}
"""Relative numbers of runs by size, the smallest first, from the price of a run of each size."""

STRATEGIES = (OPTIMAL, *SHAPES)
"""What a plan may follow."""
REPLAYED = (IN_ROUNDS, OPTIMAL, *SHAPES)
"""What a replay compares: also ``optimal`` in two rounds, the second planned from a fit to the first."""


def shape(name: str, prices: Floats) -> Floats:
    """Relative numbers of runs of a named strategy, shape (L,).

    Raises:
        UsageError: for a name that is not in ``SHAPES``.
    """
    if name not in SHAPES:
        raise UsageError(f"--strategy among {', '.join(STRATEGIES)}", repr(name))
    return np.array(SHAPES[name](prices))


def fill(ratio: Floats, prices: Floats, stock: Indices, *, budget: float) -> Indices:
    """Numbers of runs, shape (L,), in about this ratio and never above the budget.

    What is left after whole multiples first rounds numbers up, the dearest size first; then it buys runs of the size
    that is furthest behind its ratio and still affordable.

    Raises:
        InputError: when the budget does not buy one run.
    """
    ratio = np.where(stock > 0, ratio, 0.0)
    if not (prices[ratio > 0] <= budget).any():
        cheapest = f"the cheapest costs {prices.min():.3g}"
        raise InputError("a budget that buys at least one run", f"{budget:.3g}, {cheapest}")
    unit = budget / float(ratio @ prices)
    counts = np.minimum(np.floor(ratio * unit + 1e-9), stock).astype(np.intp)
    while counts @ prices > budget:  # rounding of the last bit
        counts[np.argmax(counts * prices)] -= 1
    while True:
        affordable = (prices <= budget - counts @ prices) & (ratio > 0) & (counts < stock)
        if not affordable.any():
            break
        behind = affordable & (counts < ratio * unit - 1e-9)
        worth = np.where(behind, prices, -np.inf) if behind.any() else ratio * unit - counts
        counts[int(np.argmax(np.where(affordable, worth, -np.inf)))] += 1
    return counts


def starts(prices: Floats, stock: Indices, *, rng: np.random.Generator, empty: bool = False) -> list[Indices]:
    """Numbers of runs from which an optimal plan may set out, whatever the budget is.

    Every vector over ``LEVELS`` (of very many, those with at most two sizes and a sample), and every named shape filled
    for a ladder of budgets; none with more than ``MOST_RUNS``.

    Args:
        prices: of a run of each size, shape (L,).
        stock: how many runs of each size there are, shape (L,).
        rng: randomness of the sample.
        empty: buying nothing is one of them.
    """
    found = {
        tuple(min(n, int(most)) for n, most in zip(level, stock, strict=True)) for level in _levels(len(prices), rng)
    }
    for rung in range(int(np.log2(MOST_RUNS * prices.max() / prices.min())) + 2):
        budget = float(prices.min()) * 2.0**rung
        ratios = [shape(name, prices) for name in SHAPES]
        reachable = [r for r in ratios if (prices[(r > 0) & (stock > 0)] <= budget).any()]
        found |= {tuple(int(c) for c in fill(r, prices, stock, budget=budget)) for r in reachable}
    return [np.array(c, dtype=np.intp) for c in sorted(found) if (0 if empty else 1) <= sum(c) <= MOST_RUNS]


def _levels(sizes: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    if len(LEVELS) ** sizes <= MOST_STARTS:
        return list(itertools.product(LEVELS, repeat=sizes))
    few = {(0,) * sizes}
    for left, right in itertools.product(range(sizes), repeat=2):
        for pair in itertools.product(LEVELS, repeat=2):
            few.add(tuple(pair[0] if i == left else pair[1] if i == right else 0 for i in range(sizes)))
    drawn = {tuple(int(x) for x in rng.choice(LEVELS, sizes)) for _ in range(MOST_STARTS)}
    return sorted(few | drawn)


def described(counts: Sequence[int], labels: Sequence[str]) -> str:
    """``12 x 60M, 3 x 1B``."""
    return ", ".join(f"{n} x {label}" for n, label in zip(counts, labels, strict=True) if n)
