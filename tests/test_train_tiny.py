"""The script of the sample runs: its text, its plans, and a smoke run where PyTorch is there."""

from __future__ import annotations

import gzip
import importlib
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import yaml

from mixlaw.logs import read_runs


@pytest.fixture
def script(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Loads a file of sample_runs as a module."""
    monkeypatch.syspath_prepend(str(checkout / "sample_runs"))

    def load(name: str) -> ModuleType:
        return importlib.import_module(name)

    return load


@pytest.fixture(scope="module")
def smoke(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs of `train_tiny.py --smoke`."""
    if importlib.util.find_spec("torch") is None:
        pytest.skip("PyTorch is not installed (extra 'samples'): the smoke run is left out")
    out = tmp_path_factory.mktemp("smoke")
    train(checkout, "--smoke", "-o", str(out))
    return out


def train(checkout: Path, *arguments: str) -> str:
    command = [sys.executable, str(checkout / "sample_runs" / "train_tiny.py"), "--processes", "1", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stderr


def rows_of(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(log.read_bytes()).decode().splitlines()]


def test_smoke_trains_two_models(smoke: Path) -> None:
    base, half = rows_of(smoke / "smoke-base.jsonl.gz"), rows_of(smoke / "smoke-half.jsonl.gz")
    assert [row["step"] for row in base] == [3, 6]
    assert [row["tokens"] for row in half] == [0, 6144, 12288]
    assert base[-1]["params"] == 4920
    assert half[0]["loss/letters"] == base[-1]["loss/letters"]  # it starts from the base's weights
    assert half[-1]["loss/letters"] < half[0]["loss/letters"] - 0.1  # letters come in with the second mixture
    assert base[-1]["loss/digits"] < base[0]["loss/digits"] < 5.55  # ln 256 = 5.545
    assert half[-1]["meta/drawn/digits"] == half[-1]["meta/drawn/letters"] == 6144


def test_smoke_logs_are_read_without_a_map(smoke: Path) -> None:
    table = read_runs(smoke)
    assert set(table.runs) == {"smoke-base", "smoke-half"}
    assert set(table.domains) == set(table.targets) == set(table.benchmarks) == {"digits", "letters"}


def test_the_same_seed_gives_the_same_bytes(smoke: Path, checkout: Path, tmp_path: Path) -> None:
    train(checkout, "--smoke", "-o", str(tmp_path))
    for log in smoke.iterdir():
        assert (tmp_path / log.name).read_bytes() == log.read_bytes()


def test_a_run_is_done_with_its_log_and_a_base_with_its_weights_too(script: Any, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed (extra 'samples')")
    train_tiny, (base, half) = script("train_tiny"), script("tiny_plans").smoke_plan()
    folders = train_tiny.Folders(corpus=tmp_path, logs=tmp_path, state=tmp_path)
    assert not train_tiny.done(base, {base.name}, folders)
    for run in (base, half):
        folders.log(run.name).touch()
    assert train_tiny.done(half, {base.name}, folders)
    assert not train_tiny.done(base, {base.name}, folders)
    folders.weights(base.name).touch()
    assert train_tiny.done(base, {base.name}, folders)


def test_committed_plans_are_those_of_the_design(script: Any, checkout: Path) -> None:
    plans = script("tiny_plans")
    for name, plan in (("pretrain", plans.pretraining()), ("continual", plans.continual())):
        assert yaml.safe_load((checkout / f"sample_runs/plans/{name}.yaml").read_text()) == plan


def test_half_of_the_pretraining_plan_has_runs_of_every_size(script: Any, checkout: Path) -> None:
    runs = script("tiny_plans").read_plan(checkout / "sample_runs/plans/pretrain.yaml")
    half = [run.size for run in runs[: len(runs) // 2]]
    for size, number in {"25k": 16, "60k": 15, "110k": 9, "310k": 9}.items():
        assert [run.size for run in runs].count(size) == number
        assert half.count(size) >= 1
    assert len({run.name for run in runs}) == len(runs)
    assert len({tuple(run.mixture.values()) for run in runs if run.size == "25k"}) == 14


@pytest.mark.parametrize(
    ("change", "message"),
    [({"mixture": {"a": 0.5}}, "sum to 1"), ({"params": 1_000_000}, "within 5 %"), ({"rank": 1}, "Got rank")],
)
def test_a_run_that_cannot_be_trained_is_refused(script: Any, change: dict[str, Any], message: str) -> None:
    plans = script("tiny_plans")
    entry = {"name": "x", "params": 25e3, "tokens": "1e6", "flops": 1.0, "mixture": {"a": 1.0}}
    assert (plans.run_of(entry).size, plans.run_of(entry).lr) == ("25k", 0.0125)
    with pytest.raises(SystemExit, match=message):
        plans.run_of(entry | change)


def test_no_paragraph_is_trained_on_and_held_out(script: Any) -> None:
    corpus = script("corpus")
    notice = "Permission is hereby granted, free of charge, to any person\nobtaining a copy of this software."
    documents = {
        f"{i}.txt": f"{notice}\n\n" + f"Text number {i} says this and nothing else. " * 200 for i in range(200)
    }
    train, valid = corpus.split(documents)
    assert len(train) + len(valid) == 200
    assert sum(map(len, valid)) == pytest.approx(500_000, rel=0.02)
    assert not set(train) & set(valid)
    assert sum(text.count("Permission") for text in (*train, *valid)) == 1


def test_manual_pages_become_plain_text(script: Any) -> None:
    page = '.\\" a comment\n.TH LS 1\n.SH NAME\nls \\- list\\f[R] \\fBfiles\\fP\n.B "\\-a"\nit\\(aqs\n'
    assert script("corpus").plain_manual(page) == "\nNAME\nls - list files\n-a\nit's"


def test_batches_follow_the_mixture(script: Any, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed (extra 'samples')")
    data = script("tiny_data")
    data.made_up_corpus(tmp_path)
    sampler = data.Sampler(data.Corpus.read(tmp_path), {"digits": 0.7, "letters": 0.3}, seed=0)
    for batches in range(1, 101):
        assert sampler.batch(16).shape == (16, 129)
        assert abs(sampler.drawn["digits"] / 128 - 0.7 * 16 * batches) <= batches
    assert sampler.drawn["digits"] / (1600 * 128) == pytest.approx(0.7, abs=0.01)


def test_every_piece_of_a_domain_is_seen_before_any_again(script: Any, rng: np.random.Generator) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed (extra 'samples')")
    stream = script("tiny_data").Stream(np.arange(20_000) % 251, rng)
    pieces = {tuple(stream.next()) for _ in range(155)}  # (20,000 - 129) / 128, less one for the random first boundary
    assert len(pieces) == 155
