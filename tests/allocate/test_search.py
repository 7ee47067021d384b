"""The search over numbers of runs: never above the budget, no better with less, and sums that stay right."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from mixlaw.allocate.accuracy import Accuracy, Misfit
from mixlaw.allocate.exchange import ExchangeOptions, flat, random_order, slots_of
from mixlaw.allocate.menu import Menu
from mixlaw.allocate.search import best_runs
from mixlaw.allocate.tally import Tally
from mixlaw.errors import InputError


def test_nested_choices_share_mixtures(accuracy: Accuracy) -> None:
    menu = accuracy.menu
    options = ExchangeOptions(trials=100, late=200, early=20, nested=True)
    runs = best_runs(
        accuracy, np.random.default_rng(0), budget=60 * menu.prices[0] + 4 * menu.prices[2], options=options
    )
    by_size = [set(menu.mixture[runs[menu.size[runs] == s]].tolist()) for s in range(menu.sizes)]
    by_size = sorted((s for s in by_size if s), key=len)
    assert len(by_size) >= 2
    assert all(small <= large for small, large in itertools.pairwise(by_size))


def test_best_runs_beat_every_named_shape_and_keep_the_budget(accuracy: Accuracy) -> None:
    from mixlaw.allocate.strategies import SHAPES, fill, shape

    menu = accuracy.menu
    budget = 6 * float(menu.prices[2])
    runs = best_runs(accuracy, np.random.default_rng(0), budget=budget)
    assert menu.cost[runs].sum() <= budget
    for name in SHAPES:
        counts = fill(shape(name, menu.prices), menu.prices, menu.stock, budget=budget)
        order = random_order(menu, np.random.default_rng(3))
        assert accuracy.criterion(runs) < accuracy.criterion(flat(slots_of(menu, counts, order, nested=False)))
    again = best_runs(accuracy, np.random.default_rng(0), budget=budget)
    assert np.array_equal(runs, again)


def test_a_larger_budget_is_never_worse_and_need_not_be_spent(accuracy: Accuracy) -> None:
    """The fixture averages over nothing: a law's tangent at one point, where runs soon do harm."""
    prices = accuracy.menu.prices
    errors, spent = [], []
    for budget in prices[0] * np.array([1, 5, 20, 44, 50, 100, 400, 1200]):
        runs = best_runs(accuracy, np.random.default_rng(3), budget=float(budget))
        errors.append(accuracy.error(runs))
        spent.append(float(accuracy.menu.cost[runs].sum()) / budget)
    assert all(later <= earlier for earlier, later in itertools.pairwise(errors))
    assert max(spent) <= 1
    assert spent[-1] < 0.9  # all 36 runs together would do worse
    assert errors[-1] < accuracy.error(np.arange(36))


def test_where_noise_is_all_every_run_is_bought(menu: Menu, accuracy: Accuracy) -> None:
    noisy = Accuracy(menu, accuracy.prior, accuracy.goal, Misfit(common=0, mixture=0, run=0, checkpoint=3.5e-3))
    runs = best_runs(noisy, np.random.default_rng(0), budget=float(menu.cost.sum()))
    assert len(runs) >= 34
    assert noisy.error(runs) <= 1.01 * noisy.error(np.arange(36))


def test_with_runs_done_it_may_be_best_to_buy_none(menu: Menu, accuracy: Accuracy) -> None:
    best = best_runs(accuracy, np.random.default_rng(3), budget=float(menu.cost.sum()))
    after = Accuracy(replace(menu, done=np.isin(np.arange(36), best)), accuracy.prior, accuracy.goal)
    more = best_runs(after, np.random.default_rng(0), budget=float(menu.prices[0]))
    assert not set(more.tolist()) & set(best.tolist())
    assert after.error(more) <= after.error([])
    worse = [r for r in menu.at(0) if r not in best and after.error([int(r)]) > after.error([])]
    assert len(more) == 0 or more[0] not in worse


def test_a_budget_below_every_run_is_refused(accuracy: Accuracy) -> None:
    with pytest.raises(InputError, match="cheapest costs"):
        best_runs(accuracy, np.random.default_rng(0), budget=1.0)


def test_sums_follow_the_runs(accuracy: Accuracy) -> None:
    runs = np.array([0, 3, 5, 12, 17, 24, 26, 30])
    tally = Tally(accuracy, runs)
    assert tally.value == pytest.approx(accuracy.criterion(runs), rel=1e-9)
    assert tally.after([3, 24], [4, 8, 33]) == pytest.approx(
        accuracy.criterion([0, 4, 5, 8, 12, 17, 26, 30, 33]), rel=1e-9
    )
    assert tally.value == pytest.approx(accuracy.criterion(runs), rel=1e-9)
    for gone, come in (([3], [4]), ([12, 17], []), ([], [18, 35]), ([4], [3])):
        tally.change(gone, come)
    assert tally.value == pytest.approx(accuracy.criterion([0, 3, 5, 18, 24, 26, 30, 35]), rel=1e-9)
