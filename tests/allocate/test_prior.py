from __future__ import annotations

import numpy as np
import pytest

from mixlaw.allocate.accuracy import Accuracy
from mixlaw.allocate.exchange import ExchangeOptions
from mixlaw.allocate.prior import Prior, default_prior, drawn
from mixlaw.allocate.search import best_runs


@pytest.fixture
def prior() -> Prior:
    return default_prior(("web", "code", "math"), np.array([0.7, 0.2, 0.1]), params=1.5e8, tokens=2e9)


def test_draws_have_the_spread_and_the_centres_of_the_prior(prior: Prior) -> None:
    wide = drawn(prior, np.random.default_rng(0), count=30)
    steps = (wide.theta - prior.theta[np.arange(30) % 3]) / prior.spread
    assert wide.theta.shape == (30, prior.theta.shape[1])
    assert steps.mean(axis=0) == pytest.approx(0, abs=1e-12)
    assert steps.std(axis=0) == pytest.approx(1, abs=0.05)
    assert np.abs(np.corrcoef(steps.T) - np.eye(steps.shape[1])).max() < 0.7
    assert "averaged over 30 draws" in wide.text and wide.text.startswith(prior.text)


def test_the_same_seed_gives_the_same_draws(prior: Prior) -> None:
    one, two, other = (drawn(prior, np.random.default_rng(seed)).theta for seed in (0, 0, 1))
    assert np.array_equal(one, two) and not np.array_equal(one, other)


def test_a_plan_for_the_centre_alone_promises_more_than_it_keeps(accuracy: Accuracy, prior: Prior) -> None:
    """Planned at one vector and judged on fresh draws, against planned on draws: same budget, same search."""
    wide, fresh = (
        Accuracy(accuracy.menu, drawn(prior, np.random.default_rng(seed), count=24), accuracy.goal) for seed in (1, 2)
    )
    budget = 12 * float(accuracy.menu.prices[2])
    quick = ExchangeOptions(trials=200, late=600, early=50, steps=4)
    narrow, robust = (best_runs(a, np.random.default_rng(0), budget=budget, options=quick) for a in (accuracy, wide))
    assert fresh.error(narrow) > 1.1 * accuracy.error(narrow)
    assert fresh.error(robust) < 1.05 * wide.error(robust)
    assert fresh.error(robust) < fresh.error(narrow)
