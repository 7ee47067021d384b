"""Objectives and limits as people write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from mixlaw.errors import InputError
from mixlaw.optimize import Limit, Objective


def test_weights_are_scaled_and_bare_names_are_losses() -> None:
    objective = Objective.parse("web=1, bench/mmlu=3")
    assert objective.weights == {"loss/web": 0.25, "bench/mmlu": 0.75}


def test_no_words_mean_the_mean_of_all_losses() -> None:
    assert Objective.parse(None).over(["a", "b"]).weights == {"loss/a": 0.5, "loss/b": 0.5}


def test_names_may_hold_equals_signs() -> None:
    assert Objective.parse("a=b=1").weights == {"loss/a=b": 1.0}


def test_file_with_limits(tmp_path: Path) -> None:
    path = tmp_path / "objective.yaml"
    path.write_text("objective: {loss/web: 1}\nlimits: ['loss/code <= incumbent + 0.01']\n")
    objective = Objective.parse(str(path), limits=["bench/piqa >= 0.7"])
    assert [str(limit) for limit in objective.limits] == ["loss/code <= incumbent + 0.01", "bench/piqa >= 0.7"]


def test_star_stands_for_every_loss() -> None:
    objective = Objective.parse("a=1", limits=["* <= natural + 0.02"]).over(["a", "b"])
    assert objective.limits == (Limit("loss/a", 0.02, "natural"), Limit("loss/b", 0.02, "natural"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("loss/web < 2", "a limit such as"),
        ("loss/web >= 2", "<= in a limit on loss/web"),
        ("bench/piqa <= 0.7", ">= in a limit on bench/piqa"),
        ("loss/web <= two", "the level in limit"),
    ],
)
def test_limits_that_cannot_be_read(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Limit.parse(text)


def test_unknown_and_negative_weights_are_refused() -> None:
    with pytest.raises(InputError, match=r"names among loss/a, bench/t in the objective. Got 'loss/b'"):
        Objective.parse("b=1").over(["a"], ["t"])
    with pytest.raises(InputError, match="weight of at least 0 for 'a'"):
        Objective.parse("a=-1,b=2")
