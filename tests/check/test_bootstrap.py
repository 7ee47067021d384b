from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from mixlaw.check.bootstrap import bootstrap, resample
from mixlaw.dataset import Dataset
from mixlaw.fit import FitOptions
from mixlaw.fitting import Request, fit_table
from mixlaw.logs import read_runs


@pytest.fixture(scope="module")
def dataset(known_law: Path) -> Dataset:
    return Dataset.build(read_runs(known_law))


def test_runs_are_drawn_within_sizes(dataset: Dataset) -> None:
    counts = resample(dataset, 50, np.random.default_rng(0))
    sizes = dataset.inputs.params[dataset.first_rows]
    for size in np.unique(sizes):
        assert set(counts[:, sizes == size].sum(axis=1)) == {(sizes == size).sum()}
    assert counts.min() == 0
    assert counts.max() > 2


def test_the_answer_does_not_depend_on_the_executor(known_law: Path, dataset: Dataset) -> None:
    fits = fit_table(read_runs(known_law), Request(("chinchilla",), FitOptions(starts=3)))
    alone = bootstrap(fits, dataset, 6)
    with ProcessPoolExecutor(2) as pool:
        shared = bootstrap(fits, dataset, 6, executor=pool)
    for target in fits.targets:
        draws = alone.members[target][0].fit.draws
        assert draws.shape == (6, 5)
        np.testing.assert_array_equal(draws, shared.members[target][0].fit.draws)


def test_spread_of_the_draws_is_near_the_sandwich_errors(known_law: Path, dataset: Dataset) -> None:
    fits = bootstrap(fit_table(read_runs(known_law), Request(options=FitOptions(starts=4))), dataset, 60)
    fit = fits.members["code"][0].fit
    inputs = fits.inputs(fits.seen.mixtures[:1], 1.6e9, 3.2e10)
    spread = np.std(np.log(fits.draws("code", inputs)))
    slope = fit.law.gradient(fit.theta, inputs)[0] / fit.predict(inputs)[0]
    assert 0.4 < spread / np.sqrt(slope @ fit.covariance @ slope) < 2.5
