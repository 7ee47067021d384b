"""Doubts that residuals raise."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mixlaw.dataset import Dataset
from mixlaw.diagnose import largest_size_flags
from mixlaw.fit import FitOptions
from mixlaw.runs import RunTable


@pytest.fixture
def dataset() -> Dataset:
    """Eight runs at each of two sizes, four checkpoints each."""
    rows = [
        {
            "run": f"{size:g}-{i}", "step": step, "tokens": step * 1e6, "params": size, "mix/a": (i + 1) / 10,
            "mix/b": 1 - (i + 1) / 10, "loss/a": 3.0,
        }
        for size in (1e6, 4e6) for i in range(8) for step in (100, 200, 300, 400)
    ]  # fmt: skip
    return Dataset.build(RunTable.from_frame(pd.DataFrame(rows)), FitOptions().selection)


def residuals(dataset: Dataset, *, large: float, scatter: float) -> np.ndarray:
    """Off by ``large`` at the end of the runs of the larger size, scattered by ``scatter`` from run to run."""
    by_run = scatter * np.random.default_rng(0).standard_normal(len(dataset.runs))
    ends = (dataset.inputs.params > 2e6) & (dataset.inputs.tokens > 3.9e8)
    return by_run[dataset.run] + large * ends


def names(dataset: Dataset, off: np.ndarray) -> list[str]:
    return [str(flag) for flag in largest_size_flags(off, dataset, np.ones(len(dataset), dtype=bool))]


def test_a_largest_size_that_is_off_to_one_side_is_named(dataset: Dataset) -> None:
    (told,) = names(dataset, residuals(dataset, large=0.03, scatter=0.004))
    assert told.startswith("misses-largest-size: 3.") or told.startswith("misses-largest-size: 2.")
    assert told.endswith("too high on average over 8 runs")
    (told,) = names(dataset, residuals(dataset, large=-0.03, scatter=0.004))
    assert "too low" in told


@pytest.mark.parametrize(("large", "scatter"), [(0.0, 0.004), (0.03, 0.05), (0.008, 0.0001)])
def test_noise_and_small_misses_are_not(dataset: Dataset, large: float, scatter: float) -> None:
    assert names(dataset, residuals(dataset, large=large, scatter=scatter)) == []


def test_one_size_has_no_largest(dataset: Dataset) -> None:
    small = dataset.inputs.params < 2e6
    assert largest_size_flags(residuals(dataset, large=0.1, scatter=0.0), dataset, small) == ()
