from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mixlaw.allocate.designs import DesignOptions
from mixlaw.allocate.doubts import doubts_of
from mixlaw.allocate.exchange import ExchangeOptions
from mixlaw.allocate.next_runs import next_runs
from mixlaw.allocate.plan import Done, Plan, PlanRequest, Stage, make_plan
from mixlaw.allocate.sizes import Scale, Size
from mixlaw.allocate.strategies import OPTIMAL, SHAPES
from mixlaw.domains import Domain, Domains
from mixlaw.errors import InfeasibleError, InputError, UsageError
from mixlaw.laws.base import Inputs
from mixlaw.mixture import Mixture

SIZES = (Size(6e7, (6e8, 1.2e9)), Size(1.5e8, (1.5e9, 3e9)), Size(4e8, (4e9, 8e9)))
QUICK = ExchangeOptions(trials=120, late=400, early=20, steps=4)


@pytest.fixture
def small(request_for: PlanRequest) -> PlanRequest:
    return replace(request_for, exchange=QUICK, designs=DesignOptions(count=40))


@pytest.fixture
def plan(small: PlanRequest) -> Plan:
    return make_plan(small)


def names_of(warnings: tuple[str, ...]) -> set[str]:
    return {w.partition(":")[0] for w in warnings}


def test_every_strategy_keeps_the_budget_and_adds_up(plan: Plan) -> None:
    assert set(plan.outcomes) == {OPTIMAL, *SHAPES}
    for outcome in plan.outcomes.values():
        spent = sum(n * s.flops for n, s in zip(outcome.counts.tolist(), plan.request.sizes, strict=True))
        assert outcome.spent == pytest.approx(spent, rel=1e-12)
        assert 0 < outcome.spent <= plan.request.budget
        assert outcome.counts.sum() == len(outcome.runs) == len(set(outcome.runs.tolist()))


def test_optimal_has_the_smallest_expected_error(plan: Plan) -> None:
    assert plan.chosen.error == min(o.error for o in plan.outcomes.values())
    assert plan.chosen.error < 0.95 * min(o.error for n, o in plan.outcomes.items() if n != OPTIMAL)


def test_the_largest_size_runs_natural_and_uniform_first(plan: Plan) -> None:
    for outcome in plan.outcomes.values():
        top = outcome.runs[plan.menu.size[outcome.runs] == 2]
        names = {plan.candidates.names[i] for i in plan.menu.mixture[top]}
        assert ({"natural"} if len(top) == 1 else {"natural", "uniform"}) <= names


def test_the_same_seed_gives_the_same_plan_and_another_another(small: PlanRequest, plan: Plan) -> None:
    again, other = make_plan(small), make_plan(replace(small, seed=1))
    assert np.array_equal(again.chosen.runs, plan.chosen.runs)
    assert np.array_equal(again.candidates.shares, plan.candidates.shares)
    assert again.chosen.regret == plan.chosen.regret
    assert not np.array_equal(other.candidates.shares, plan.candidates.shares)


def test_mixtures_obey_limits_at_proxies_and_target(plan: Plan) -> None:
    longest = plan.request.region(8e9)
    assert max(longest.violation(m) for m in plan.candidates.shares) <= 1e-9
    target = plan.request.region(plan.request.target.tokens)
    assert target.constraints.upper[2] == 0.4  # 4 epochs of 5B are half of 40B: the limit binds first


def test_nesting_is_compared_with_the_same_plan_without(small: PlanRequest) -> None:
    plan = make_plan(replace(small, exchange=replace(QUICK, nested=True)), "hourglass")
    assert plan.unshared is not None
    sets = [set(plan.menu.mixture[plan.chosen.runs[plan.menu.size[plan.chosen.runs] == s]].tolist()) for s in range(3)]
    smaller, larger = sorted((sets[0], sets[2]), key=len)
    assert smaller <= larger
    assert plan.unshared.error != plan.chosen.error


def test_incumbent_is_run_too(small: PlanRequest) -> None:
    plan = make_plan(replace(small, incumbent=Mixture({"web": 0.5, "code": 0.3, "math": 0.2})), "uniform")
    chosen = [plan.candidates.names[i] for i in plan.menu.mixture[plan.chosen.runs]]
    assert "incumbent" in chosen


def test_a_supply_that_runs_short_is_refused(small: PlanRequest, facts: Domains) -> None:
    poor = {n: replace(d, available_tokens=1e8, max_epochs=1.0) for n, d in facts.by_name.items()}
    with pytest.raises(InfeasibleError):
        make_plan(replace(small, domains=Domains(poor)))


def test_slips(small: PlanRequest) -> None:
    with pytest.raises(UsageError, match="pyramide"):
        make_plan(small, "pyramide")
    with pytest.raises(InputError, match="at least one run"):
        make_plan(replace(small, budget=1e15))
    with pytest.raises(InputError, match="two domains"):
        replace(small, names=("web",))


def test_priors_that_are_missing_count_as_equal(small: PlanRequest) -> None:
    assert replace(small, domains=Domains()).natural() == pytest.approx([1 / 3] * 3)
    assert small.natural() == pytest.approx([0.7, 0.2, 0.1])


def test_without_priors_the_centre_is_called_uniform(small: PlanRequest, facts: Domains) -> None:
    some = {n: replace(d, prior=None if n == "math" else d.prior) for n, d in facts.by_name.items()}
    plan = make_plan(replace(small, domains=Domains(some)), "uniform")
    assert plan.candidates.names[0] == "uniform"
    assert plan.candidates.names.count("uniform") == 1
    assert "natural" not in plan.candidates.names
    top = plan.chosen.runs[plan.menu.size[plan.chosen.runs] == 2]
    assert "uniform" in {plan.candidates.names[i] for i in plan.menu.mixture[top]}
    assert "no-priors" in names_of(doubts_of(plan))


def test_passes_are_told_at_the_shares_that_there_are(small: PlanRequest) -> None:
    poor = Domains({n: Domain(available_tokens=1e10) for n in small.names})
    warnings = doubts_of(make_plan(replace(small, domains=poor, target=Scale(2e9, 1e11)), "uniform"))
    assert any(w.startswith("unlike-epochs: passes at uniform shares at the target: web 3.3") for w in warnings)


def test_a_proposal_carries_the_doubts_of_a_plan(small: PlanRequest) -> None:
    done = Done(Inputs.build(small.names, np.array([[0.6, 0.3, 0.1]] * 2), 1e7, np.array([1e8, 2e8])),
                np.array([0, 1]), 2)  # fmt: skip
    far = replace(small, sizes=(Size(2e7, (4e8,)),), target=Scale(1e9, 1.5e11))
    plan, proposal = next_runs(far, 2, done=done)
    warnings = doubts_of(plan, proposal.runs)
    assert names_of(warnings) == {"too-few-runs", "small-proxies", "far-target", "unlike-epochs"}
    text = "\n".join(warnings)
    assert "4 runs for 3 domains" in text and "runs done at 10M; below 15M" in text and "largest proxy, 20M" in text
    same = replace(done, inputs=Inputs.build(small.names, np.array([[0.6, 0.3, 0.1]] * 2), 2e7, 4e8))
    again, proposal = next_runs(far, 2, done=same)
    assert {"one-ratio", "one-size"} <= names_of(doubts_of(again, proposal.runs))


def test_a_sound_plan_has_no_warnings(small: PlanRequest) -> None:
    assert doubts_of(make_plan(small, "uniform")) == ()


def test_a_single_run_at_the_largest_size_is_told(plan: Plan) -> None:
    top = int(np.flatnonzero(plan.chosen.counts)[-1])
    alone = plan.menu.at(0)[:3].tolist() + plan.menu.at(top)[:1].tolist()
    assert "one-largest" in names_of(doubts_of(plan, np.array(alone)))
    assert "one-largest" not in names_of(doubts_of(plan, np.array([*alone, int(plan.menu.at(top)[1])])))
    assert "one-largest" not in names_of(doubts_of(replace(plan, done=5), np.array(alone)))


def test_one_run_more_is_the_best_of_those_that_the_rest_buys(plan: Plan, small: PlanRequest) -> None:
    stage = Stage.of(small).averaged()
    left = small.budget - plan.chosen.spent
    free = [r for r in range(len(plan.menu.size)) if r not in plan.chosen.runs and plan.menu.cost[r] <= left]
    every = min(stage.accuracy.error(np.sort([*plan.chosen.runs, r])) for r in free)
    assert plan.one_more == pytest.approx(every, rel=0.01) and plan.one_more >= every
    assert make_plan(small, "uniform").one_more is None
    tight = replace(stage, request=replace(small, budget=plan.chosen.spent))
    assert tight.one_more(plan.chosen.runs) is None


@pytest.mark.parametrize("sizes", [SIZES[:1], SIZES[1:], SIZES])
@pytest.mark.parametrize("target", [Scale(2e9, 4e10), Scale(4e10, 8e11)])
def test_the_expected_error_never_rises_with_the_budget(
    small: PlanRequest, sizes: tuple[Size, ...], target: Scale
) -> None:
    menu = replace(small, sizes=sizes, target=target)
    last = np.inf
    for times in (1, 10, 14, 45, 500, 2000):
        asked = replace(menu, budget=times * sizes[0].cost)
        stage = Stage.of(asked).averaged()
        outcome = stage.outcome(stage.buy(OPTIMAL))
        assert outcome.spent <= asked.budget
        assert outcome.error <= last
        last = outcome.error


def test_warnings_have_their_numbers(small: PlanRequest) -> None:
    sizes = (Size(1e7, (2e8,)), Size(2e7, (4e8,)))
    poor = replace(small, sizes=sizes, target=Scale(1e9, 1.5e11), budget=6 * 2e7 * 4e8 * 5)
    warnings = doubts_of(make_plan(poor, "hourglass"))
    assert {"one-ratio", "too-few-runs", "small-proxies", "far-target", "unlike-epochs"} <= names_of(warnings)
    text = "\n".join(warnings)
    assert "20 tokens per parameter" in text and "3 (K + 1) = 12" in text
    assert "runs to buy at 10M; below 15M" in text and "50 times the largest proxy, 20M" in text
    assert "math 3.0" in text


def test_one_size_is_said(small: PlanRequest) -> None:
    plan = make_plan(replace(small, sizes=small.sizes[:1]), "uniform")
    assert "one-size" in names_of(doubts_of(plan))
