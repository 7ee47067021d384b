"""The commands fit, predict and compare, as a shell sees them."""

from __future__ import annotations

import io
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
from mixlaw.fits import FitSet
from mixlaw.logs import read_runs
from mixlaw.runs import RunTable


@pytest.fixture(scope="module")
def fit_file(known_law: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fit") / "fit.json"
    assert main(["fit", str(known_law), "--law", "capacity", "--starts", "4", "-o", str(path)]) == 0
    return path


def test_fit_prints_a_row_per_target_and_says_what_it_left_out(
    known_law: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fit", str(known_law), "--law", "capacity", "--starts", "4", "--parameters"]) == 0
    out, err = capsys.readouterr()
    assert [line.split()[0] for line in out.splitlines() if "capacity " in line][:4] == ["web", "code", "math", "books"]
    assert "c[web]" in out
    assert "192 rows of 48 runs used. 48 rows left out: first 25% of a run" in err


def piped(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_fit_from_a_pipe_predicts_as_its_file_does(known_law: Path, tmp_path: Path) -> None:
    words = "--mixture web=0.6,code=0.2,math=0.1,books=0.1 --params 1B --tokens 20B --json"
    fit = f"mixlaw fit {known_law} --law chinchilla --starts 1"
    piped_run = piped(f"{fit} -o - | mixlaw predict - {words}", tmp_path)
    assert piped_run.returncode == 0, piped_run.stderr
    by_file = piped(f"{fit} -o fit.json > /dev/null && mixlaw predict fit.json {words}", tmp_path)
    assert json.loads(piped_run.stdout) == json.loads(by_file.stdout)


def test_run_table_from_stdin_is_fitted(
    known_law: Path, fit_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tables = []

    def fitted(table: RunTable, *_: object, **__: object) -> FitSet:
        tables.append(table)
        return fitfile.load(fit_file)

    monkeypatch.setattr("mixlaw.fitting.fit_table", fitted)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(known_law.read_bytes())))
    assert main(["predict", "-", "--params", "1B", "--tokens", "20B", "--json"]) == 0
    out, err = capsys.readouterr()
    assert "stdin is a run table: fitting auto first" in err
    assert tables[0].fingerprint == read_runs(known_law).fingerprint
    assert set(json.loads(out)["predicted"]) == {"web", "code", "math", "books"}


def test_fit_file_is_known_by_its_content(fit_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "laws.txt"
    other.write_bytes(fit_file.read_bytes())
    assert main(["predict", str(other), "--params", "1B", "--tokens", "20B", "--json"]) == 0
    assert "predicted" in json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--at", "RUNS", "-o", "-", "--json"], "--json or -o -, not both on stdout"),
        (["-o", "-", "--json"], "--json or -o -, not both on stdout"),
        (["--at", "RUNS", "--mixture", "web=1"], "--at alone"),
        (["--at", "RUNS", "--tokens", "20B"], "Got --at and --tokens"),
        (["--tokens", "many"], "--tokens to be a number"),
    ],
)
def test_predict_refuses_what_would_be_mixed_up(
    fit_file: Path, known_law: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [str(known_law) if word == "RUNS" else word for word in arguments]
    assert main(["predict", str(fit_file), *words]) == 2
    out, err = capsys.readouterr()
    assert message in err
    assert out == ""


def test_predict_leaves_one_result_on_stdout(
    fit_file: Path, known_law: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scale = ["--params", "1B", "--tokens", "20B"]
    assert main(["predict", str(fit_file), *scale, "-o", "-"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert main(["predict", str(fit_file), *scale, "-o", str(tmp_path / "p.json"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads((tmp_path / "p.json").read_text()) == content
    assert main(["predict", str(fit_file), "--at", str(known_law), "-o", "-"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("run,")
    assert {line.count(",") for line in lines} == {lines[0].count(",")}


def test_predictions_of_a_table_are_held_against_what_it_measured(
    fit_file: Path, known_law: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = pd.read_csv(known_law).groupby("run", sort=False).tail(1).head(6)
    frame["loss/code"] *= [1, 1, 1, 2, 2, 2]
    frame["params"] *= [1, 1, 1, 1, 300, 300]
    frame.to_csv(tmp_path / "at.csv", index=False)
    words = ["predict", str(fit_file), "--at", str(tmp_path / "at.csv")]
    assert main([*words, "-o", str(tmp_path / "p.csv")]) == 0
    out, err = capsys.readouterr()
    assert "in 90 % interval" in out
    assert "flag extrapolates-size: 2 of 6 runs, the first: " in err
    predicted = pd.read_csv(tmp_path / "p.csv")
    low, high = predicted["low/code"].to_numpy(), predicted["high/code"].to_numpy()
    inside = (low <= frame["loss/code"].to_numpy()) & (frame["loss/code"].to_numpy() <= high)
    assert main([*words, "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert [row["pred/code"] for row in content["rows"]] == pytest.approx(predicted["pred/code"].tolist())
    scores = content["scores"]
    assert scores["code"]["covered"] == pytest.approx(inside.mean())
    assert scores["code"]["covered"] <= 0.5


def test_a_row_or_mixture_with_another_domain_is_found_before_fitting(
    known_law: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("mixlaw.fitting.fit_table", lambda *_, **__: pytest.fail("fitted first"))
    assert main(["predict", str(known_law), "--mixture", "wbe=1", "--params", "1B", "--tokens", "20B"]) == 3
    assert "wbe" in capsys.readouterr().err
    (tmp_path / "at.csv").write_text("run,params,tokens,mix/wbe,loss/web\nr,1e9,2e10,1,2.0\n")
    assert main(["predict", str(known_law), "--at", str(tmp_path / "at.csv")]) == 3
    assert "Got wbe" in capsys.readouterr().err
    assert main(["predict", str(known_law), "--at", str(tmp_path / "none.csv")]) == 3
    assert "no such file" in capsys.readouterr().err


def test_runs_without_mixtures_are_fitted_by_laws_without_them(
    known_law: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = pd.read_csv(known_law)
    runs, fit = tmp_path / "runs.csv", tmp_path / "fit.json"
    frame[[c for c in frame if not c.startswith("mix/")]].to_csv(runs, index=False)
    words = ["--starts", "3", "-o", str(fit)]
    assert main(["fit", str(runs), "--law", "chinchilla", "--bootstrap", "4", *words]) == 0
    capsys.readouterr()
    assert main(["predict", str(fit), "--params", "1B", "--tokens", "20B", "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert plain["mixture"] == {}
    assert main(["fit", str(known_law), "--law", "chinchilla", *words]) == 0
    capsys.readouterr()
    assert main(["predict", str(fit), "--params", "1B", "--tokens", "20B", "--json"]) == 0
    with_mixtures = json.loads(capsys.readouterr().out)["predicted"]
    for target, found in plain["predicted"].items():
        assert found["value"] == pytest.approx(with_mixtures[target]["value"], rel=1e-6)


def test_what_needs_mixtures_says_so(known_law: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = pd.read_csv(known_law)
    runs, fit = tmp_path / "runs.csv", tmp_path / "fit.json"
    frame[[c for c in frame if not c.startswith("mix/")]].to_csv(runs, index=False)
    for law in ("auto", "capacity", "chinchilla,linear"):
        assert main(["fit", str(runs), "--law", law]) == 3
        assert "--law chinchilla fits without mixtures" in capsys.readouterr().err
    assert main(["compare", str(runs), "--law", "chinchilla", "--starts", "2"]) == 3
    assert "mixture columns (mix/<domain>) to compare by" in capsys.readouterr().err
    assert main(["fit", str(runs), "--law", "chinchilla", "--starts", "2", "-o", str(fit)]) == 0
    scale = ["--params", "1B", "--tokens", "20B"]
    assert main(["optimize-mixture", str(fit), *scale]) == 3
    assert "a fit of runs with mixtures" in capsys.readouterr().err
    assert main(["predict", str(fit), *scale, "--mixture", "web=1"]) == 3
    assert "Got 'web=1'" in capsys.readouterr().err
    assert main(["predict", str(fit), "--at", str(known_law)]) == 0
    assert capsys.readouterr().out.startswith("run,")


def test_the_same_seed_writes_the_same_bytes(known_law: Path, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a.json", "b.json")]
    for file in files:
        assert (
            main(["fit", str(known_law), "--law", "capacity", "--starts", "2", "--bootstrap", "3", "-o", str(file)])
            == 0
        )
    assert files[0].read_bytes() == files[1].read_bytes()


def test_repeated_tokens_count_for_less_when_asked(
    known_law: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    domains, fit = tmp_path / "domains.yaml", tmp_path / "fit.json"
    domains.write_text("domains: {web: {}, code: {}, math: {available_tokens: 100M}, books: {}}\n")
    words = ["fit", str(known_law), "--law", "capacity", "--starts", "2", "--repetition", str(domains), "-o", str(fit)]
    assert main(words) == 0
    assert json.loads(fit.read_text())["options"]["unique"] == [["math", 1e8]]
    capsys.readouterr()
    losses = []
    for tokens in ("20B", "200B"):
        assert main(["predict", str(fit), "--mixture", "math=1", "--params", "1B", "--tokens", tokens, "--json"]) == 0
        losses.append(json.loads(capsys.readouterr().out)["predicted"]["math"]["value"])
    assert losses[0] - losses[1] < 0.01
    domains.write_text("domains: {web: {}}\n")
    assert main(["fit", str(known_law), "--repetition", str(domains)]) == 3


def test_predict_a_mixture(fit_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "predict",
        str(fit_file),
        "--mixture",
        "web=0.7,code=0.2,math=0.1",
        "--params",
        "1B",
        "--tokens",
        "20B",
        "--json",
    ]
    assert main(words) == 0
    content = json.loads(capsys.readouterr().out)
    web = content["predicted"]["web"]
    assert web["low"] < web["value"] < web["high"]
    assert content["params"] == 1e9
    assert content["flags"] == ["not-calibrated"]


def test_predict_says_when_it_is_far_from_the_data(fit_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", str(fit_file), "--mixture", "math=1", "--params", "70B", "--tokens", "2T"]) == 0
    err = capsys.readouterr().err
    assert "flag extrapolates-size: 70B against 400M, 175 times" in err
    assert "flag extrapolates-mixture" in err


@pytest.mark.parametrize(
    ("params", "tokens", "flag"),
    [
        ("1B", "20B", None),
        ("3B", "20B", "beyond-tested-step: 3B is 7.5 times the largest size in the data; the step to that from"),
        ("1M", "20B", "below-data: 1M parameters against 20M at least"),
        ("400M", "150", "below-data: 150 tokens against "),
    ],
)
def test_predict_says_what_size_and_tokens_the_data_do_not_speak_of(
    fit_file: Path, params: str, tokens: str, flag: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["predict", str(fit_file), "--params", params, "--tokens", tokens]) == 0
    found = [line for line in capsys.readouterr().err.splitlines() if "below-data" in line or "beyond-tested" in line]
    assert len(found) == (0 if flag is None else 1)
    assert all(line.startswith(f"flag {flag}") for line in found)


def test_errors_on_runs_that_were_fitted_are_called_no_accuracy(
    fit_file: Path, known_law: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = pd.read_csv(known_law)
    new = frame["run"].isin(frame["run"].unique()[:5])
    frame["run"] = frame["run"].where(~new, "new-" + frame["run"])
    for rows, said in ((frame, "43 of 48 runs were fitted: no accuracy"), (frame[new], "")):
        rows.to_csv(tmp_path / "at.csv", index=False)
        assert main(["predict", str(fit_file), "--at", str(tmp_path / "at.csv"), "-o", str(tmp_path / "p.csv")]) == 0
        out = " ".join(capsys.readouterr().out.split())
        assert said in out
        assert ("were fitted" in out) == bool(said)


@pytest.mark.parametrize("command", [["fit"], ["compare"], ["export", "--format", "megatron"]])
def test_a_fit_file_in_the_wrong_place_is_called_one(
    command: list[str], fit_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, str(fit_file)]) == 3
    err = capsys.readouterr().err
    assert "Got a fit file." in err
    assert "optimize-mixture" in err


def test_predict_a_table(fit_file: Path, known_law: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "predictions.csv"
    assert main(["predict", str(fit_file), "--at", str(known_law), "-o", str(path)]) == 0
    frame = pd.read_csv(path)
    assert list(frame.columns[:5]) == ["run", "step", "tokens", "params", "pred/web"]
    measured = pd.read_csv(known_law)
    assert np.abs(frame["pred/code"] / measured["loss/code"] - 1).mean() < 0.01
    assert "mean relative error" in capsys.readouterr().out


def test_compare_ends_in_a_verdict(known_law: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", str(known_law), "--law", "capacity,chinchilla,linear", "--starts", "3", "--by-target"]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "Held out: largest size, 400M (8 runs; fitted without them)" in out
    assert "capacity predicts best: 0." in out
    assert "Not tried: natural: no natural mixture given" in out


def test_compare_in_json_holds_every_figure(known_law: Path, capsys: pytest.CaptureFixture[str]) -> None:
    domains = known_law.with_name("domains.yaml")
    words = ["compare", str(known_law), "--law", "capacity,exp", "--starts", "2", "--domains", str(domains), "--json"]
    assert main(words) == 0
    content = json.loads(capsys.readouterr().out)
    by_name = {law["name"]: law for law in content["laws"]}
    assert by_name["capacity"]["targets"]["math"]["spearman"] > 0.9
    assert by_name["natural"]["decision_regret"] >= 0
    assert content["verdict"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["fit", "RUNS", "--law", "gopher"], 2, "a law among capacity"),
        (["fit", "RUNS", "--law", "auto,exp"], 2, "auto alone"),
        (["fit", "RUNS", "--loss", "median"], 2, "--loss huber, l2 or l1"),
        (["fit", "nowhere.csv"], 3, "nowhere.csv"),
        (["fit", "RUNS", "--exclude", "nobody"], 3, "'nobody'"),
        (["predict", "FIT", "--mixture", "web=0.5"], 3, "a sum of 0.5"),
        (["predict", "FIT", "--mixture", "sugar=1", "--params", "1B", "--tokens", "1B"], 3, "sugar"),
        (["predict", "FIT"], 3, "--params 7B"),
        (["predict", "nowhere.json"], 3, "no such file"),
        (["compare", "RUNS", "--holdout", "sideways"], 2, "largest, mixtures, longest"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    words: list[str], code: int, message: str, known_law: Path, fit_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [{"RUNS": str(known_law), "FIT": str(fit_file)}.get(w, w) for w in words]
    assert main(words) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert "Traceback" not in err
    assert err.count("\n") == 1


def test_a_closed_pipe_is_quiet(fit_file: Path, known_law: Path) -> None:
    command = f"{sys.executable} -m mixlaw predict {fit_file} --at {known_law} | head -1"
    run = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert run.stdout.startswith("run,step,tokens,params")
    assert all(line.startswith("flag ") for line in run.stderr.splitlines())
    assert run.returncode == 0


def test_compare_says_how_else_to_hold_out(known_law: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = known_law.read_text().splitlines()
    few = tmp_path / "few.csv"
    few.write_text("\n".join([lines[0], *(line for line in lines if line.startswith("400M-0"))][:30]))
    assert main(["compare", str(few)]) == 3
    assert "Hold out the largest of two sizes or more (--holdout largest)" in capsys.readouterr().err


def test_the_module_runs_as_a_command() -> None:
    run = subprocess.run([sys.executable, "-m", "mixlaw", "--version"], capture_output=True, text=True, check=True)
    assert run.stdout.startswith("mixlaw 0.")


def test_a_fit_file_keeps_the_command_that_made_it(known_law: Path, tmp_path: Path) -> None:
    words = ["fit", str(known_law), "--law", "linear", "--exclude", "no such run*", "--seed", "3"]
    one, two = tmp_path / "a b.json", tmp_path / "two.json"
    assert main([*words, "-o", str(one)]) == 3  # no run matches
    words = ["fit", str(known_law), "--law", "linear", "--exclude", "400M*", "--seed", "3"]
    assert main([*words, "-o", str(one), "--json"]) == 0
    assert main([*words[:2], f"-o{two}", "--jobs", "1", *words[2:]]) == 0
    assert one.read_bytes() == two.read_bytes()
    assert fitfile.load(one).command == f"mixlaw fit {known_law} --law linear --exclude '400M*' --seed 3"


def test_a_fit_file_without_its_command_still_loads(known_law: Path, tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    assert main(["fit", str(known_law), "--law", "linear", "-o", str(path)]) == 0
    content = json.loads(path.read_text())
    del content["command"]
    path.write_text(json.dumps(content))
    assert fitfile.load(path).command == ""
    assert '"command"' not in fitfile.dumps(fitfile.load(path))
