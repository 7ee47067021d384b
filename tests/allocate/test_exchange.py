"""Exchange against the best of all choices, and against a library's I-optimal designs."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest

from mixlaw.allocate.accuracy import Accuracy, Misfit
from mixlaw.allocate.exchange import exchange, flat, random_order, slots_of
from mixlaw.allocate.menu import Menu
from mixlaw.allocate.prior import Prior
from mixlaw.laws.base import Floats, Inputs, Parameter


class Quadratic:
    """log loss = full quadratic in log N and log D: a polynomial that design libraries know."""

    name, needs, reduced = "quadratic", frozenset({"params", "tokens"}), ()

    def parameters(self, domains: Sequence[str]) -> tuple[Parameter, ...]:
        return tuple(Parameter(f"b{i}", log=False) for i in range(6))

    def design(self, inputs: Inputs) -> Floats:
        n, d = inputs.log_params, inputs.log_tokens
        return np.stack([np.ones_like(n), n, d, n * n, n * d, d * d], axis=-1)

    def predict(self, theta: Floats, inputs: Inputs) -> Floats:
        return np.ones((*theta.shape[:-1], len(inputs)))

    def gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        return np.broadcast_to(self.design(inputs), (*theta.shape[:-1], len(inputs), 6)).copy()

    def share_gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        raise NotImplementedError

    def starts(self, inputs: Inputs, y: Floats, rng: np.random.Generator, count: int) -> Floats:
        raise NotImplementedError


def plane(points: Floats) -> Accuracy:
    """One run at each point (log N, log D), noise alone, judged over all points: textbook I-optimality."""
    inputs = Inputs.build(("a", "b"), np.tile([0.5, 0.5], (len(points), 1)), *(np.exp(points.T) * [[1e8], [1e9]]))
    every = np.arange(len(points))
    menu = Menu(inputs, every, np.zeros_like(every), np.ones(len(points)), every, np.zeros(len(points), dtype=bool))
    prior = Prior(Quadratic(), ("t",), np.zeros((1, 6)), np.zeros(6), "flat")
    return Accuracy(menu, prior, inputs, Misfit(common=0, mixture=0, run=0, checkpoint=1))


def grid() -> Floats:
    side = np.linspace(-1, 1, 5)
    return np.array(list(itertools.product(side, side)))


def test_criterion_is_the_average_prediction_variance() -> None:
    points = grid()
    accuracy, runs = plane(points), np.array([0, 2, 4, 10, 12, 14, 20, 24])
    x = Quadratic().design(accuracy.menu.inputs)
    expected = np.einsum("ip,pq,iq->i", x, np.linalg.inv(x[runs].T @ x[runs]), x).mean()
    assert accuracy.criterion(runs) == pytest.approx(expected, rel=1e-4)


def test_exchange_is_as_good_as_a_design_library() -> None:
    pydoe = pytest.importorskip("pydoe")
    points = grid()
    accuracy = plane(points)
    design, _ = pydoe.optimal_design(points, n_points=9, degree=2, criterion="I", method="fedorov")
    place = [int(np.argmin(((points - row) ** 2).sum(axis=1))) for row in design]
    x = Quadratic().design(accuracy.menu.inputs)
    theirs = np.einsum("ip,pq,iq->i", x, np.linalg.inv(x[place].T @ x[place]), x).mean()
    ours = []
    for seed in range(8):  # exchange ends in a local optimum: take the best of a few starts
        rng = np.random.default_rng(seed)
        slots = slots_of(accuracy.menu, np.array([9]), random_order(accuracy.menu, rng), nested=False)
        ours.append(accuracy.criterion(flat(exchange(accuracy, slots, rng, trials=1500))))
    assert min(ours) <= theirs * 1.001


def test_exchange_finds_the_best_of_all_choices(accuracy: Accuracy) -> None:
    """Two runs of the smallest and four of the largest size, of six mixtures each: all 225 choices tried."""
    counts = np.array([2, 0, 4])
    menu = accuracy.menu
    small, large = menu.at(0), menu.at(2)
    values = [
        accuracy.criterion(np.array([*a, *b]))
        for a in itertools.combinations(small[:6], 2)
        for b in itertools.combinations(large[:6], 4)
    ]
    found = exchange(accuracy, slots_of(menu, counts, [small, menu.at(1), large], nested=False),
                     np.random.default_rng(2), trials=1500)  # fmt: skip
    assert accuracy.criterion(flat(found)) <= min(values) * (1 + 1e-9)  # it may use the other mixtures too


def test_exchange_keeps_numbers_and_kept_runs(accuracy: Accuracy) -> None:
    menu, counts = accuracy.menu, np.array([3, 2, 4])
    slots = slots_of(menu, counts, random_order(menu, np.random.default_rng(0)), nested=False)
    kept = frozenset({slots[-1][0], slots[0][0]})
    found = flat(exchange(accuracy, slots, np.random.default_rng(1), trials=300, keep=kept))
    assert np.bincount(menu.size[found]).tolist() == [3, 2, 4]
    assert kept <= set(found.tolist())
    assert len(set(found.tolist())) == 9
    assert accuracy.criterion(found) < accuracy.criterion(flat(slots))
