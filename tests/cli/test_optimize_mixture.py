"""The command as its users meet it: what lands on stdout, in files, and in error messages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mixlaw import fitfile
from mixlaw.cli import main
from mixlaw.fitting import fit_table
from mixlaw.laws import EXAMPLES, LAWS
from mixlaw.laws.base import Inputs
from mixlaw.mixture import Recipe
from mixlaw.runs import RunTable

SCALE = ["--params", "1B", "--tokens", "20B"]


def design(rng: np.random.Generator) -> tuple[pd.DataFrame, Inputs]:
    """Runs of the example of ``capacity``, without losses: as a frame, and as the law sees them."""
    inputs = EXAMPLES["capacity"].inputs(rng)
    scale = {"run": [f"r{i}" for i in range(len(inputs))], "params": inputs.params, "tokens": inputs.tokens}
    shares = {f"mix/{name}": inputs.shares[:, index] for index, name in enumerate(inputs.domains)}
    return pd.DataFrame({**scale, **shares}), inputs


@pytest.fixture(scope="module")
def fit_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fit of two targets simulated by ``capacity`` over web, code and math."""
    rng = np.random.default_rng(0)
    example, law = EXAMPLES["capacity"], LAWS["capacity"]
    frame, inputs = design(rng)
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


def test_every_scale_gets_a_mixture_and_the_last_counts(fit_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["optimize-mixture", str(fit_path), "--params", "100M,10B", "--tokens", "20B", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    small, large = data["evidence"]["by_scale"]
    assert (small["params"], large["params"]) == (1e8, 1e10)
    assert large["mixture"] == pytest.approx(data["mixture"], abs=1e-7)
    assert abs(small["mixture"]["web"] - large["mixture"]["web"]) > 1e-3


def test_tie_recommends_the_incumbent(fit_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["optimize-mixture", str(fit_path), *SCALE, "--json"]) == 0
    best = json.loads(capsys.readouterr().out)["mixture"]
    same = ",".join(f"{name}={share!r}" for name, share in best.items())
    assert main(["optimize-mixture", str(fit_path), *SCALE, "--incumbent", same, "--json"]) == 0
    out, err = capsys.readouterr()
    data = json.loads(out)
    assert "tie" in data["flags"]
    assert data["evidence"]["recommended"] == "incumbent"
    assert data["evidence"]["against"]["incumbent"]["probability_better"] == 0.5
    assert "recommended: keep the incumbent" in err


def test_front_is_written_beside_the_mixture(
    fit_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    front = tmp_path / "front.csv"
    arguments = ["--pareto", "web,code", "--pareto-output", str(front), "-o", str(tmp_path / "mixture.yaml")]
    assert main(["optimize-mixture", str(fit_path), *SCALE, *arguments]) == 0
    assert front.read_text().startswith("weight,loss/web,loss/code,mix/web")
    assert (tmp_path / "mixture.yaml").exists()
    assert "Objective" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--risk", "mean"], 2, "Fit with --bootstrap 100"),
        (["--kl", "0.05"], 3, "--reference"),
        (["--pareto", "web"], 2, "--pareto with two names"),
        (["--min", "web"], 2, "--min domain=share"),
        (["--max-active", "0"], 2, "--max-active of at least 1"),
        (["--limit", "loss/web <= 0.1"], 3, "missed by"),
        (["--limit", "web"], 3, "a limit such as"),
        (["--objective", "bench/mmlu=1"], 3, "Got 'bench/mmlu'"),
        (["--incumbent", "web=0.5,code=0.2"], 3, "shares that sum to 1"),
        (["--format", "nothing"], 2, "a format among"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    fit_path: Path, arguments: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["optimize-mixture", str(fit_path), *SCALE, *arguments]) == code
    err = capsys.readouterr().err
    assert message in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--pareto", "web"], 2, "--pareto with two names"),
        (["--pareto", "web,wbe"], 3, "in --pareto. Got 'loss/wbe'"),
        (["--pareto", "web,code", "--pareto-output", "front.png"], 2, "a table after --pareto-output"),
        (["--pareto", "web,code", "--pareto-output", "/no/such/folder/front.csv"], 3, "/no/such/folder/front.csv"),
        (["--objective", "wbe=1"], 3, "in the objective. Got 'loss/wbe'"),
        (["--limit", "wbe <= 2"], 3, "in the objective"),
        (["--limit", "loss/wbe <= 2"], 3, "in the objective. Got 'loss/wbe'"),
        (["--limit", "* <= incumbent + 0.01"], 3, "Pass --incumbent"),
        (["--format", "nothing"], 2, "a format among"),
        (["--min", "wbe=0.1"], 3, "in --min. Got 'wbe'"),
        (["--min", "web=0.6,code=0.5"], 3, "they miss each other by 0.1"),
        (["--natural", "wbe=1"], 3, "wbe"),
        (["--kl", "0.05"], 3, "--reference"),
        (["--risk", "2"], 2, "--risk mean or a quantile"),
        (["--risk", "mean"], 2, "Fit with --bootstrap 100"),
        (["-o", "/no/such/folder/mixture.yaml"], 3, "a folder that can be written to"),
        (["-o", "-", "--json"], 2, "not both on stdout"),
    ],
)
def test_slips_are_found_before_a_run_table_is_fitted(
    known_law: Path,
    arguments: list[str],
    code: int,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fitted(*_: object, **__: object) -> None:
        pytest.fail("laws were fitted before the options were looked at")

    monkeypatch.setattr("mixlaw.fitting.fit_table", fitted)
    assert main(["optimize-mixture", str(known_law), *SCALE, *arguments]) == code
    out, err = capsys.readouterr()
    assert message in err
    assert out == ""


def test_terms_of_a_front_that_cannot_be_predicted_are_refused_before_the_search(
    fit_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("mixlaw.optimize.choose", lambda *_, **__: pytest.fail("searched first"))
    assert main(["optimize-mixture", str(fit_path), *SCALE, "--pareto", "web,bench/mmlu"]) == 3
    assert "in --pareto. Got 'bench/mmlu'" in capsys.readouterr().err


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_from_logs_to_a_config_in_one_pipe(known_law: Path, tmp_path: Path) -> None:
    fit = f"mixlaw fit {known_law} --law capacity --starts 3 -o -"
    choose = "mixlaw optimize-mixture - --params 1B --tokens 20B"
    run = shell(f"{fit} | {choose} | mixlaw export - --format megatron", tmp_path)
    assert run.returncode == 0, run.stderr
    words = run.stdout.split()
    assert words[1::2] == ["web", "code", "math", "books"]
    assert sum(map(float, words[::2])) == pytest.approx(1, abs=1e-9)


def test_benchmarks_from_table_to_objective(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run table with accuracies, fitted on the spot, predicted, and optimised for."""
    rng = np.random.default_rng(0)
    example, law = EXAMPLES["capacity"], LAWS["capacity"]
    frame, inputs = design(rng)
    loss = law.predict(np.array(example.theta), inputs) * np.exp(1e-3 * rng.standard_normal(len(inputs)))
    frame["loss/web"] = loss
    frame["bench/hellaswag"] = rng.binomial(10042, 0.25 + 0.75 / (1 + np.exp(3 * (loss - 2.6)))) / 10042
    frame["bench/boolq"] = rng.binomial(3270, 0.5, len(frame)) / 3270
    frame.to_csv(tmp_path / "runs.csv", index=False)
    fit = tmp_path / "fit.json"
    assert main(["fit", str(tmp_path / "runs.csv"), "--law", "capacity", "-o", str(fit)]) == 0
    assert "predictable" in capsys.readouterr().out
    assert main(["predict", str(fit), *SCALE, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["benchmarks"]
    assert list(found) == ["hellaswag"]
    assert found["hellaswag"]["low"] <= found["hellaswag"]["value"] <= found["hellaswag"]["high"]
    assert main(["predict", str(fit), "--at", str(tmp_path / "runs.csv"), "-o", str(tmp_path / "at.csv")]) == 0
    at = pd.read_csv(tmp_path / "at.csv")
    assert np.abs(at["pred/bench/hellaswag"] - frame["bench/hellaswag"]).mean() < 0.01
    capsys.readouterr()
    assert main(["optimize-mixture", str(fit), *SCALE, "--objective", "bench/hellaswag=1", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["objective"]["proposal"]["value"] >= data["objective"]["uniform"]["value"]
    assert main(["optimize-mixture", str(fit), *SCALE, "--objective", "bench/boolq=1"]) == 3
    assert "at chance" in capsys.readouterr().err
