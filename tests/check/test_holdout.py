from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mixlaw.check.holdout import last_rows, size_levels, splits
from mixlaw.errors import InputError, UsageError
from mixlaw.logs import read_runs
from mixlaw.runs import RunTable


@pytest.fixture(scope="module")
def table(known_law: Path) -> RunTable:
    return read_runs(known_law)


def test_the_largest_size_is_held_out_by_default(table: RunTable) -> None:
    (split,) = splits(table)
    assert split.name == "largest size, 400M"
    assert set(table.column("params")[split.test]) == {4e8}
    assert split.test.sum() == 8
    assert not (split.train & (table.column("params") == 4e8)).any()


def test_mixtures_are_never_on_both_sides(table: RunTable) -> None:
    folds = splits(table, "mixtures", seed=1)
    tested = np.zeros(len(table), dtype=int)
    for fold in folds:
        assert not set(table.mixture_codes[fold.train]) & set(table.mixture_codes[fold.test])
        tested += fold.test
    np.testing.assert_array_equal(tested, last_rows(table))


def test_long_runs_are_judged_beyond_what_was_fitted(table: RunTable) -> None:
    (split,) = splits(table, "longest")
    for size in size_levels(table):
        mine = table.column("params") == size
        assert table.column("tokens")[split.train & mine].max() < table.column("tokens")[split.test & mine].min()


def test_a_column_can_be_held_out_by_value(table: RunTable) -> None:
    (split,) = splits(table, "params=60M")
    assert set(table.column("params")[split.test]) == {6e7}


@pytest.mark.parametrize(
    ("how", "error"), [("sideways", UsageError), ("colour=3", UsageError), ("params=9B", InputError)]
)
def test_what_cannot_be_held_out(table: RunTable, how: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        splits(table, how)


def test_one_size_cannot_hold_out_the_largest(table: RunTable) -> None:
    with pytest.raises(InputError, match="two model sizes"):
        splits(table.select(table.column("params") == 2e7), "largest")
