"""The knowledge gradient: conditioning against a fresh start, and gains against simulation."""

from __future__ import annotations

import numpy as np
import pytest

from mixlaw.allocate.accuracy import Accuracy
from mixlaw.allocate.menu import Menu
from mixlaw.allocate.sequential import Belief, propose
from mixlaw.errors import InputError


@pytest.fixture
def known(menu: Menu, accuracy: Accuracy) -> Accuracy:
    """Six runs of the smallest and three of the middle size are done."""
    runs = np.r_[0:6, 12:15]
    rows = menu.rows(runs)
    more = menu.after(menu.inputs.rows(rows), np.repeat(np.arange(9), 2))
    return Accuracy(more, accuracy.prior, accuracy.goal)


def test_runs_that_are_done_narrow_the_belief(accuracy: Accuracy, known: Accuracy) -> None:
    nothing, something = Belief(accuracy), Belief(known)
    assert np.all(np.einsum("smm->sm", something.goal) < np.einsum("smm->sm", nothing.goal))


def test_observing_one_by_one_is_conditioning_on_all(menu: Menu, known: Accuracy) -> None:
    """Runs 30 and 33 observed by their last rows, against a menu where these rows are done."""
    belief = Belief(known)
    places = [int(np.flatnonzero(belief.runs == r)[0]) for r in (30, 33)]
    for place in places:
        belief.observe(place)
    last = np.array([menu.rows([r])[-1] for r in (30, 33)])
    done = np.concatenate([known.menu.done_rows, last])
    jacobian = known.jacobian * known.prior.spread
    at, goal = jacobian[:, done], known.at_goal * known.prior.spread
    inner = at @ at.transpose(0, 2, 1) + known.between[np.ix_(done, done)]
    rows = np.array([menu.rows([int(r)])[-1] for r in belief.runs])
    to_goal = at @ goal.transpose(0, 2, 1) + known.to_goal[done]
    to_runs = at @ jacobian[:, rows].transpose(0, 2, 1) + known.between[np.ix_(done, rows)]
    before = jacobian[:, rows] @ goal.transpose(0, 2, 1) + known.to_goal[rows]
    expected = before - to_runs.transpose(0, 2, 1) @ np.linalg.solve(inner, to_goal)
    others = [i for i in range(len(belief.runs)) if i not in places]
    assert belief.cross[:, others] == pytest.approx(expected[:, others], abs=1e-7)


def test_each_run_lowers_the_expected_regret(known: Accuracy) -> None:
    proposal = propose(known, np.random.default_rng(0), count=4)
    left = [proposal.before, *(s.regret for s in proposal.steps)]
    assert len(set(proposal.runs.tolist())) == 4
    assert left[-1] < left[0] and min(left) >= 0
    assert not known.menu.done[proposal.runs].any()
    assert not proposal.settled


def test_a_budget_is_kept_and_buys_more_than_a_random_choice(known: Accuracy) -> None:
    budget = 3 * float(known.menu.prices[2])
    proposal = propose(known, np.random.default_rng(0), count=3, budget=budget)
    assert sum(s.cost for s in proposal.steps) <= budget
    with pytest.raises(InputError, match="buys 3 runs"):
        propose(known, np.random.default_rng(0), count=3, budget=1e15)


def test_a_decision_that_is_clear_needs_no_run(known: Accuracy) -> None:
    """One candidate better by far: however uncertain the losses, no run is worth anything."""
    law = known.prior.law

    class Clear:
        parameters, gradient, starts, name = law.parameters, law.gradient, law.starts, law.name

        @staticmethod
        def predict(theta: np.ndarray, inputs: object) -> np.ndarray:
            loss = law.predict(theta, known.goal)
            loss[..., 0] = 1e-3
            return loss

    from dataclasses import replace

    known.prior = replace(known.prior, law=Clear())  # type: ignore[arg-type]
    proposal = propose(known, np.random.default_rng(0), count=1)
    assert proposal.settled
    assert proposal.before == pytest.approx(0, abs=1e-9)
    assert proposal.steps[0].regret == pytest.approx(0, abs=1e-9)


def test_gains_agree_with_simulated_decisions(known: Accuracy) -> None:
    """Simulate: draw the run's surprise, move the means, decide; the saving is the proposal's."""
    rng = np.random.default_rng(4)
    proposal = propose(known, np.random.default_rng(0), count=1)
    belief = Belief(known)
    place = int(np.flatnonzero(belief.runs == proposal.runs[0])[0])
    loss = np.exp(belief.mean)
    step = belief.cross[:, place] / np.sqrt(belief.variance[:, place])[:, None] * loss / len(loss)
    moved = loss.mean(axis=0) + rng.standard_normal((400_000, len(loss))) @ step
    saving = loss.mean(axis=0).min() - moved.min(axis=1).mean()
    assert proposal.before - proposal.steps[0].regret == pytest.approx(saving, rel=0.3)
