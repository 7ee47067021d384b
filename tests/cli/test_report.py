"""The command as its users meet it: what lands on stdout and in the file, what it says when it cannot."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from mixlaw.cli import main
from mixlaw.cli.choices import fit_options
from mixlaw.cli.fit import fit as fit_command
from mixlaw.cli.opening import open_fits_and_runs
from mixlaw.fit import FitOptions

SCALE = ["--params", "1B", "--tokens", "20B"]


@pytest.fixture(scope="module")
def runs(known_law: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample table, less of it: three sizes, two targets."""
    frame = pd.read_csv(known_law).drop(columns=["loss/math", "loss/books"])
    path = tmp_path_factory.mktemp("runs") / "runs.csv"
    frame[frame["params"] > 30e6].to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def fit(runs: Path) -> Path:
    path = runs.with_name("fit.json")
    assert main(["fit", str(runs), "--law", "capacity", "--starts", "3", "-o", str(path)]) == 0
    return path


def test_a_page_is_written_and_nothing_else(fit: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "report.html"
    assert main(["report", str(fit), *SCALE, "-o", str(path)]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert f"wrote {path}" in err
    assert path.read_text().endswith("</html>\n")


def test_stdout_takes_the_page(fit: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(fit), *SCALE, "-o", str(tmp_path / "a.html")]) == 0
    capsys.readouterr()
    assert main(["report", str(fit), *SCALE, "-o", "-"]) == 0
    assert capsys.readouterr().out == (tmp_path / "a.html").read_text()
    assert main(["report", str(fit), *SCALE]) == 0
    assert capsys.readouterr().out == (tmp_path / "a.html").read_text()


def test_without_a_scale_it_is_that_of_the_data_and_says_so(
    fit: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "report.html"
    assert main(["report", str(fit), "-o", str(path)]) == 0
    said = "--params was left out: this is for the largest size in the data, 400M."
    assert said in capsys.readouterr().err
    page = path.read_text()
    assert said in page
    assert "--tokens was left out: this is for the largest token count in the data, 8B." in page
    assert "<h1>Data mixture for 400M parameters on 8B tokens</h1>" in page


def test_a_run_table_is_fitted_and_compared(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "report.html"
    assert main(["report", str(runs), *SCALE, "-o", str(path)]) == 0
    assert "is a run table: fitting auto first" in capsys.readouterr().err
    page = path.read_text()
    assert "auto misses by" in page
    assert "on 8 runs it had not seen (largest size, 400M)" in page
    assert f"<pre><code>mixlaw fit {runs}</code></pre>" in page
    for law in ("joint", "additive", "chinchilla"):
        assert f'<span class="name">{law}</span>' in page or f'<span class="name"><strong>{law}</strong></span>' in page


def test_the_command_shown_for_a_fit_made_here_is_the_same_fit() -> None:
    named = {name: option.default for name, option in inspect.signature(fit_command).parameters.items()}
    words = {name: named[name] for name in inspect.signature(fit_options).parameters}
    assert fit_options(**{**words, "exclude": []}) == FitOptions()
    assert (named["law"], named["bootstrap"], named["shrink"]) == ("auto", 0, None)
    assert inspect.signature(open_fits_and_runs).parameters["law"].default == "auto"


def test_json_holds_what_the_page_says(fit: Path, runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    incumbent = ["--incumbent", "web=0.25,code=0.25,math=0.25,books=0.25"]
    assert main(["report", str(fit), *SCALE, "--runs", str(runs), "--json", *incumbent]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["params"], data["tokens"]) == (1e9, 20e9)
    assert sum(data["choice"]["mixture"].values()) == pytest.approx(1, abs=1e-9)
    assert "incumbent" in data["choice"]["objective"]
    laws = {law["name"]: law["error"] for law in data["held_out"]["laws"]}
    assert laws["capacity"] < laws["additive"]
    assert 0 <= data["helpful_run"]["regret_after"] <= data["helpful_run"]["regret_now"]
    assert data["helpful_run"]["params"] in (60e6, 150e6, 400e6)
    assert data["laws"] == {"capacity": 1.0}
    assert data["commands"]["The fit"].startswith("mixlaw fit ")
    assert data["data"]["dropped"]


def test_several_scales_show_how_the_optimum_moves(fit: Path, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    assert main(["report", str(fit), "--params", "400M,1B", "--tokens", "20B", "-o", str(path)]) == 0
    page = path.read_text()
    assert "Optimum by scale" in page
    assert "<h1>Data mixture for 1B parameters on 20B tokens</h1>" in page


def test_a_domains_file_binds_and_the_page_says_what_that_costs(fit: Path, checkout: Path, tmp_path: Path) -> None:
    path, facts = tmp_path / "report.html", tmp_path / "domains.yaml"
    facts.write_text("domains: {web: {}, code: {max: 0.05}, math: {}, books: {}}\n")
    assert main(["report", str(fit), *SCALE, "--domains", str(facts), "-o", str(path)]) == 0
    assert "Binds: at most 0.05 of &#x27;code&#x27;" in path.read_text()


def test_another_run_table_is_told_apart(fit: Path, known_law: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(fit), *SCALE, "--runs", str(known_law), "--json"]) == 0
    assert "The run table of --runs is not the one that was fitted" in capsys.readouterr().err


def test_a_table_that_cannot_be_split_still_has_a_page(
    fit: Path, runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = pd.read_csv(runs)
    few = tmp_path / "few.csv"
    frame[frame["run"].isin(frame["run"].unique()[:4])].to_csv(few, index=False)
    assert main(["report", str(fit), *SCALE, "--runs", str(few), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["held_out"] is None
    assert data["no_held_out"].startswith("that takes at least 10 mixtures")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["nowhere.json"], 3, "Expected a fit file or a run table. Got no such file."),
        (["FIT", "--runs", "nowhere.csv"], 3, "nowhere.csv"),
        (["FIT", "--params", "many"], 2, "--params"),
        (["FIT", "--objective", "wbe=1"], 3, "Got 'loss/wbe'."),
        (["FIT", "--limit", "nonsense"], 3, "a limit such as"),
        (["FIT", "--json", "-o", "-"], 2, "not both on stdout"),
        (["FIT", "-o", "no/such/folder/report.html"], 3, "a folder that can be written to"),
        ([], 2, "FIT"),
    ],
)
def test_errors_have_their_exit_codes(
    fit: Path, words: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", *(str(fit) if word == "FIT" else word for word in words)]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err


def test_a_terminal_does_not_get_a_page(
    fit: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["report", str(fit), *SCALE]) == 2
    assert "Expected -o FILE, such as -o report.html." in capsys.readouterr().err


def test_a_closed_pipe_is_no_error(fit: Path) -> None:
    command = f"{sys.executable} -m mixlaw report {fit} --params 1B --tokens 20B | head -1"
    run = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout == "<!DOCTYPE html>\n"
    assert "Traceback" not in run.stderr
