from __future__ import annotations

import numpy as np
import pytest

from mixlaw.allocate.exchange import ExchangeOptions
from mixlaw.allocate.replay import Bench, Replay, ReplayOptions, replay
from mixlaw.allocate.strategies import IN_ROUNDS, OPTIMAL
from mixlaw.errors import InputError, UsageError
from mixlaw.fit import FitOptions
from mixlaw.runs import RunTable

OPTIONS = ReplayOptions(
    budgets=(0.3,), strategies=(OPTIMAL, IN_ROUNDS, "uniform"), seeds=2, fit=FitOptions(starts=3),
    exchange=ExchangeOptions(trials=60, late=60, early=10, steps=3),
)  # fmt: skip


@pytest.fixture(scope="module")
def done(runs: RunTable) -> Replay:
    return replay(runs, OPTIONS)


def test_the_largest_size_is_scored_and_never_bought(runs: RunTable, done: Replay) -> None:
    bench = Bench.of(runs)
    assert done.held_out == 1e9 and done.sizes == (6e7, 1.5e8, 4e8)
    assert set(bench.menu.inputs.params) == {6e7, 1.5e8, 4e8}
    assert len(bench.held_out) == 12 and set(bench.held_out.column("tokens")) == {2e10}
    assert bench.menu.cost.tolist() == pytest.approx((120 * np.repeat([6e7, 1.5e8, 4e8], 12) ** 2).tolist())


def test_spend_and_figures(done: Replay) -> None:
    assert len(done.trials) == 6
    for trial in done.trials:
        assert 0 < trial.spent <= 0.3 * done.total
        assert 0 < trial.score.error < 0.1 and 0.5 < trial.score.spearman <= 1 and trial.score.regret >= 0
        assert 0 < trial.predicted < 0.1
    mean, error = done.mean("uniform", 0.3, "error")
    values = [t.score.error for t in done.cell("uniform", 0.3)]
    assert mean == pytest.approx(np.mean(values)) and error == pytest.approx(abs(values[0] - values[1]) / 2)


def test_the_same_seed_gives_the_same_figures(runs: RunTable, done: Replay) -> None:
    assert replay(runs, OPTIONS).trials == done.trials


def test_held_out_losses_do_not_reach_the_choice(runs: RunTable, done: Replay) -> None:
    """Falsify the losses of the held-out size: every strategy buys the same runs."""
    frame = runs.frame.copy()
    large = frame["params"] == 1e9
    frame.loc[large, "loss/web"] = frame.loc[large, "loss/web"].to_numpy()[::-1] * 1.3
    other = replay(RunTable.from_frame(frame), OPTIONS)
    assert [t.counts for t in other.trials] == [t.counts for t in done.trials]
    assert [t.predicted for t in other.trials] == [t.predicted for t in done.trials]
    assert [t.score for t in other.trials] != [t.score for t in done.trials]


def test_sizes_can_be_left_out(runs: RunTable) -> None:
    bench = Bench.of(runs, below=9e8)
    assert set(bench.held_out.column("params")) == {4e8}


def test_slips(runs: RunTable) -> None:
    with pytest.raises(InputError, match="three sizes"):
        Bench.of(runs, below=3e8)
    with pytest.raises(UsageError, match="best"):
        ReplayOptions(strategies=("best",))
    with pytest.raises(InputError, match="--budgets"):
        ReplayOptions(budgets=(10.0,))
