"""``mixlaw predict-cmr`` on the sample runs, as a user types it."""

from __future__ import annotations

import gzip
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from mixlaw.cli import main

Captured = pytest.CaptureFixture[str]
PUBLISHED = (29.8, 34.9, 41.4, 47.8)
# arXiv 2406.01375: chemistry, 1.8B, 10B tokens; domain share, general loss, domain loss.
DCPT = (
    (0.90, 2.9052, 1.7321), (0.91, 2.9193, 1.7312), (0.92, 2.9376, 1.7311), (0.924, 2.9445, 1.7291),
    (0.93, 2.9644, 1.7279), (0.94, 2.9848, 1.7265), (1.0, 3.4667, 1.7220),
)  # fmt: skip


@pytest.fixture
def sample(checkout: Path) -> str:
    return str(checkout / "sample_runs/cmr/runs.csv.gz")


@pytest.fixture
def noisy(checkout: Path) -> str:
    return str(checkout / "sample_runs/cmr/runs_noisy.csv.gz")


def run(*words: str) -> int:
    return main(["predict-cmr", words[0], "--general", "general", "--domain", "finance", *words[1:]])


def test_the_sample_runs_give_the_published_ratios(sample: str, capsys: Captured) -> None:
    assert run(sample, "--tokens", "20B", "--bootstrap", "0", "--json") == 0
    answers = json.loads(capsys.readouterr().out)["answers"]
    assert [a["params"] for a in answers] == [4.6e8, 9.4e8, 1.6e9, 3.1e9]
    for found, percent in zip(answers, PUBLISHED, strict=True):
        assert 100 * found["cmr"] == pytest.approx(percent, abs=0.8)
        assert found["binding"] == "turning"
        assert found["low"] is None
        assert found["tolerance_share"] == 0.75
        assert list(found["t0"]) == ["0.125", "0.25", "0.3333", "0.5", "0.75"]
        assert "tolerance-idle" in found["flags"]
    assert answers[1]["t0"]["0.75"] is None


def test_tables_go_to_stdout_and_flags_to_stderr(noisy: str, capsys: Captured) -> None:
    assert run(noisy, "--tokens", "10B,20B", "--params", "460M", "--bootstrap", "50") == 0
    out, err = capsys.readouterr()
    assert "How much finance is safe" in out
    assert "At 10B tokens use at most" in out
    assert "Next run worth making" in out
    assert "flag t0-beyond-2x" in err
    assert "interval: draws from the posterior" in err


def test_same_seed_same_bytes(noisy: str, capsys: Captured) -> None:
    outputs = []
    for seed in ("1", "1", "2"):
        run(noisy, "--tokens", "20B", "--params", "940M", "--bootstrap", "40", "--seed", seed, "--json")
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1] != outputs[2]


def test_the_config_for_a_trainer(noisy: str, tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "mixture.yaml"
    assert run(noisy, "--tokens", "20B", "--params", "1.6B", "--bootstrap", "0", "-o", str(path)) == 0
    assert "How much finance is safe" in capsys.readouterr().out
    written = yaml.safe_load(path.read_text())
    assert 100 * written["mixture"]["finance"] == pytest.approx(41.4, abs=3)
    assert written["tokens"] == 20e9
    assert written["evidence"]["binding"] == "turning"
    assert run(noisy, "--tokens", "20B", "--params", "1.6B", "--bootstrap", "0", "--format", "megatron") == 0
    out, err = capsys.readouterr()
    assert float(out.split()[0]) == pytest.approx(1 - written["mixture"]["finance"], abs=1e-9)
    assert "How much finance is safe" in err


def test_several_answers_are_not_one_config(noisy: str, tmp_path: Path, capsys: Captured) -> None:
    assert run(noisy, "--tokens", "20B", "--bootstrap", "0", "-o", str(tmp_path / "m.yaml")) == 2
    assert "Choose one size with --params" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_the_d_cpt_table_gives_its_forgetting_budget(tmp_path: Path, capsys: Captured) -> None:
    rows = [(f"r{share}", 1e10, 1.8e9, 1 - share, share, general, domain) for share, general, domain in DCPT]
    rows.append(("base", 0.0, 1.8e9, 1.0, 0.0, 2.8602, 2.2))
    columns = ["run", "tokens", "params", "mix/general", "mix/finance", "loss/general", "loss/finance"]
    pd.DataFrame(rows, columns=columns).to_csv(tmp_path / "runs.csv", index=False)
    assert run(str(tmp_path / "runs.csv"), "--tokens", "10B", "--json") == 4  # end losses alone: no critical ratio
    answer = json.loads(capsys.readouterr().out)["answers"][0]
    assert answer["forgetting_budget"]["share"] == pytest.approx(0.924, abs=0.002)
    assert answer["cmr"] is None
    assert "few-readings" in answer["flags"]


def test_no_answer_at_any_budget_fails_after_the_tables(sample: str, tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "mixture.yaml"
    words = ("--params", "460M", "--bootstrap", "0")
    assert run(sample, "--tokens", "60B", *words, "-o", str(path)) == 4
    out, err = capsys.readouterr()
    assert "no answer" in out and "Train at least one run to 30B tokens" in out
    assert "mixlaw: Expected a critical mixture ratio at one of the budgets at least. Got none, for 460M at 60B." in err
    assert err.rstrip().endswith("Train at least one run to 30B tokens.")
    assert not path.exists()
    assert run(sample, "--tokens", "60B,80B", *words, "--json") == 4
    out, err = capsys.readouterr()
    assert [a["cmr"] for a in json.loads(out)["answers"]] == [None, None]
    assert "460M at 60B and 1 more" in err


def test_an_answer_at_one_of_the_budgets_is_enough(sample: str, capsys: Captured) -> None:
    assert run(sample, "--tokens", "20B,60B", "--params", "460M", "--bootstrap", "0") == 0
    assert "no answer for 60B: see its recommendation" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--tokens", "20B", "--form", "cubic"), 2, "--form among surface, reduced, paper"),
        (("--tokens", "20B", "--forget", "0.03"), 2, "--forget in per cent"),
        (("--tokens", "20B", "--bootstrap", "1"), 3, "--bootstrap of 0"),
        (("--tokens", "lots"), 2, "--tokens to be a number"),
        (("--tokens", "20B", "--weight", "0"), 2, "--weight above zero"),
        (("--tokens", "20B", "--params", "7B"), 3, "Sizes in the table: 460M, 940M, 1.6B, 3.1B"),
        (("--tokens", "20B", "--base", "general=2.86"), 3, "--base for one model size"),
    ],
)
def test_impossible_requests(sample: str, capsys: Captured, words: tuple[str, ...], code: int, message: str) -> None:
    assert run(sample, *words) == code
    assert message in capsys.readouterr().err


def test_a_picture_needs_matplotlib(
    noisy: str, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name == "matplotlib" else real(name, *a))
    assert run(noisy, "--tokens", "20B", "--plot", str(tmp_path / "a.png")) == 3
    assert "pip install 'mixlaw[plot]'" in capsys.readouterr().err


def test_a_picture_is_written(noisy: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    words = ("--tokens", "20B", "--params", "3.1B", "--bootstrap", "30", "--plot", str(tmp_path / "a.png"))
    assert run(noisy, *words) == 0
    assert (tmp_path / "a.png").stat().st_size > 20_000


def test_the_script_writes_the_sample_runs_again(checkout: Path, tmp_path: Path) -> None:
    script = checkout / "sample_runs/cmr/make_runs.py"
    subprocess.run([sys.executable, str(script), "-o", str(tmp_path)], check=True)
    for name in ("runs.csv.gz", "runs_noisy.csv.gz"):
        kept = gzip.decompress((script.parent / name).read_bytes())
        assert gzip.decompress((tmp_path / name).read_bytes()) == kept
