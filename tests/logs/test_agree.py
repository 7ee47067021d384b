"""Run sheets against logs and against each other: contradictions are named, never settled in silence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mixlaw.cli import main
from mixlaw.errors import InputError
from mixlaw.logs import IngestOptions, Report, ingest, read_runs
from mixlaw.runs import RunTable

CSV = """\
run,step,params,tokens,mix/web,mix/code,loss/web
p1,10,1e6,1000,0.6,0.4,3.5
p1,20,1e6,2000,0.6,0.4,3.25
p2,20,2e6,2000,0.1,0.9,3.75
"""


def read(tmp_path: Path, *sheets: str, text: str = CSV) -> tuple[RunTable, Report]:
    (tmp_path / "log.csv").write_text(text)
    paths = []
    for number, sheet in enumerate(sheets):
        suffix = "csv" if sheet.startswith("name,") else "yaml"
        paths.append(tmp_path / f"sheet{number}.{suffix}")
        paths[-1].write_text(sheet)
    return ingest([tmp_path / "log.csv"], options=IngestOptions(sheets=tuple(paths)))


@pytest.mark.parametrize(
    ("sheet", "words"),
    [
        ("p1: {params: 2M}", ["params", "'p1'", "1,000,000 in", "log.csv, line 2", "2,000,000 in", "0.yaml, run 1"]),
        ("'*': {params: 2M}", ["params", "'p1'", "1,000,000 in", "2,000,000 in"]),
        ("p1: {tokens: 1000}", ["tokens", "'p1'", "2,000 in", "log.csv, line 3", "1,000 in"]),
        ("p2: {mixture: {web: 0.3, code: 0.7}}", ["mixture", "'p2'", "web 0.1 in", "log.csv, line 4", "0.3 in"]),
        ("p2: {mixture: {web: 0.1, math: 0.9}}", ["mixture", "'p2'", "code 0.9 in", "0 in"]),
        ("name,mix/web,mix/code\np2,0.5,0.5\n", ["mixture", "'p2'", "web 0.1 in", "0.5 in", "sheet0.csv, line 2"]),
    ],
)
def test_facts_that_contradict_the_log(sheet: str, words: list[str], tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, sheet)
    for word in words:
        assert word in str(caught.value)
    assert "need not be in the sheet" in str(caught.value)


def test_mixture_that_changes_in_the_log_contradicts_one_in_the_sheet(tmp_path: Path) -> None:
    text = CSV.replace("20,1e6,2000,0.6,0.4", "20,1e6,2000,0.7,0.3")
    with pytest.raises(InputError, match=r"web 0.7 in .*log.csv, line 3 and 0.6 in"):
        read(tmp_path, "p1: {mixture: {web: 0.6, code: 0.4}}", text=text)


def test_percent_in_the_log_is_no_contradiction(tmp_path: Path) -> None:
    text = CSV.replace("0.6,0.4", "60,40").replace("0.1,0.9", "10,90")
    table, report = read(tmp_path, "p1: {mixture: {web: 0.6, code: 0.4}}", text=text)
    assert table.mixtures[0].tolist() == [0.6, 0.4]
    assert not any("p1" in note for note in report.notes)


def test_what_agrees_says_nothing_and_rounded_numbers_are_named(tmp_path: Path) -> None:
    table, report = read(tmp_path, "p1: {params: 1M, tokens: 2000, mixture: {web: 0.6, code: 0.4}}")
    assert not any("p1" in note for note in report.notes)
    table, report = read(tmp_path, "p1: {params: 1.03M, tokens: 2050, mixture: {web: 0.61, code: 0.39}}")
    assert table.column("params").tolist() == [1e6, 1e6, 2e6]
    assert table.mixtures[0].tolist() == [0.6, 0.4]
    told = "\n".join(report.notes)
    assert "run p1: params 1,000,000 in" in told and "kept; 1,030,000 in" in told
    assert "run p1: share of web 0.6 in" in told and "kept; 0.61 in" in told
    assert "run p1: tokens 2,000 in" in told and "kept; 2,050 in" in told


def test_run_that_ends_before_its_planned_tokens_is_named(tmp_path: Path) -> None:
    _, report = read(tmp_path, "p1: {tokens: 10k}")
    assert any("run p1: logged up to 2k tokens of the 10k in" in note for note in report.notes)


def test_facts_fill_where_the_log_is_silent(tmp_path: Path) -> None:
    text = CSV.replace("p2,20,2e6,", "p2,20,,")
    table, _ = read(tmp_path, "p1: {params: 1M}\np2: {params: 3M}", text=text)
    assert table.column("params").tolist() == [1e6, 1e6, 3e6]


def test_sheets_are_merged(tmp_path: Path) -> None:
    text = "run,step,loss/web\np1,10,3.5\np2,10,3.25\n"
    sheets = ["p1: {params: 1M}\np2: {params: 2M}", "name,params,mix/web,mix/code\np1,1e6,0.6,0.4\np2,,0.1,0.9\n"]
    table, _ = read(tmp_path, *sheets, text=text)
    assert table.column("params").tolist() == [1e6, 2e6]
    assert table.mixtures.tolist() == [[0.6, 0.4], [0.1, 0.9]]


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ("p1: {params: 1M}", "p1: {params: 2M}", "1,000,000 in .*sheet0.yaml.* and 2,000,000 in .*sheet1.yaml"),
        ("p1: {mixture: {a: 1}}", "p1: {mixture: {b: 1}}", "one mixture for run 'p1'. Got a 1 in .* and 0 in"),
        ("runs: [{name: p1, tokens: 5}, {name: p1, tokens: 6}]", "p2: {}", "5 in .*run 1 .* and 6 in .*run 2"),
    ],
)
def test_sheets_that_contradict_each_other(first: str, second: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        read(tmp_path, first, second)


def test_what_a_sheet_holds_in_vain_is_named(tmp_path: Path) -> None:
    yaml, csv = "p1: {parms: 1M, lr: 3e-4, seed: 1, cost: 3}", "name,parms,seed,loss/web\np2,2M,1,3.0\n"
    _, report = read(tmp_path, yaml, csv)
    told = [note for note in report.notes if "not understood" in note]
    assert len(told) == 2
    assert told[0].endswith("sheet0.yaml: not understood and not used: parms, lr")
    assert told[1].endswith("sheet1.csv: not understood and not used: parms, loss/web")


def test_several_sheets_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, one, two = tmp_path / "p1.csv", tmp_path / "one.yaml", tmp_path / "two.yaml"
    log.write_text("step,loss/web\n10,3.5\n")
    one.write_text("p1: {params: 1M}\n")
    two.write_text("p1: {mixture: {web: 1}}\n")
    words = ["ingest", str(log), "--mixtures", str(one), "--mixtures", str(two), "-o", str(tmp_path / "runs.csv")]
    assert main(words) == 0
    table = read_runs(tmp_path / "runs.csv")
    assert (table.column("params").tolist(), table.mixtures.tolist()) == ([1e6], [[1.0]])
    two.write_text("p1: {params: 3M}\n")
    assert main(words) == 3
    assert "one number of params for run 'p1'" in capsys.readouterr().err


def test_evaluations_cut_short_name_their_runs(tmp_path: Path) -> None:
    for run, limit in (("p1", 100), ("p2", 100), ("p3", None)):
        folder = tmp_path / "evals" / run
        folder.mkdir(parents=True)
        config = {"model_args": f"pretrained=/c/{run}/step20", "limit": limit}
        (folder / "results_1.json").write_text(json.dumps({"results": {"arc": {"acc,none": 0.25}}, "config": config}))
    _, report = ingest([tmp_path / "evals"])
    assert [n for n in report.notes if "examples a task" in n] == ["evaluated on 100 examples a task only: p1, p2"]
