from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mixlaw.dataset import Dataset, Selection, inputs_of, select_rows
from mixlaw.errors import InputError
from mixlaw.runs import RunTable


def table(checkpoints: int = 9, runs: int = 2, **extra: float) -> RunTable:
    rows = [
        {"run": f"r{r}", "tokens": 1e9 * (c + 1), "params": 1e8, "mix/a": 0.25 * (r + 1), "mix/b": 1 - 0.25 * (r + 1),
         "loss/a": 4 - 0.1 * c, **extra}
        for r in range(runs) for c in range(checkpoints)
    ]  # fmt: skip
    return RunTable.from_frame(pd.DataFrame(rows))


def test_early_rows_go_and_the_rest_is_thinned_with_the_last_kept() -> None:
    keep, dropped = select_rows(table(), Selection(drop_early=0.25, checkpoints=4))
    kept = table().column("tokens")[keep][:4] / 1e9
    np.testing.assert_array_equal(kept, [3, 5, 7, 9])
    assert dropped == {"first 25% of a run": 4, "thinned to 4 checkpoints a run": 6}


def test_everything_can_be_kept() -> None:
    keep, dropped = select_rows(table(), Selection(drop_early=0, checkpoints=0))
    assert keep.all()
    assert dropped == {}


def test_a_run_with_one_checkpoint_stays() -> None:
    keep, _ = select_rows(table(checkpoints=1), Selection())
    assert keep.tolist() == [True, True]


def test_rows_at_no_tokens_are_left_out_and_counted() -> None:
    frame = table().frame.copy()
    frame.loc[0, "tokens"] = 0.0
    _, dropped = select_rows(RunTable.from_frame(frame), Selection(drop_early=0, checkpoints=0))
    assert dropped == {"at 0 tokens": 1}


def test_runs_are_excluded_by_glob_and_a_glob_without_a_match_is_an_error() -> None:
    keep, dropped = select_rows(table(), Selection(exclude=("r1*",), checkpoints=0))
    assert set(table().frame["run"][keep]) == {"r0"}
    assert dropped["excluded by 'r1*'"] == 9
    with pytest.raises(InputError, match="'nobody'"):
        select_rows(table(), Selection(exclude=("nobody",)))


def test_missing_losses_have_no_weight() -> None:
    frame = table(**{"loss/b": 3.0}).frame.copy()
    frame.loc[17, "loss/b"] = np.nan
    dataset = Dataset.build(RunTable.from_frame(frame))
    assert dataset.weights.sum(axis=1).tolist() == [8.0, 7.0]
    assert np.isfinite(dataset.log_y).all()


def test_what_varies() -> None:
    assert Dataset.build(table()).varies == {"tokens", "mix"}
    assert Dataset.build(table(checkpoints=1, runs=1)).varies == set()


def test_active_parameters_are_the_ones_that_count() -> None:
    assert inputs_of(table(params_active=2e7)).params[0] == 2e7


def test_a_table_without_losses_is_refused() -> None:
    with pytest.raises(InputError, match="loss columns"):
        Dataset.build(RunTable.from_frame(table().frame.drop(columns="loss/a")))


def test_selecting_targets_and_rows_keeps_them_together() -> None:
    dataset = Dataset.build(table(**{"loss/b": 3.0}))
    part = dataset.only(["b"]).rows(dataset.run == 1)
    assert part.targets == ("b",)
    np.testing.assert_allclose(np.exp(part.log_y), 3.0)
    assert part.inputs.shares[0].tolist() == [0.5, 0.5]
