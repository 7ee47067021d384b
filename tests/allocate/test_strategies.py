from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixlaw.allocate.strategies import MOST_RUNS, SHAPES, described, fill, shape, starts
from mixlaw.errors import InputError, UsageError

PRICES = np.array([1.0, 3.0, 10.0])
STOCK = np.array([60, 60, 40])


@pytest.mark.parametrize(
    ("name", "ratio"),
    [
        ("uniform", [1, 1, 1]),
        ("pyramid", [4, 2, 1]),
        ("hourglass", [4, 1, 4]),
        ("ends", [4, 0, 4]),
        ("top", [1, 1, 4]),
        ("equal-flops", [10, 10 / 3, 1]),
    ],
)
def test_shapes(name: str, ratio: list[float]) -> None:
    assert shape(name, PRICES) == pytest.approx(ratio)


def test_unknown_strategy_is_named() -> None:
    with pytest.raises(UsageError, match="hourglas'"):
        shape("hourglas", PRICES)


def test_whole_multiples_keep_the_ratio() -> None:
    assert fill(np.array([4.0, 1.0, 4.0]), PRICES, STOCK, budget=47 * 3.0).tolist() == [12, 3, 12]


def test_the_rest_rounds_up_the_dearest_first() -> None:
    assert fill(np.array([1.0, 1.0, 1.0]), PRICES, STOCK, budget=14 + 11.0).tolist() == [2, 1, 2]


def test_the_stock_limits() -> None:
    assert fill(np.ones(3), PRICES, np.array([2, 2, 2]), budget=1e6).tolist() == [2, 2, 2]


def test_a_budget_below_the_cheapest_run_is_refused() -> None:
    with pytest.raises(InputError, match="cheapest costs 1"):
        fill(np.ones(3), PRICES, STOCK, budget=0.5)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(1e15, 1e21), min_size=1, max_size=6),
    st.floats(1.0, 1e4),
    st.sampled_from(sorted(SHAPES)),
)
def test_no_shape_ever_exceeds_the_budget(prices: list[float], times: float, name: str) -> None:
    price = np.sort(np.array(prices))
    budget = float(price[0] * times)
    stock = np.full(len(price), 150, dtype=np.intp)
    ratio = shape(name, price)
    if not (price[ratio > 0] <= budget).any():
        return
    counts = fill(ratio, price, stock, budget=budget)
    assert counts.min() >= 0 and counts @ price <= budget
    left = budget - counts @ price
    assert not ((price <= left) & (ratio > 0) & (counts < stock)).any()  # nothing affordable is left unbought


def test_starts_do_not_know_the_budget_and_hold_the_named_shapes(rng: np.random.Generator) -> None:
    found = {tuple(c.tolist()) for c in starts(PRICES, STOCK, rng=rng)}
    assert {(1, 0, 0), (0, 0, 1), (24, 3, 8), (0, 60, 1)} <= found  # 72 runs at a size of 60 are 60
    assert max(map(sum, found)) <= MOST_RUNS and (0, 0, 0) not in found
    for name in SHAPES:
        for budget in (4.0, 64.0, 256.0):
            counts = tuple(fill(shape(name, PRICES), PRICES, STOCK, budget=budget).tolist())
            assert counts in found or sum(counts) > MOST_RUNS
    assert (0, 0, 0) in {tuple(c.tolist()) for c in starts(PRICES, STOCK, rng=rng, empty=True)}


def test_many_sizes_have_few_starts(rng: np.random.Generator) -> None:
    many = starts(np.arange(1.0, 11.0), np.full(10, 50), rng=rng)
    assert 500 < len(many) < 3000
    assert {(0,) * 4 + (8,) + (0,) * 4 + (1,)} <= {tuple(c.tolist()) for c in many}  # every pair of sizes is there


def test_described() -> None:
    assert described([12, 0, 3], ["60M", "150M", "1B"]) == "12 x 60M, 3 x 1B"
