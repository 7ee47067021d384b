"""The command as its users meet it: what lands on stdout, in files, and in error messages."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mixlaw import fitfile
from mixlaw.cli import main
from mixlaw.fitting import fit_table
from mixlaw.laws import EXAMPLES, LAWS
from mixlaw.mixture import Recipe
from mixlaw.runs import RunTable

SCALE = ["--params", "1B", "--tokens", "20B"]


@pytest.fixture(scope="module")
def fit_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fit of two targets simulated by ``capacity`` over web, code and math."""
    rng = np.random.default_rng(0)
    example, law = EXAMPLES["capacity"], LAWS["capacity"]
    inputs = example.inputs(rng)
    frame = pd.DataFrame(
        {"run": [f"r{i}" for i in range(len(inputs))], "params": inputs.params, "tokens": inputs.tokens}
    )
    for index, name in enumerate(example.domains):
        frame[f"mix/{name}"] = inputs.shares[:, index]
    theta = np.array(example.theta)
    for target, order in (("web", [0, 1, 2]), ("code", [1, 0, 2])):
        moved = np.concatenate([theta[:4], theta[4:7][order], theta[7:][order]])
        frame[f"loss/{target}"] = law.predict(moved, inputs) * np.exp(1e-3 * rng.standard_normal(len(inputs)))
    path = tmp_path_factory.mktemp("fit") / "fit.json"
    path.write_text(fitfile.dumps(fit_table(RunTable.from_frame(frame))))
    return path


def test_format_leaves_nothing_but_the_blend_on_stdout(fit_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["optimize-mixture", str(fit_path), *SCALE, "--format", "megatron"]) == 0
    words = capsys.readouterr().out.split()
    assert words[1::2] == ["web", "code", "math"]
    assert sum(map(float, words[::2])) == pytest.approx(1, abs=1e-12)


def test_piped_stdout_is_a_mixture_file(fit_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["optimize-mixture", str(fit_path), *SCALE]) == 0
    out, err = capsys.readouterr()
    (tmp_path / "mixture.yaml").write_text(out)
    recipe = Recipe.load(tmp_path / "mixture.yaml")
    assert (recipe.params, recipe.tokens) == (1e9, 20e9)
    assert "Objective: mean of 2 losses" in err


def test_bounds_hold(fit_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["optimize-mixture", str(fit_path), *SCALE, "--json", "--min", "math=0.3", "--max", "web=0.25"]
    assert main(arguments) == 0
    mixture = json.loads(capsys.readouterr().out)["mixture"]
    assert mixture["math"] >= 0.3 - 1e-12
    assert mixture["web"] <= 0.25 + 1e-12
    assert sum(mixture.values()) == pytest.approx(1, abs=1e-12)


def test_colliding_bounds_are_named(fit_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["optimize-mixture", str(fit_path), *SCALE, "--min", "web=0.6,code=0.5"]) == 3
    err = capsys.readouterr().err
    assert "at least 0.6 of 'web' with at least 0.5 of 'code': they miss each other by 0.1" in err


def test_unknown_domain_in_a_bound(fit_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["optimize-mixture", str(fit_path), *SCALE, "--min", "wbe=0.6"]) == 3
    assert "Expected domains among web, code, math in --min. Got 'wbe'." in capsys.readouterr().err


def test_missing_scale_says_what_to_pass(fit_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["optimize-mixture", str(fit_path), "--tokens", "20B"]) == 3
    assert "Pass --params" in capsys.readouterr().err
