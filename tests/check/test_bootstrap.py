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
from mixlaw.runs import RunTable


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


def test_a_draw_is_one_resampling_of_runs_for_all_targets_and_laws(known_law: Path) -> None:
    table = read_runs(known_law)
    frame = table.frame[[c for c in table.frame.columns if not c.startswith("loss/")]].assign(
        **{f"loss/{name}": table.loss("code") for name in ("one", "other")}
    )
    twins = RunTable.from_frame(frame)
    fits = fit_table(twins, Request(("chinchilla", "linear"), FitOptions(starts=3), bootstrap=8))
    for one, other in zip(fits.members["one"], fits.members["other"], strict=True):
        assert one.fit.draws.std(axis=0).max() > 0
        np.testing.assert_allclose(one.fit.draws, other.fit.draws, rtol=1e-5, atol=1e-5)
    values = [np.log(fits.draws(t, fits.inputs(fits.seen.mixtures[:1], 1e9, 2e10)))[:, 0] for t in ("one", "other")]
    np.testing.assert_allclose(values[0], values[1], rtol=1e-6)


def test_every_task_gets_the_same_multiplicities(
    known_law: Path, dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    fits = fit_table(read_runs(known_law), Request(("chinchilla", "linear"), FitOptions(starts=3)))
    seen: list[np.ndarray] = []
    monkeypatch.setattr(
        "mixlaw.check.bootstrap._redo", lambda task: seen.append(task.draws) or np.zeros((5, len(task.fit.theta)))
    )
    bootstrap(fits, dataset, 5)
    assert len(seen) == 2 * len(fits.targets)
    for draws in seen:
        np.testing.assert_array_equal(draws, seen[0])


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
