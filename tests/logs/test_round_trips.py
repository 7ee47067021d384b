"""Our table -> the writer of the real library -> ingest -> the same numbers."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mixlaw.logs import IngestOptions, ingest, read_runs
from mixlaw.runs import RunTable

FACTS = IngestOptions.build(settings=("params=125M", "tokens_per_step=1000", "mix/web=0.6", "mix/code=0.4"))


@pytest.fixture
def table(rng: np.random.Generator) -> RunTable:
    """Two runs of five checkpoints with two losses, one cell missing."""
    steps = np.tile(np.arange(1, 6) * 100.0, 2)
    frame = pd.DataFrame(
        {
            "run": np.repeat(["p001", "p002"], 5),
            "step": steps,
            "tokens": steps * 1000,
            "params": 125e6,
            "mix/web": 0.6,
            "mix/code": 0.4,
            "loss/web": 3 + rng.random(10),
            "loss/code": 2 + rng.random(10),
        }
    )
    frame.loc[3, "loss/code"] = np.nan
    return RunTable.from_frame(frame)


def same(left: RunTable, right: RunTable, *, digits: float = 0.0) -> None:
    assert left.runs == right.runs and left.domains == right.domains and set(left.targets) == set(right.targets)
    for name in ("step", "tokens", "params", "loss/web", "loss/code"):
        np.testing.assert_allclose(left.column(name), right.column(name), rtol=digits, atol=0)
    np.testing.assert_allclose(left.mixtures, right.mixtures, rtol=1e-12)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_pandas_csv(table: RunTable, tmp_path: Path, separator: str, encoding: str) -> None:
    path = tmp_path / "runs.csv"
    table.to_frame().to_csv(
        path, index=False, sep=separator, encoding=encoding, decimal="," if separator == ";" else "."
    )
    same(read_runs(path), table)


def test_pandas_csv_with_index_and_gzip(table: RunTable, tmp_path: Path) -> None:
    table.to_frame().to_csv(tmp_path / "runs.csv.gz", compression="gzip")
    same(read_runs(tmp_path / "runs.csv.gz"), table)


def test_pandas_csv_with_two_header_rows(table: RunTable, tmp_path: Path) -> None:
    frame = table.to_frame()
    frame.columns = pd.MultiIndex.from_tuples([tuple(c.split("/")) if "/" in c else ("", c) for c in frame.columns])
    frame.to_csv(tmp_path / "runs.csv", index=False)
    same(read_runs(tmp_path / "runs.csv"), table)


@pytest.mark.parametrize("orient", ["records", "columns", "list"])
def test_pandas_json(table: RunTable, tmp_path: Path, orient: str) -> None:
    frame = table.to_frame()
    path = tmp_path / "runs.json"
    if orient == "list":
        path.write_text(json.dumps(frame.to_dict("list")))
    else:
        frame.to_json(path, orient=orient, double_precision=15)  # type: ignore[call-overload]
    same(read_runs(path), table, digits=1e-14)


def test_pandas_json_lines_gzip(table: RunTable, tmp_path: Path) -> None:
    lines = "".join(json.dumps(row) + "\n" for row in table.to_frame().to_dict("records"))
    assert "NaN" in lines
    (tmp_path / "runs.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    same(read_runs(tmp_path / "runs.jsonl.gz"), table)


def test_parquet(table: RunTable, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    table.to_frame().to_parquet(tmp_path / "runs.parquet")
    same(read_runs(tmp_path / "runs.parquet"), table)


def test_long_form(table: RunTable, tmp_path: Path) -> None:
    frame = table.to_frame()
    keys = ["run", "step", "tokens", "params", "mix/web", "mix/code"]
    frame.melt(keys, var_name="metric", value_name="value").to_csv(tmp_path / "runs.csv", index=False)
    same(read_runs(tmp_path / "runs.csv"), table)


def test_a_file_per_run(table: RunTable, tmp_path: Path) -> None:
    for run, rows in table.to_frame().groupby("run"):
        rows.drop(columns="run").to_csv(tmp_path / f"{run}.csv", index=False)
    same(read_runs(tmp_path), table)


@pytest.mark.parametrize("as_tensors", [False, True])
def test_tensorboard_events(table: RunTable, tmp_path: Path, as_tensors: bool) -> None:
    writer_module = pytest.importorskip("tensorboard.summary.writer.event_file_writer")
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.util import tensor_util

    for run in table.runs:
        writer = writer_module.EventFileWriter(str(tmp_path / "tb" / run))
        rows = table.frame[table.frame["run"] == run]
        for target in ("web", "code"):
            for step, loss in zip(rows["step"], rows[f"loss/{target}"], strict=True):
                if as_tensors:
                    value = Summary.Value(
                        tag=f"eval/{target}/loss", tensor=tensor_util.make_tensor_proto(np.float32(loss))
                    )
                else:
                    value = Summary.Value(tag=f"eval/{target}/loss", simple_value=loss)
                writer.add_event(Event(wall_time=1.0, step=int(step), summary=Summary(value=[value])))
        writer.close()
    same(ingest([tmp_path / "tb"], options=FACTS)[0], table, digits=1e-6)


def test_torch_summary_writer(table: RunTable, tmp_path: Path) -> None:
    tensorboard = pytest.importorskip("torch.utils.tensorboard", reason="torch is not installed")
    for run in table.runs:
        writer = tensorboard.SummaryWriter(str(tmp_path / run))
        for row in table.frame[table.frame["run"] == run].to_dict("records"):
            writer.add_scalar("eval/web/loss", row["loss/web"], row["step"])
            writer.add_scalar("eval/code/loss", row["loss/code"], row["step"])
        writer.close()
    same(ingest([tmp_path], options=FACTS)[0], table, digits=1e-6)


def test_hugging_face_trainer_state(table: RunTable, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="transformers' TrainerState needs torch, which is not installed")
    callback = pytest.importorskip("transformers.trainer_callback", reason="transformers is not installed")
    for run in table.runs:
        history = []
        for row in table.frame[table.frame["run"] == run].to_dict("records"):
            history.append({"loss": 3.0, "learning_rate": 1e-4, "epoch": 0.1, "step": int(row["step"])})
            history.append({"eval_web_loss": row["loss/web"], "eval_web_runtime": 1.0, "step": int(row["step"])})
            history.append({"eval_code_loss": row["loss/code"], "eval_code_runtime": 1.0, "step": int(row["step"])})
        folder = tmp_path / run / "checkpoint-500"
        folder.mkdir(parents=True)
        state = callback.TrainerState(global_step=500, max_steps=500, log_history=history)
        state.save_to_json(str(folder / "trainer_state.json"))
    same(ingest([tmp_path], options=FACTS)[0], table)
