"""The picture of budgets: lines at the plans' and the replay's own numbers."""

from __future__ import annotations

import numpy as np
import pytest

from mixlaw.allocate.ladder import ladder
from mixlaw.allocate.plan import Plan, PlanRequest, make_plan
from mixlaw.allocate.replay import Replay, ReplayOptions, Score, Trial
from mixlaw.allocate.sizes import Scale, Size
from mixlaw.render.pictures.budget import draw, draw_replay

pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")


@pytest.fixture(scope="module")
def plan() -> Plan:
    sizes = (Size(6e7, (1.2e9,)), Size(1.5e8, (3e9,)))
    return make_plan(PlanRequest(sizes, Scale(2e9, 4e10), 4e19, ("web", "code", "math")))


def test_a_line_per_strategy_through_every_budget(plan: Plan) -> None:
    others = ladder(plan, factors=(0.25, 2.0))
    assert [p.request.budget for p in others] == pytest.approx([1e19, 8e19])
    figure = draw(plan, others)
    (axes,) = figure.axes
    plans = sorted([plan, *others], key=lambda p: p.request.budget)
    lines = {line.get_label(): line for line in axes.lines if not line.get_label().startswith("_")}
    assert set(lines) == set(plan.outcomes)
    for name, line in lines.items():
        assert list(line.get_xdata()) == [p.request.budget for p in plans]
        assert list(line.get_ydata()) == [p.outcomes[name].error for p in plans]
    assert (axes.get_xscale(), axes.get_xlabel()) == ("log", "budget, FLOPs")
    assert [t.get_text() for t in axes.get_xticklabels()] == ["1e19", "4e19", "8e19"]
    assert {t.get_text() for t in axes.texts} == set(plan.outcomes)
    heights = sorted(t.get_position()[1] for t in axes.texts)
    assert min(np.diff(heights)) > 0.05


def test_budgets_that_buy_nothing_are_left_out(plan: Plan) -> None:
    assert [p.request.budget for p in ladder(plan, factors=(0.001, 0.5))] == [2e19]


@pytest.fixture
def replay() -> Replay:
    options = ReplayOptions(budgets=(0.1, 0.5), strategies=("optimal", "uniform"), seeds=2)
    trials = tuple(
        Trial(name, budget, seed, (1, 2), 1.0, 0.01, 0.0, Score(error * (1 + 0.1 * seed), 0.9, 0.0))
        for name, error in (("optimal", 0.005), ("uniform", 0.008))
        for budget in options.budgets
        for seed in (0, 1)
    )
    return Replay((2e7, 6e7), 4e8, 1e20, trials, Score(0.004, 0.99, 0.0), options)


def test_a_replay_shows_means_and_standard_errors(replay: Replay) -> None:
    figure = draw_replay(replay)
    (axes,) = figure.axes
    for container in axes.containers:
        name = container.get_label()
        line, _, (bars,) = container.lines
        found = [replay.mean(name, b, "error") for b in replay.options.budgets]
        assert list(line.get_ydata()) == pytest.approx([m for m, _ in found])
        spans = [segment[:, 1] for segment in bars.get_segments()]
        assert [(b - a) / 2 for a, b in spans] == pytest.approx([e for _, e in found])
    assert {t.get_text() for t in axes.texts} == {"optimal", "uniform", "all runs"}
    assert "error at 400M" in axes.get_ylabel()
    assert figure.get_suptitle() == "optimal has the smallest error at every budget"
    assert "2 seeds" in figure.texts[-1].get_text()
