"""Tables of plans and replays on small hand-made results."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console, RenderableType

from mixlaw.allocate.designs import Candidates
from mixlaw.allocate.manifest import planned_runs
from mixlaw.allocate.menu import Menu
from mixlaw.allocate.plan import Outcome, Plan, PlanRequest
from mixlaw.allocate.prior import default_prior
from mixlaw.allocate.replay import Replay, ReplayOptions, Score, Trial
from mixlaw.allocate.sequential import Proposal, Step
from mixlaw.allocate.sizes import Scale, Size
from mixlaw.render import plan as render

NAMES = ("web", "code")


def text_of(*parts: RenderableType) -> str:
    console = Console(width=100, highlight=False)
    with console.capture() as captured:
        for part in parts:
            console.print(part)
    return captured.get()


@pytest.fixture
def plan() -> Plan:
    sizes = (Size(6e7, (1.2e9,)), Size(1e9, (1e10, 2e10)))
    shares = np.array([[0.75, 0.25], [0.5, 0.5], [1.0, 0.0]])
    request = PlanRequest(sizes, Scale(7e9, 1.5e11), 3e20, NAMES)
    runs = np.array([0, 2, 4])
    outcome = Outcome(np.array([2, 1]), runs, 2 * sizes[0].flops + sizes[1].flops, 0.0123, 0.00456)
    other = replace(outcome, error=0.02, regret=0.01)
    prior = default_prior(NAMES, np.array([0.5, 0.5]), params=1e8, tokens=1e9)
    mixtures = Candidates(NAMES, ("natural", "uniform", "without code"), shares)
    return Plan(request, "optimal", {"uniform": other, "optimal": outcome}, mixtures,
                Menu.product(sizes, NAMES, shares), prior)  # fmt: skip


def test_sizes_add_up(plan: Plan) -> None:
    lines = [line.split() for line in text_of(render.size_table(plan)).splitlines()]
    assert ["60M", "2", "1.2B", "4.32e+17", "8.64e+17", "0.3%"] in lines
    assert ["1B", "1", "10B,", "20B", "1.2e+20", "1.2e+20", "40.0%"] in lines
    assert ["all", "3", "1.21e+20", "40.3%"] in lines


def test_strategies_stand_side_by_side_the_best_first(plan: Plan) -> None:
    text = text_of(render.strategy_table(plan))
    assert "Predicted at 7B on 150B tokens" in text
    assert text.index("optimal *") < text.index("uniform")
    assert "1.23%" in text and "0.0046" in text


def test_runs_are_named_with_their_origin(plan: Plan) -> None:
    runs = planned_runs(plan)
    text = text_of(render.run_table(runs))
    assert [r.name for r in runs] == ["60M-001", "60M-002", "1B-001"]
    assert "without code" in text and "web 0.75, code 0.25" in text
    assert "first 2 of 3" in text_of(render.run_table(runs, most=2))


def test_nesting_is_told_both_ways(plan: Plan) -> None:
    assert render.nesting_line(plan) is None
    worse = replace(plan, unshared=replace(plan.chosen, error=0.03))
    better = replace(plan, unshared=replace(plan.chosen, error=0.01))
    assert "helps here: predicted error 1.23%, 3.00%" in str(render.nesting_line(worse))
    assert "does not help" in str(render.nesting_line(better))


def test_what_is_left_is_told_with_what_it_would_do(plan: Plan) -> None:
    assert render.unspent_line(plan) is None  # no run could still be bought
    worse, better = replace(plan, one_more=0.0125), replace(plan, one_more=0.0121)
    assert render.unspent_line(worse) == (
        "59.7% of the budget is left: any one run more is expected to raise the error, from 1.23% to 1.25% at the least"
    )
    assert "expected to lower the error from 1.23% to 1.21% at best" in str(render.unspent_line(better))
    spent = replace(worse, request=replace(plan.request, budget=plan.chosen.spent * 1.005))
    assert render.unspent_line(spent) is None
    data = render.plan_data(worse, planned_runs(worse), [])
    assert data["unspent"]["left"] == pytest.approx(3e20 - data["spent"])
    assert data["unspent"]["relative_error_with_one_more_run"] == 0.0125
    assert "unspent" not in render.plan_data(plan, planned_runs(plan), [])


def test_proposal(plan: Plan) -> None:
    proposal = Proposal(0.01, (Step(0, 4.32e17, 0.008), Step(4, 1.2e20, 0.002)))
    text = text_of(render.proposal_table(proposal, planned_runs(plan)[:2], "FLOPs"))
    assert "now" in text and "0.008" in text and "1.2e+20" in text
    assert "in this order: 1.2e+20 FLOPs together" in text and "1.2B" in text
    data = render.proposal_data(plan, proposal, planned_runs(plan)[:2], ["far-target: 7B"])
    assert data["predicted"] == {"regret_now": 0.01, "regret_after": [0.008, 0.002]}
    assert data["budget"] == 3e20
    assert data["warnings"] == ["far-target: 7B"]


def trial(strategy: str, seed: int, error: float, predicted: float) -> Trial:
    return Trial(strategy, 0.1, seed, (2, 1), 1e20, predicted, 0.001, Score(error, 0.98, 0.002))


def test_replay_shows_means_with_standard_errors() -> None:
    options = ReplayOptions(budgets=(0.1,), strategies=("optimal", "uniform"), seeds=2)
    trials = (trial("optimal", 0, 0.004, 0.005), trial("optimal", 1, 0.006, 0.005),
              trial("uniform", 0, 0.01, 0.03), trial("uniform", 1, 0.01, 0.03))  # fmt: skip
    replay = Replay((6e7, 4e8), 1e9, 1e21, trials, Score(0.003, 0.99, 0.001), options)
    text = text_of(*render.replay_tables(replay))
    assert "1B predicted from 60M, 400M: relative error % (all runs 0.300)" in text
    assert "0.500 ± 0.100" in text and "1.000 ± 0.000" in text and "0.50 (2:1)" in text
    assert replay.agreement()[1] == pytest.approx(3.0)
    assert "largest factor between them 3.00" in render.agreement_line(replay)
    data = render.replay_data(replay)
    assert data["cells"][0]["error"] == {"mean": pytest.approx(0.005), "standard_error": pytest.approx(0.001)}
    assert data["agreement"]["largest_factor"] == pytest.approx(3.0)
