"""Curves from losses to accuracies: recovery, chance levels, and tasks that cannot be predicted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mixlaw.benchmark import Curve, chances_of, fit_curves, known, parse_chances
from mixlaw.benchmark.forms import forms
from mixlaw.errors import UsageError
from mixlaw.runs import RunTable


def table(rng: np.random.Generator, number: int = 60) -> RunTable:
    """Runs of two checkpoints whose HellaSwag follows the web loss, whose BoolQ is coin tossing."""
    web = np.sort(rng.uniform(1.8, 4.5, number))[::-1]
    code = web + rng.normal(0, 0.3, number)
    accuracy = 0.25 + 0.75 / (1 + np.exp(-(4.0 - 2.0 * (web - 0.5))))
    frame = pd.DataFrame(
        {
            "run": [f"r{i // 2}" for i in range(number)],
            "tokens": [1e9 * (1 + i % 2) for i in range(number)],
            "loss/web": web,
            "loss/code": code,
            "bench/hellaswag_zeroshot": rng.binomial(10042, accuracy) / 10042,
            "bench/boolq": rng.binomial(3270, 0.5, number) / 3270,
            "bench/humaneval": np.full(number, 0.0),
        }
    )
    return RunTable.from_frame(frame)


@pytest.fixture(scope="module")
def curves() -> dict[str, Curve]:
    data = table(np.random.default_rng(0))
    return fit_curves(data, data.targets, draws=20)


def test_curve_follows_the_loss_that_drives_the_task(curves: dict[str, Curve]) -> None:
    curve = curves["hellaswag_zeroshot"]
    assert curve.predictable
    assert "web" in curve.inputs
    assert (curve.chance, curve.items) == (0.25, 10042)
    beyond = np.array([1.6, 1.4])
    truth = 0.25 + 0.75 / (1 + np.exp(-(4.0 - 2.0 * (beyond - 0.5))))
    assert curve.value(np.repeat(beyond[:, None], len(curve.inputs), axis=1)) == pytest.approx(truth, abs=0.05)


def test_coin_tossing_is_not_predictable(curves: dict[str, Curve]) -> None:
    assert curves["boolq"].reason.startswith("at chance")
    assert curves["humaneval"].reason.startswith("at chance")


def test_noise_that_the_losses_do_not_order_is_not_predictable(rng: np.random.Generator) -> None:
    data = table(rng)
    frame = data.frame.assign(**{"bench/own": np.clip(rng.normal(0.4, 0.1, len(data)), 0, 1)})
    curve = fit_curves(RunTable.from_frame(frame), data.targets, draws=2)["own"]
    assert not curve.predictable
    assert curve.source == "unknown, 0 assumed"


def test_too_few_rows(rng: np.random.Generator) -> None:
    data = table(rng, 6)
    assert fit_curves(data, data.targets)["boolq"].reason == "fewer than 12 rows with a loss and an accuracy"


def test_given_chance_counts_more_than_the_known_one(rng: np.random.Generator) -> None:
    data = table(rng)
    curve = fit_curves(data, data.targets, chances=parse_chances(["bench/boolq=0.62"]), draws=2)["boolq"]
    assert (curve.chance, curve.source) == (0.62, "given")


def test_plain_data_round_trip(curves: dict[str, Curve]) -> None:
    curve = curves["hellaswag_zeroshot"]
    again = Curve.from_mapping(curve.to_mapping())
    losses = np.repeat([[2.0], [3.0]], len(curve.inputs), axis=1)
    assert (again.value(losses) == curve.value(losses)).all()
    assert again.to_mapping() == curve.to_mapping()
    assert not Curve.from_mapping(curves["boolq"].to_mapping()).predictable


def test_slope_agrees_with_differences(curves: dict[str, Curve]) -> None:
    curve = curves["hellaswag_zeroshot"]
    losses = np.repeat([[1.9], [2.5], [3.7]], len(curve.inputs), axis=1)
    difference = (curve.value(losses + 1e-6) - curve.value(losses - 1e-6)) / 2e-6
    assert curve.slope(losses).sum(axis=1) == pytest.approx(difference, rel=1e-5)


def test_scenarios_carry_the_uncertainty_of_the_losses(curves: dict[str, Curve], rng: np.random.Generator) -> None:
    curve = curves["hellaswag_zeroshot"]
    width = len(curve.inputs)
    sure = curve.scenarios(np.full((60, 1, width), 2.2))
    unsure = curve.scenarios(np.full((60, 1, width), 2.2) + 0.2 * rng.standard_normal((60, 1, 1)))
    assert unsure.std() > 2 * sure.std() > 0


@pytest.mark.parametrize("form", forms(0.25), ids=lambda f: f.name)
def test_jacobians_agree_with_differences(form, rng: np.random.Generator) -> None:  # type: ignore[no-untyped-def]
    losses = rng.uniform(0, 2, (5, 2))
    theta = np.array([[0.9, 0.3, -0.5, -0.2], [0.6, -1.0, 0.1, -0.7]])
    _, jacobian = form.jacobian(theta, losses)
    for index in range(theta.shape[1]):
        step = np.zeros(4)
        step[index] = 1e-6
        difference = (form.value(theta + step, losses) - form.value(theta - step, losses)) / 2e-6
        assert jacobian[..., index] == pytest.approx(difference, abs=1e-8)


@pytest.mark.parametrize(
    ("name", "chance"),
    [("hellaswag", 0.25), ("hellaswag_zeroshot", 0.25), ("arc:easy", 0.25), ("ARC-Challenge", 0.25), ("siqa", 1 / 3),
     ("mmlu_5shot", 0.25), ("openbookqa", 0.25), ("winogrande", 0.5), ("winograd", 0.5), ("lambada_openai", 0.0)],
)  # fmt: skip
def test_common_tasks_are_known_by_the_names_of_columns(name: str, chance: float) -> None:
    task = known(name)
    assert task is not None
    assert task.chance == chance
    assert task.source


def test_unknown_tasks_and_impossible_levels() -> None:
    assert known("our_internal_eval") is None
    for text in ("mmlu", "mmlu=1.0", "mmlu=-0.1"):
        with pytest.raises(UsageError, match="level from 0 to below 1"):
            parse_chances([text])


def test_levels_are_given_by_name_or_glob_and_never_lost() -> None:
    tasks = ("exam/a", "exam/b", "mmlu")
    assert chances_of({"exam/b": 0.5, "exam/*": 0.2}, tasks) == {"exam/a": 0.2, "exam/b": 0.5}
    with pytest.raises(UsageError, match="a task among exam/a, exam/b, mmlu"):
        chances_of({"mmlu_pro": 0.1}, tasks)


@pytest.mark.data
def test_gemstones_beyond_a_loss_cut(shared: Path) -> None:
    """Fitted above 2.9 nats, read below: HellaSwag within 3.5 points, MMLU at chance."""
    frame = pd.read_csv(shared / "gemstones" / "loss_and_benchmarks.csv")
    data = pd.DataFrame({"run": frame["run_name"], "tokens": frame["tokens"], "loss/edu": frame["loss_fineweb_edu"]})
    for task in ("hellaswag", "mmlu", "piqa"):
        data[f"bench/{task}"] = frame[f"acc_{task}"]
    above, below = data[data["loss/edu"] > 2.9], data[data["loss/edu"] <= 2.9]
    curves = fit_curves(RunTable.from_frame(above), ("edu",), draws=2)
    error = np.abs(curves["hellaswag"].value(below[["loss/edu"]].to_numpy()) - below["bench/hellaswag"]).mean()
    assert error < 0.035
    assert curves["mmlu"].reason.startswith("at chance")
