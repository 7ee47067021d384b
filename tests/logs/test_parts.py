"""The pieces that reading is made of."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mixlaw.errors import MissingFactError
from mixlaw.logs.convert import Conversion
from mixlaw.logs.diverged import diverged
from mixlaw.logs.flat_json import flat_columns
from mixlaw.logs.growing import Growing
from mixlaw.logs.naming import derive_runs, run_by_place, step_in
from mixlaw.logs.numbers import to_number
from mixlaw.logs.records import Records, columns_of
from mixlaw.logs.source import Source
from mixlaw.units import Unit


@pytest.mark.parametrize(
    ("text", "decimal", "value"),
    [
        ("3.5", ".", 3.5),
        ("3,5", ",", 3.5),
        ("1.048.576,5", ",", 1048576.5),
        ("1,048,576", ".", 1048576.0),
        (" '2.5' ", ".", 2.5),
        ("60%", ".", 60.0),
        ("1E-05", ".", 1e-5),
        ("-Infinity", ".", -math.inf),
        (".5", ".", 0.5),
    ],
)
def test_numbers_as_people_write_them(text: str, decimal: str, value: float) -> None:
    assert to_number(text, decimal=decimal) == value


@pytest.mark.parametrize("text", ["", "nan", "NaN", "N/A", "null", "None", "-", "<NA>"])
def test_empty_cells(text: str) -> None:
    assert math.isnan(to_number(text) or 0.0)


@pytest.mark.parametrize("text", ["1,5", "x", "1 2", "0x10", "1_000", "1e", "3.5.1", "410M"])
def test_words_are_no_numbers(text: str) -> None:
    assert to_number(text) is None


def test_suffixes_only_where_counts_are_meant() -> None:
    assert to_number("410M", human=True) == 410e6
    assert to_number("1.5 B", human=True) == 1.5e9


def test_growing_columns_of_any_kind() -> None:
    rows = Growing()
    rows.append(pd.DataFrame({"run": pd.Categorical(["a", "b"]), "x": [1.0, 2.0]}))
    rows.append(pd.DataFrame({"run": pd.Categorical(["b", "c"]), "y": [3.0, 4.0], "note": ["p", None]}))
    rows.append(pd.DataFrame({"run": pd.Categorical(["c"]), "x": [5.0]}))
    frame = rows.frame()
    assert frame["run"].tolist() == ["a", "b", "b", "c", "c"]
    np.testing.assert_array_equal(frame["x"], [1, 2, np.nan, np.nan, 5])
    np.testing.assert_array_equal(frame["y"], [np.nan, np.nan, 3, 4, np.nan])
    assert frame["note"].fillna("-").tolist() == ["-", "-", "p", "-", "-"]


def test_flat_json_lines_are_read_as_the_parser_reads_them(rng: np.random.Generator) -> None:
    rows = [
        {"run": f"r{i}, x", "step": i, "big": 2**53 + 1, "loss": float(rng.random()), "none": None, "odd": math.nan}
        for i in range(50)
    ]
    text = "".join(json.dumps(r) + "\n" for r in rows)
    fast = flat_columns(text.encode())
    assert fast is not None
    slow = columns_of([json.loads(line) for line in text.splitlines()])
    assert list(fast) == list(slow)
    for name, cells in slow.items():
        if cells.dtype == object:
            assert fast[name].tolist() == cells.tolist()
        else:
            np.testing.assert_array_equal(fast[name], cells)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "b": 2}\n{"b": 2, "a": 1}\n',
        '{"a": 1}\n{"a": 1, "b": 2}\n',
        '{"a": {"b": 1}}\n{"a": {"b": 1}}\n',
        '{"a": [1]}\n{"a": [2]}\n',
        '{"a": true}\n{"a": false}\n',
        '{"a": "x:y"}\n{"a": "z"}\n',
        '{"a": "x\\ny"}\n{"a": "z"}\n',
        '{"a": 1}\n\n{"a": 2}\n',
        '{"a": 1}\n{"a": 2',
        '{"a": 1}\n{"a": "x"}\n',
        "not json\n",
        "",
    ],
)
def test_other_json_lines_are_left_to_the_parser(text: str) -> None:
    assert flat_columns(text.encode()) is None


def test_records_with_different_keys_and_nested_names() -> None:
    records = Records()
    records.add([{"a": 1, "m": {"x": 0.5}}, {"a": None}])
    records.add([{"b": "t", "m": {"y": 2}}, {"m": [{"name": "z", "weight": 0.25}]}])
    frame = records.frame(["a", "m/x", "m/y", "m/z", "b"])
    np.testing.assert_array_equal(frame["a"], [1, np.nan, np.nan, np.nan])
    np.testing.assert_array_equal(frame["m/z"], [np.nan, np.nan, np.nan, 0.25])
    assert frame["b"].fillna("-").tolist() == ["-", "-", "t", "-"]


@pytest.mark.parametrize(
    ("source", "target", "factor", "value", "expected"),
    [
        (Unit.PERPLEXITY, Unit.NATS, None, math.e**2, 2.0),
        (Unit.NATS, Unit.PERPLEXITY, None, 2.0, math.e**2),
        (Unit.BITS, Unit.NATS, None, 1.0, math.log(2)),
        (Unit.NATS, Unit.BITS_PER_BYTE, 4.0, 4 * math.log(2), 1.0),
        (Unit.BITS_PER_BYTE, Unit.NATS, 4.0, 1.0, 4 * math.log(2)),
        (Unit.NATS, Unit.NATS, None, 3.0, 3.0),
    ],
)
def test_conversions(source: Unit, target: Unit, factor: float | None, value: float, expected: float) -> None:
    assert Conversion(source, target, factor)(np.array([value]))[0] == pytest.approx(expected, rel=1e-14)


def test_conversion_needs_its_factor() -> None:
    with pytest.raises(MissingFactError, match="bytes_per_token"):
        Conversion(Unit.NATS, Unit.BITS_PER_BYTE)


def runs(**columns: list[float]) -> pd.DataFrame:
    size = len(next(iter(columns.values())))
    return pd.DataFrame({"run": "a", "step": np.arange(1.0, size + 1), **{f"meta/{k}": v for k, v in columns.items()}})


@pytest.mark.parametrize(
    ("frame", "sign"),
    [
        (runs(nan_iterations=[0, 0, 3.0]), "3 nan iterations, the first by step 3"),
        (runs(grad_norm=[1.0, 0.0, 0.0, 1.0]), "gradient norm 0 at step 2"),
        (runs(grad_norm=[1.0, 1.0, 0.0]), "gradient norm 0 at step 3"),
        (runs(train_loss=[5.0, 4.0, math.inf]), "infinite training loss at step 3"),
        (runs(train_loss=[9.0, 5.0, 4.0, 5.5]), "training loss from 4 up to 5.5"),
        (runs(train_loss=[9.0, 5.0, 4.0, 4.9]), ""),
        (runs(train_loss=[9.0, 5.0, 12.0, 4.0]), ""),
        (runs(grad_norm=[1.0, 0.0, 1.0]), ""),
        (runs(train_loss=[9.0, math.nan, 4.0]), ""),
    ],
)
def test_signs_of_divergence(frame: pd.DataFrame, sign: str) -> None:
    found = diverged(frame)
    assert (sign in found["a"]) if sign else found == {}


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("ckpts/p001/step1500", 1500),
        ("p001-checkpoint-0200", 200),
        ("iter_0000500/mp_rank_00", 500),
        ("global_step40", 40),
        ("pretrained=org/m,revision=step1000-tokens4B", 1000),
        ("step100/eval/step200", 200),
        ("stepping3", None),
        ("p001", None),
    ],
)
def test_step_in_a_path(text: str, step: int | None) -> None:
    assert step_in(text) == step


@pytest.mark.parametrize(
    ("path", "run"),
    [
        ("p001.csv.gz", "p001"),
        ("p001/metrics.jsonl", "p001"),
        ("p001/checkpoint-20/trainer_state.json", "p001"),
        ("p001/lightning_logs/version_0/metrics.csv", "p001"),
        ("wandb/run-2026-abc/files/wandb-summary.json", "run-2026-abc"),
        ("p001/tb/events.out.tfevents.17.host.1.0", "p001"),
        ("p001/slurm-logs.txt", "slurm-logs"),
    ],
)
def test_run_by_place(path: str, run: str, tmp_path: Path) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("x")
    assert run_by_place(Source.at(file, root=tmp_path)) == run


def test_derived_runs() -> None:
    frame = pd.DataFrame(
        {
            "mix/web": [0.5, 0.5, 0.5, 0.5, 1.0, 1.0],
            "params": [1e6] * 6,
            "tokens": [1.0, 2.0, 1.0, 2.0, 1.0, 2.0],
            "loss/web": [3.0] * 6,
        }
    )
    names, remark = derive_runs(frame, "file", several=False)
    assert names.tolist() == ["run-1", "run-1", "run-2", "run-2", "run-3", "run-3"]
    assert "3 runs" in remark
    one, _ = derive_runs(frame.iloc[:2], "file", several=False)
    assert one.tolist() == ["file", "file"]
    mixed, _ = derive_runs(frame.iloc[[3, 0, 5, 1, 4, 2]].reset_index(drop=True), "file", several=True)
    assert len(set(mixed)) == 3 and mixed[0].startswith("file-")
