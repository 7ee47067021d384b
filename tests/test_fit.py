"""The fit engine: recovery, diagnostics, flags, and what cannot be fitted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mixlaw.dataset import Dataset, Selection
from mixlaw.errors import FitError, InputError
from mixlaw.fit import FitOptions, Status, fit_law
from mixlaw.flags import Doubt
from mixlaw.laws import LAWS
from mixlaw.logs import read_runs
from mixlaw.runs import RunTable
from mixlaw.solver import SolverOptions
from mixlaw.support import form_for


@pytest.fixture(scope="module")
def table(known_law: Path) -> RunTable:
    return read_runs(known_law)


@pytest.fixture(scope="module")
def dataset(table: RunTable) -> Dataset:
    return Dataset.build(table)


def names(fit: object) -> set[Doubt]:
    return {flag.doubt for flag in fit.flags}  # type: ignore[attr-defined]


def test_the_known_law_is_recovered_within_three_errors(dataset: Dataset) -> None:
    fit = fit_law(LAWS["capacity"], dataset)[0]
    values = fit.values()
    truth = {"E": 0.9, "b": 0.30, "a": 0.32, "c[web]": 0.9, "v[web]": 9.0, "v[code]": 4.0, "v[books]": 7.0}
    for name, true in truth.items():
        value, error = values[name]
        assert abs(value - true) < 3 * error, f"{name}: {value} ± {error} against {true}"
    assert fit.status is Status.CONVERGED
    assert (fit.points, fit.runs, fit.starts) == (192, 48, 12)
    assert fit.geometry.rank == 12


def test_the_same_seed_gives_the_same_numbers_and_targets_do_not_touch_each_other(dataset: Dataset) -> None:
    whole = fit_law(LAWS["capacity"], dataset)
    alone = fit_law(LAWS["capacity"], dataset.only(["math"]))[0]
    again = fit_law(LAWS["capacity"], dataset)
    np.testing.assert_array_equal(whole[2].theta, again[2].theta)
    np.testing.assert_allclose(alone.theta, whole[2].theta, rtol=1e-6, atol=1e-6)


def test_one_scale_reduces_capacity_to_its_data_term(table: RunTable) -> None:
    one = table.last().select(table.last().column("params") == 2e7)
    fit = fit_law(LAWS["capacity"], Dataset.build(one))[0]
    assert fit.form == "capacity-data"
    assert Doubt.SINGLE_SCALE in names(fit)


def test_one_ratio_of_tokens_to_parameters_is_flagged(table: RunTable) -> None:
    fit = fit_law(LAWS["chinchilla"], Dataset.build(table.last()))[0]
    assert Doubt.ONE_RATIO in names(fit)


def test_two_laws_for_one_effect_are_found_redundant_by_rank(table: RunTable) -> None:
    frame = table.last().frame.copy()
    frame["tokens"] = 1e9 * frame["params"] / 1e8
    flat = replace(Dataset.build(RunTable.from_frame(frame)), weights=np.ones((4, 48)))
    options = FitOptions(solver=SolverOptions(ridge=0.0))
    exact = LAWS["chinchilla"].predict(np.log([1.0, 1.0, 1.0, 0.3, 0.3]), flat.inputs)
    fit = fit_law(LAWS["chinchilla"], replace(flat, log_y=np.tile(np.log(exact), (4, 1))), options)[0]
    assert fit.geometry.rank < 5
    assert {"A", "B"} <= {n for direction in fit.geometry.redundant for n in direction}


def test_few_runs_are_flagged(table: RunTable) -> None:
    few = Dataset.build(table.select(np.isin(table.run_codes, [0, 1, 20, 31, 42])))
    flags = names(fit_law(LAWS["capacity"], few)[0])
    assert {Doubt.TOO_FEW_RUNS, Doubt.FEWER_RUNS_THAN_PARAMETERS} <= flags


def test_a_law_whose_needs_are_not_met_is_refused_by_name(table: RunTable) -> None:
    one = Dataset.build(table.select(table.column("params") == 2e7), Selection(checkpoints=1))
    with pytest.raises(InputError, match="Expected several token counts for the law 'additive'"):
        form_for(LAWS["additive"], one)


def test_with_fewer_rows_than_parameters_the_errors_are_wide_and_not_zero(table: RunTable) -> None:
    three = table.last().select(np.isin(table.last().run_codes, [0, 1, 2]))
    fit = fit_law(LAWS["capacity"], Dataset.build(three))[0]
    assert fit.form == "capacity-data"
    assert max(error for _, error in fit.values().values()) > 1.0
    assert {Doubt.REDUNDANT, Doubt.FEWER_RUNS_THAN_PARAMETERS} <= names(fit)


def test_one_run_cannot_tell_mixtures_apart(table: RunTable) -> None:
    one = Dataset.build(table.select(table.run_codes == 0), Selection(checkpoints=1))
    with pytest.raises(InputError, match="Expected several mixtures for the law 'capacity'"):
        fit_law(LAWS["capacity"], one)


def test_a_target_without_a_single_loss_is_refused(dataset: Dataset) -> None:
    weights = dataset.weights.copy()
    weights[1] = 0
    with pytest.raises(InputError, match="'code'"):
        fit_law(LAWS["chinchilla"], replace(dataset, weights=weights))


def test_strict_turns_a_fit_that_still_falls_into_an_error(dataset: Dataset) -> None:
    options = FitOptions(solver=SolverOptions(iterations=2), starts=2)
    assert fit_law(LAWS["capacity"], dataset, options)[0].status is Status.NOT_CONVERGED
    with pytest.raises(FitError, match="web"):
        fit_law(LAWS["capacity"], dataset, replace(options, strict=True))


@pytest.mark.data
def test_held_out_size_of_the_public_table(apple: RunTable) -> None:
    """Fitted on 122M-680M, judged at the last checkpoint of the 937M runs; never on what was fitted."""
    largest = apple.column("params") > 9e8
    train, held = apple.select(~largest), apple.select(largest).last()
    from mixlaw.dataset import inputs_of

    def error(law: str, part: RunTable, selection: Selection) -> float:
        fits = fit_law(LAWS[law], Dataset.build(part, selection))
        inputs = inputs_of(held)
        return float(np.mean([np.nanmean(np.abs(f.predict(inputs) / held.loss(f.target) - 1)) for f in fits]))

    assert error("capacity", train, Selection()) < 0.0060
    # The published law by the same selection, and by every other checkpoint after the dropped ones, where it was
    # first measured (1.16 %): which checkpoints are used matters more to it than to capacity.
    assert 0.0080 < error("additive", train, Selection()) < 0.0140
    position = train.frame.groupby("run").cumcount().to_numpy()
    alternate = train.select(np.isin(position, [2, 4, 6, 8]))
    assert 0.0100 < error("additive", alternate, Selection(drop_early=0, checkpoints=0)) < 0.0140
