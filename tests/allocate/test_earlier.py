from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mixlaw.allocate.designs import DesignOptions
from mixlaw.allocate.earlier import done_of, prior_of_runs
from mixlaw.allocate.exchange import ExchangeOptions
from mixlaw.allocate.next_runs import contenders, next_runs
from mixlaw.allocate.plan import PlanRequest, Stage, make_plan
from mixlaw.errors import InputError
from mixlaw.runs import RunTable


@pytest.fixture(scope="module")
def small_runs(runs: RunTable) -> RunTable:
    return runs.select(runs.column("params") < 2e8)


def test_rows_are_put_into_the_order_of_the_plan(small_runs: RunTable) -> None:
    done = done_of(small_runs, ("math", "web", "code"))
    assert done.count == 24 and len(done.run) == 48
    first = small_runs.mixtures[0]
    assert done.inputs.shares[0] == pytest.approx(first[[2, 0, 1]])


def test_other_domains_are_named(small_runs: RunTable) -> None:
    with pytest.raises(InputError, match="books"):
        done_of(small_runs, ("web", "code", "books"))


def test_prior_comes_from_a_fit_with_parameters_by_name(small_runs: RunTable) -> None:
    straight = prior_of_runs(small_runs, ("web", "code", "math"))
    turned = prior_of_runs(small_runs, ("math", "web", "code"))
    assert straight is not None and turned is not None
    assert straight.targets == ("web", "code")
    assert turned.theta[:, 4:7] == pytest.approx(straight.theta[:, [6, 4, 5]])
    assert "24 runs" in straight.text


def test_one_size_gives_no_prior(runs: RunTable) -> None:
    assert prior_of_runs(runs.select(runs.column("params") == 6e7), ("web", "code", "math")) is None


def test_runs_that_are_done_make_a_plan_better(request_for: PlanRequest, small_runs: RunTable) -> None:
    quick = replace(
        request_for, budget=3e19, exchange=ExchangeOptions(trials=200, late=400, early=50, steps=4),
        designs=DesignOptions(count=30),
    )  # fmt: skip
    prior = prior_of_runs(small_runs, quick.names)
    alone = make_plan(quick, prior=prior)
    with_runs = make_plan(quick, prior=prior, done=done_of(small_runs, quick.names))
    assert with_runs.chosen.error < alone.chosen.error
    assert with_runs.done == 24 and with_runs.chosen.spent <= 1e20


def test_next_runs_are_the_same_for_the_same_seed(request_for: PlanRequest, small_runs: RunTable) -> None:
    quick = replace(request_for, designs=DesignOptions(count=30))
    done, prior = done_of(small_runs, quick.names), prior_of_runs(small_runs, quick.names)
    plan, first = next_runs(quick, 3, done=done, prior=prior)
    _, second = next_runs(quick, 3, done=done, prior=prior)
    assert first == second
    assert np.all(plan.menu.size[first.runs] >= 0)


def test_the_rivals_hold_the_best_mixture_and_are_allowed(request_for: PlanRequest, small_runs: RunTable) -> None:
    quick = replace(request_for, designs=DesignOptions(count=30))
    prior = prior_of_runs(small_runs, quick.names)
    assert prior is not None
    stage = Stage.of(quick, prior=prior, done=done_of(small_runs, quick.names))
    rivals = contenders(stage)
    loss = prior.law.predict(prior.theta, rivals).mean(axis=0)
    before = prior.law.predict(prior.theta, stage.accuracy.goal).mean(axis=0)
    region = quick.region(quick.target.tokens)
    assert loss.min() <= before.min()
    assert max(region.violation(m) for m in rivals.shares) <= 1e-9
    assert (np.abs(rivals.shares - rivals.shares[np.argmin(loss)]).max(axis=1) < 0.2).sum() >= 5
