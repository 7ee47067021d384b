"""Which rows are one run: resumes, names that say nothing, and two experiments under one name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mixlaw.errors import InputError
from mixlaw.logs import IngestOptions, ingest

SET = IngestOptions(facts={"params": 1e8, "tokens_per_step": 1000.0}, mixture={"web": 1.0})


def lines(path: Path, steps: list[int], loss: float = 3.0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [{"step": s, "eval/web/loss": loss - 0.001 * s} for s in steps]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_a_resume_within_a_file_is_one_run_and_the_last_value_counts(tmp_path: Path) -> None:
    lines(tmp_path / "runX.jsonl", [100, 200, 300, 200, 300, 400])
    table, report = ingest([tmp_path / "runX.jsonl"], options=SET)
    assert table.runs == ("runX",)
    assert table.column("step").tolist() == [100, 200, 300, 400]
    assert report.merged == 2


def test_a_start_from_scratch_within_a_file_is_another_run(tmp_path: Path) -> None:
    lines(tmp_path / "runX.jsonl", [100, 200, 300, 100, 200])
    table, _ = ingest([tmp_path / "runX.jsonl"], options=SET)
    assert len(table.runs) == 2


def test_two_mixtures_under_one_name_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("run,step,tokens,params,mix/a,mix/b,loss/x\nf,1,1e9,1e8,0.6,0.4,3\nf,1,1e9,1e8,0.5,0.5,3.1\n")
    with pytest.raises(InputError, match="two for run 'f' at the same checkpoint"):
        ingest([file])


def test_result_files_of_different_folders_are_different_runs(tmp_path: Path) -> None:
    for run, loss in (("run1", 2.5), ("run2", 2.9)):
        folder = tmp_path / "hf" / run
        folder.mkdir(parents=True)
        history = [{"step": 100, "epoch": 0.5, "eval_web_loss": loss}]
        state = {"global_step": 100, "max_steps": 100, "log_history": history, "num_input_tokens_seen": 0}
        (folder / "trainer_state.json").write_text(json.dumps(state))
        (folder / "all_results.json").write_text(json.dumps({"eval_loss": loss, "train_loss": 3.0}))
    table, _ = ingest([tmp_path / "hf"], options=SET)
    assert set(table.runs) == {"run1", "run2"}
    assert sorted(table.loss("web")) == [2.5, 2.9]
