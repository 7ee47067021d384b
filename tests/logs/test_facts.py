"""What logs do not hold: maps, constants, units, run sheets, tokens, joins, merging by run."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
import yaml

from mixlaw.errors import MissingFactError, MixlawError
from mixlaw.logs import IngestOptions, Report, ingest
from mixlaw.runs import RunTable
from mixlaw.units import Unit

LOG = """\
 iteration       10/     100 | consumed samples: {a} | lm loss: 8.0E+00 | grad norm: 1.5 | number of nan iterations: 0 |
 validation loss at iteration 10 | lm loss value: 8.125E+00 | lm loss PPL: 1.0E+03 |
 iteration       20/     100 | consumed samples: {b} | lm loss: 7.0E+00 | grad norm: 1.5 | number of nan iterations: 0 |
 validation loss at iteration 20 | lm loss value: 7.125E+00 | lm loss PPL: 1.0E+03 |
"""


def write(folder: Path, **files: str) -> list[Path]:
    paths = []
    for name, text in files.items():
        path = folder / name.replace("__", ".")
        path.write_text(text)
        paths.append(path)
    return paths


def read(paths: list[Path], **words: object) -> tuple[RunTable, Report]:
    table, report = ingest(paths, options=IngestOptions.build(**words))  # type: ignore[arg-type]
    assert report.read == report.kept + report.merged + sum(report.skipped.values())
    return table, report


def test_map_by_name_and_glob_with_unit_scale_and_conversion(tmp_path: Path) -> None:
    (csv,) = write(
        tmp_path,
        a__csv="who,when,big,p.web,p.code,score mmlu,val web,val code,ppl news,junk\n"
        "x,1,2,60,40,25.5,1.5,2.5,20.0855369,9\n",
    )
    rules = {
        "who": "run",
        "when": "step",
        "big": {"to": "params", "scale": 1e6},
        "p.*": {"to": "mix/*", "scale": 0.01},
        "score *": {"to": "bench/*", "scale": 0.01},
        "val web": {"to": "loss/web", "unit": "bits/byte", "convert": "nats/token", "bytes_per_token": 4.0},
        "val *": {"to": "loss/*", "unit": "bits/byte"},
        "ppl news": {"to": "loss/news", "unit": "perplexity", "convert": "nats/token"},
        "junk": None,
    }
    (tmp_path / "map.yaml").write_text(yaml.safe_dump({"columns": rules}))
    table, report = read([csv], column_map=tmp_path / "map.yaml")
    assert table.column("params").tolist() == [2e6]
    np.testing.assert_allclose(table.mixtures, [[0.6, 0.4]])
    assert table.column("bench/mmlu")[0] == pytest.approx(0.255)
    assert table.loss("web")[0] == pytest.approx(1.5 * 4 * math.log(2))
    assert table.loss("code")[0] == 2.5
    assert table.loss("news")[0] == pytest.approx(3.0, abs=1e-6)
    assert [table.unit(t) for t in ("web", "code", "news")] == [Unit.NATS, Unit.BITS_PER_BYTE, Unit.NATS]
    assert report.assumed == []


@pytest.mark.parametrize(
    ("rules", "sentence"),
    [
        ({"a": "losses/web"}, "Expected a run-table column. Got 'losses/web'"),
        ({"a": {"unit": "nats"}}, "Expected keys to, unit, scale"),
        ({"a": {"to": "loss/web", "unit": "furlongs"}}, "Expected a unit among"),
        ({"a": {"to": "loss/web", "unit": "nats", "convert": "bits/byte"}}, "Expected bytes_per_token"),
    ],
)
def test_map_that_cannot_be_understood(rules: dict[str, object], sentence: str, tmp_path: Path) -> None:
    (tmp_path / "map.yaml").write_text(yaml.safe_dump(rules))
    with pytest.raises(MixlawError, match=sentence):
        IngestOptions.build(column_map=tmp_path / "map.yaml")


@pytest.mark.parametrize("word", ["params", "params=", "speed=3", "params=-1", "tokens=many"])
def test_settings_that_cannot_be_understood(word: str) -> None:
    with pytest.raises(MixlawError):
        IngestOptions.build(settings=(word,))


def test_set_fills_only_what_is_missing(tmp_path: Path) -> None:
    (csv,) = write(tmp_path, a__csv="run,step,params,web_loss\na,1,1e6,3\nb,1,,3\n")
    table, _ = read([csv], settings=("params=410M", "tokens_per_step=1048576", "mix/web=1"))
    assert table.column("params").tolist() == [1e6, 410e6]
    assert table.column("tokens").tolist() == [1048576.0] * 2
    assert table.domains == ("web",)


def test_run_of_one_file_and_run_named_by_set(tmp_path: Path) -> None:
    (csv,) = write(tmp_path, p7__csv="step,web_loss\n1,3\n2,2.5\n")
    assert read([csv])[0].runs == ("p7",)
    assert read([csv], settings=("run=mine",))[0].runs == ("mine",)


def test_several_files_are_a_run_each(tmp_path: Path) -> None:
    paths = write(
        tmp_path,
        a__csv="step,web_loss\n1,3\n2,2.5\n",
        b__jsonl='{"step": 1, "web_loss": 3.5}\n{"step": 2, "web_loss": 3}\n',
    )
    table, _ = read(paths)
    assert table.runs == ("a", "b") and len(table) == 4


def test_one_unit_per_column(tmp_path: Path) -> None:
    paths = write(tmp_path, a__csv="run,step,web_bpb\na,1,1.5\n", b__csv="run,step,loss/web\nb,1,3.5\n")
    with pytest.raises(MixlawError, match="one unit for the loss of 'web'"):
        read(paths, units=("nats",))
    with pytest.raises(MixlawError, match=r"one unit for the loss of 'web'.*bits/byte.*not stated"):
        read(paths)


def test_params_of_one_name_in_several_sizes(tmp_path: Path) -> None:
    (csv,) = write(tmp_path, a__csv="run,step,params,web_loss\nm1,1,70e6,3\nm1,1,160e6,2.5\nm2,1,70e6,3.5\n")
    table, report = read([csv])
    assert table.runs == ("m1-70M", "m1-160M", "m2")
    assert any("several sizes" in n for n in report.notes)


def test_tokens_from_samples_under_a_batch_ramp(tmp_path: Path) -> None:
    (log,) = write(tmp_path, p1__log=LOG.format(a=320, b=2560))
    with pytest.raises(MissingFactError, match=r"sequence_length.*32 to 128 samples a step"):
        read([log], settings=("tokens_per_step=1000",))
    table, _ = read([log], settings=("sequence_length=2048",))
    assert table.column("tokens").tolist() == [320 * 2048, 2560 * 2048]


def test_tokens_between_logged_rows_only_where_the_ratio_is_constant(tmp_path: Path) -> None:
    train = "run,step,tokens,train/loss\na,10,1000,3\na,20,2000,3\nb,10,1000,3\nb,20,2500,3\n"
    evals = "run,step,web_loss\na,15,2.5\nb,15,2.5\nb,20,2.25\n"
    table, report = read(write(tmp_path, t__csv=train, e__csv=evals))
    tokens = {
        (r, s): t for r, s, t in zip(table.frame["run"], table.column("step"), table.column("tokens"), strict=True)
    }
    assert tokens["a", 15] == 1500
    assert math.isnan(tokens["b", 15]) and tokens["b", 20] == 2500
    assert report.lacking["tokens"] == ["b"]


SHEET = {
    "budget": 1e18,
    "runs": [
        {
            "name": "p001",
            "params": "125M",
            "tokens": 2e9,
            "flops": 1.5e18,
            "seed": 1,
            "mixture": {"web": 0.6, "code": 0.4},
        },
        {"name": "p*", "params": "410M", "tokens_per_step": 1000, "mixture": {"web": 0.1, "code": 0.9}},
    ],
}


def test_sheet_by_name_and_glob(tmp_path: Path) -> None:
    paths = write(tmp_path, p001__log=LOG.format(a=10, b=20), p002__log=LOG.format(a=10, b=20))
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(SHEET, sort_keys=False))
    table, _ = read(paths, sheets=(tmp_path / "plan.yaml",))
    assert table.column("params").tolist() == [125e6, 125e6, 410e6, 410e6]
    assert table.column("flops")[0] == 1.5e18 and math.isnan(table.column("flops")[2])
    np.testing.assert_allclose(table.mixtures, [[0.6, 0.4]] * 2 + [[0.1, 0.9]] * 2)
    assert table.column("tokens").tolist() == [10_000, 20_000] * 2


def test_sheet_as_csv_is_the_same(tmp_path: Path) -> None:
    paths = write(tmp_path, p001__log=LOG.format(a=10, b=20))
    (tmp_path / "sheet.csv").write_text("name,params,tokens_per_step,mix/web,mix/code\np001,125M,1000,0.6,0.4\n")
    table, _ = read(paths, sheets=(tmp_path / "sheet.csv",))
    assert table.column("params").tolist() == [125e6] * 2
    assert table.column("tokens").tolist() == [10_000, 20_000]
    np.testing.assert_allclose(table.mixtures[0], [0.6, 0.4])


def test_without_a_sheet_the_facts_that_lack_are_named_and_a_template_given(tmp_path: Path) -> None:
    paths = write(tmp_path, p001__log=LOG.format(a=10, b=20), p002__log=LOG.format(a=10, b=20))
    _, report = read(paths)
    assert report.lacking == {"mixture": ["p001", "p002"], "params": ["p001", "p002"], "tokens": ["p001", "p002"]}
    runs = yaml.safe_load(report.template)["runs"]
    assert runs[0] == {"name": "*", "params": None, "tokens_per_step": None}
    assert runs[1] == {"name": "p001", "mixture": {"web": None, "code": None}}
    (tmp_path / "sheet.yaml").write_text(report.template)
    again, _ = read(paths, sheets=(tmp_path / "sheet.yaml",))
    assert len(again) == 4


def test_mixture_for_some_runs_only_is_refused_with_a_template(tmp_path: Path) -> None:
    paths = write(tmp_path, p001__log=LOG.format(a=10, b=20), q002__log=LOG.format(a=10, b=20))
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(SHEET))
    with pytest.raises(MissingFactError, match=r"a mixture for every run or for none. Got none for q002") as caught:
        read(paths, sheets=(tmp_path / "plan.yaml",))
    assert "- name: q002" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("runs: []\n", "runs: with a list of runs"),
        ("runs: [{params: 1M}]\n", "name: with the name of a run"),
        ("runs: [{name: a, params: big}]\n", "params to be a number"),
        ("runs: [{name: a, mixture: {web: 0.5}}]\n", "shares that sum to 1"),
        ("runs: [{name: a, mixture: 3}]\n", "mixture: to hold names and shares"),
    ],
)
def test_broken_sheets(content: str, sentence: str, tmp_path: Path) -> None:
    (log,) = write(tmp_path, a__log=LOG.format(a=10, b=20))
    (tmp_path / "sheet.yaml").write_text(content)
    with pytest.raises(MixlawError, match=sentence):
        read([log], sheets=(tmp_path / "sheet.yaml",))


def test_pair_without_a_common_key_is_never_joined_by_order(tmp_path: Path) -> None:
    paths = write(tmp_path, m__csv="mix/web,mix/code\n0.5,0.5\n1,0\n", l__csv="web_loss\n3\n2\n")
    with pytest.raises(MixlawError, match="never paired by their order"):
        read(paths)
    with pytest.raises(MixlawError, match=r"a column 'id' in every file \(--join\)"):
        read(paths, join="id")


def test_join_that_loses_rows_says_how_many(tmp_path: Path) -> None:
    paths = write(
        tmp_path, m__csv="id,mix/web,mix/code\n1,0.5,0.5\n2,1,0\n03,1,0\n", l__csv="id,web_loss\n2.0,3\n1,2\n9,4\n"
    )
    table, report = read(paths, join="id")
    assert table.runs == ("1", "2")
    assert report.kept == 2 and report.merged == 2 and sum(report.skipped.values()) == 2
    assert "no loss and no score in the row" in report.skipped
    assert any("no shares for the run in any file (runs 9)" in r for r in report.skipped)


def test_folder_of_logs_and_evaluations(tmp_path: Path) -> None:
    run = tmp_path / "runs" / "p001"
    run.mkdir(parents=True)
    (run / "train.log").write_text(LOG.format(a=10, b=20))
    (run / "notes.md").write_text("# my notes\nall is well, mostly\n")
    (run / "setup.py").write_text("import os, sys\nprint(1, 2)\n")
    (tmp_path / "runs" / "config.json").write_text('{"model_type": "llama", "architectures": []}')
    evals = tmp_path / "runs" / "evals" / "ckpts__p001__step20"
    evals.mkdir(parents=True)
    results = {"results": {"arc": {"acc,none": 0.25}}, "config": {"model_args": "pretrained=/c/p001/step20"}}
    (evals / "results_2026.json").write_text(json.dumps(results))
    table, report = read([tmp_path / "runs"], settings=("tokens_per_step=1000", "params=1M", "mix/web=1"))
    assert table.runs == ("p001",)
    assert table.column("bench/arc").tolist()[1] == 0.25 and math.isnan(table.column("bench/arc")[0])
    assert table.loss("validation").tolist() == [8.125, 7.125]
    assert len(report.not_read) == 3
    assert {f.kind for f in report.files.values()} == {"megatron", "lm_eval"}


def test_train_loss_alone_is_kept_as_meta_and_said(tmp_path: Path) -> None:
    (csv,) = write(tmp_path, a__csv="run,step,train/loss\na,1,3\n")
    table, report = read([csv])
    assert table.targets == ()
    assert table.frame["meta/train_loss"].tolist() == [3.0]
    assert any("not comparable between mixtures" in n for n in report.notes)


def test_two_runs_in_one_megatron_log_are_refused(tmp_path: Path) -> None:
    (log,) = write(tmp_path, a__log=LOG.format(a=10, b=20) + LOG.format(a=10, b=20).replace("/     100", "/     500"))
    with pytest.raises(MixlawError, match="a run of 100 iterations and then one of 500 from the start"):
        read([log])


def test_one_row_per_validation_set(tmp_path: Path) -> None:
    (csv,) = write(tmp_path, a__csv="run,step,domain,loss\na,1,web,3.5\na,1,code,2.5\na,2,web,3.25\na,2,code,2.25\n")
    table, report = read([csv])
    assert table.loss("web").tolist() == [3.5, 3.25] and table.loss("code").tolist() == [2.5, 2.25]
    assert (report.read, report.kept, report.merged) == (4, 2, 2)


def test_same_file_twice_changes_nothing(tmp_path: Path) -> None:
    (csv,) = write(tmp_path, a__csv="run,step,web_loss\na,1,3\na,2,2.5\n")
    (tmp_path / "again.csv").write_text(csv.read_text())
    once, _ = read([csv])
    twice, report = read([csv, tmp_path / "again.csv"])
    assert twice.fingerprint == once.fingerprint
    assert (report.merged, dict(report.repairs.counts)) == (2, {})


def test_runs_of_one_name_in_two_folders(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder / "x").mkdir(parents=True)
        shift = "8" if folder == "a" else "6"
        (tmp_path / folder / "x" / "train.log").write_text(LOG.format(a=10, b=20).replace("8.", f"{shift}."))
    table, report = read([tmp_path], settings=("params=1M", "tokens_per_step=10", "mix/web=1"))
    assert set(table.runs) == {"a/x", "b/x"}
    assert any("several folders" in n for n in report.notes)


def test_resumed_logs_and_ranks_of_one_folder_are_one_run(tmp_path: Path) -> None:
    (tmp_path / "p1").mkdir()
    first = LOG.format(a=10, b=20).replace("consumed samples: 10 | ", "").replace("consumed samples: 20 | ", "")
    second = (
        first.replace("20/", "30/").replace("iteration 20", "iteration 30").replace("10/", "20/").replace("8.", "6.")
    )
    (tmp_path / "p1" / "log_0.txt").write_text(first)
    (tmp_path / "p1" / "log_1.txt").write_text(second.replace("iteration 10", "iteration 20"))
    (tmp_path / "p1" / "rank_7.log").write_text(second.replace("iteration 10", "iteration 20"))
    table, report = read([tmp_path], settings=("params=1M", "tokens_per_step=10", "mix/web=1"))
    assert table.runs == ("p1",)
    assert table.column("step").tolist() == [10, 20, 30]
    assert table.loss("validation").tolist() == [8.125, 6.125, 7.125]
    assert report.repairs.counts["repeated (run, step): the last written is kept"] == 2


def test_mixture_that_changes_within_a_run_is_noted(tmp_path: Path) -> None:
    (csv,) = write(tmp_path, a__csv="run,step,mix/web,mix/code,web_loss\na,1,0.5,0.5,3\na,2,0.6,0.4,2.9\n")
    _, report = read([csv])
    assert any("the mixture changes within a run: a" in n for n in report.notes)


def test_losses_below_one_are_doubted_where_nothing_states_the_unit(tmp_path: Path) -> None:
    (csv,) = write(tmp_path, a__csv="run,step,web_loss,code_loss\na,1,0.9,1.5\na,2,0.8,0.9\n")
    doubts = [n for n in read([csv])[1].notes if "may be bits per byte" in n]
    assert len(doubts) == 1 and "below 1 of web may" in doubts[0]
    assert not any("may be bits" in n for n in read([csv], units=("nats",))[1].notes)


def test_total_tokens_are_not_those_of_a_step(tmp_path: Path) -> None:
    (log,) = write(tmp_path, p1__log=LOG.format(a=10, b=20))
    table, report = read([log], settings=("tokens=1B",))
    assert "tokens" not in table.frame
    assert any("need tokens_per_step" in n for n in report.notes)
