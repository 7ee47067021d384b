"""The front door: which laws, which weights, how much shrinkage, and the same answer from any executor."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mixlaw import fitfile
from mixlaw.check.shrink import choose_strength, needed
from mixlaw.check.trial import sample_targets
from mixlaw.errors import InputError, UsageError
from mixlaw.fit import FitOptions
from mixlaw.fitting import Request, fit_table, named_laws
from mixlaw.laws import LAWS
from mixlaw.laws.base import Inputs
from mixlaw.logs import read_runs
from mixlaw.runs import RunTable


@pytest.fixture(scope="module")
def few() -> tuple[RunTable, np.ndarray, np.ndarray]:
    """22 noisy runs of 12 domains at one scale and 5 targets with a common pattern; unseen mixtures and their truth."""
    rng = np.random.default_rng(4)
    domains = tuple(f"d{i}" for i in range(12))
    pattern = rng.normal(0, 1.5, 12)
    theta = np.column_stack(
        [
            np.log(rng.uniform(0.5, 1.0, 5)),
            np.full(5, np.log(0.3)),
            np.full(5, np.log(0.6)),
            pattern + rng.normal(0, 0.3, (5, 12)),
        ]
    )
    law = LAWS["capacity"].reduced[-1]
    shares = rng.dirichlet(np.full(12, 0.5), 122)
    losses = law.predict(theta, Inputs(domains, shares, np.arange(122), np.full(122, np.nan), np.full(122, np.nan)))
    frame = pd.DataFrame({"run": [f"r{i}" for i in range(22)]})
    frame = frame.join(pd.DataFrame(shares[:22], columns=[f"mix/{d}" for d in domains]))
    noisy = losses[:, :22] * np.exp(0.02 * rng.standard_normal((5, 22)))
    frame = frame.join(pd.DataFrame(noisy.T, columns=[f"loss/t{i}" for i in range(5)]))
    return RunTable.from_frame(frame), shares[22:], losses[:, 22:]


def test_few_runs_are_shrunk_by_default_and_it_helps(few: tuple[RunTable, np.ndarray, np.ndarray]) -> None:
    table, shares, truth = few
    assert needed(table)

    def error(shrink: float | None) -> float:
        fits = fit_table(table, Request(("capacity",), FitOptions(starts=2), shrink=shrink))
        inputs = fits.inputs(shares, None, None)
        return float(np.mean([np.abs(np.log(fits.value(f"t{i}", inputs) / truth[i])) for i in range(5)]))

    chosen = choose_strength(table, "capacity", FitOptions(starts=2))
    assert chosen.strength > 0
    assert chosen.errors[f"{chosen.strength:g}"] == min(chosen.errors.values())
    assert error(None) < 0.95 * error(0.0)


def test_many_runs_are_left_alone(known_law: Path) -> None:
    assert not needed(read_runs(known_law))


def test_laws_are_tried_on_a_sample_of_many_targets(few: tuple[RunTable, np.ndarray, np.ndarray]) -> None:
    table = few[0]
    assert sample_targets(table, 3).targets == ("t0", "t2", "t4")
    assert sample_targets(table).targets == table.targets


def test_named_laws_get_equal_weights_in_the_order_given(known_law: Path) -> None:
    table = read_runs(known_law)
    request = Request(("additive", "chinchilla"), FitOptions(starts=2))
    with ThreadPoolExecutor(2) as pool:
        one, two = fit_table(table, request), fit_table(table, request, executor=pool)
    assert [(m.fit.form, m.weight) for m in one.members["web"]] == [("additive", 0.5), ("chinchilla", 0.5)]
    for target in one.targets:
        for a, b in zip(one.members[target], two.members[target], strict=True):
            np.testing.assert_array_equal(a.fit.theta, b.fit.theta)


@pytest.mark.parametrize("text", ["", "gopher", "exp,exp", "auto,exp"])
def test_names_that_mean_nothing(text: str) -> None:
    with pytest.raises(UsageError):
        named_laws(text)


def test_a_table_without_mixtures_is_refused() -> None:
    table = RunTable.from_frame(pd.DataFrame({"run": ["a", "b"], "loss/x": [2.0, 3.0]}))
    with pytest.raises(InputError, match="mix/<domain>"):
        fit_table(table)


@pytest.fixture(scope="module")
def wide(known_law: Path) -> RunTable:
    """The sample runs with 20 noisy copies of one loss: more targets than go into one batch."""
    table, rng = read_runs(known_law), np.random.default_rng(0)
    frame = table.frame[[c for c in table.frame.columns if not c.startswith("loss/")]]
    noisy = {f"loss/t{i}": table.loss("web") * np.exp(0.01 * rng.standard_normal(len(table))) for i in range(20)}
    return RunTable.from_frame(frame.assign(**noisy))


class Counting(ThreadPoolExecutor):
    """Keeps how many pieces of work each call brought."""

    def __init__(self) -> None:
        super().__init__(2)
        self.pieces: list[int] = []

    def map(self, function, *work, **options):  # type: ignore[no-untyped-def]
        listed = list(work[0])
        self.pieces.append(len(listed))
        return super().map(function, listed, **options)


@pytest.mark.parametrize("shrink", [0.0, 1e-3])
def test_one_law_of_many_targets_is_many_pieces_with_one_answer(wide: RunTable, shrink: float) -> None:
    request = Request(("capacity",), FitOptions(starts=1), shrink=shrink)
    alone = fitfile.dumps(fit_table(wide, request))
    with Counting() as counting:
        assert fitfile.dumps(fit_table(wide, request, executor=counting)) == alone
    assert counting.pieces == ([2, 2] if shrink else [2])


def test_processes_give_the_same_bytes_as_one(wide: RunTable) -> None:
    request = Request(("capacity", "linear"), FitOptions(starts=1), shrink=1e-3)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        assert fitfile.dumps(fit_table(wide, request, executor=pool)) == fitfile.dumps(fit_table(wide, request))


def test_batches_of_targets_share_one_pattern(wide: RunTable, monkeypatch: pytest.MonkeyPatch) -> None:
    request = Request(("capacity",), FitOptions(starts=1), shrink=1e-2)
    batches = fit_table(wide, request)
    monkeypatch.setattr("mixlaw.fit.BLOCK", 20)
    whole = fit_table(wide, request)
    for target in wide.targets:
        one, other = (fits.members[target][0].fit for fits in (batches, whole))
        assert one.objective == pytest.approx(other.objective, rel=1e-6)
        inputs = whole.inputs(whole.seen.mixtures[:4], 1e9, 2e10)
        np.testing.assert_allclose(one.predict(inputs), other.predict(inputs), rtol=1e-4)
