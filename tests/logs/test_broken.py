"""Broken input: a sentence and exit code 3, or a right table and a count; never a traceback."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from mixlaw.cli import main
from mixlaw.errors import MixlawError
from mixlaw.logs import IngestOptions, Report, ingest
from mixlaw.runs import RunTable

HEAD = "run,step,params,weight_web,weight_code,web_loss\n"
ROW = "a,10,1e6,0.6,0.4,3.5\n"

BROKEN = {
    "empty file": (b"", "empty file"),
    "blank lines only": (b"\n\n  \n", "empty file"),
    "header only": (HEAD.encode(), "at least one row below the header"),
    "no header": (b"1,2,3.5\n2,3,3.4\n3,4,3.3\n", "column names in the first row"),
    "loss of 0": ((HEAD + "a,10,1e6,0.6,0.4,0\n").encode(), "a loss above 0 in column 'loss/web'"),
    "negative loss": ((HEAD + "a,10,1e6,0.6,0.4,-2\n").encode(), "a loss above 0"),
    "negative weight": ((HEAD + "a,10,1e6,1.4,-0.4,3\n").encode(), "a finite share >= 0 in column 'mix/code'"),
    "missing weight": ((HEAD + "a,10,1e6,0.7,,3\n").encode(), "a finite share >= 0 in column 'mix/code'. Got nothing"),
    "weights off 1": ((HEAD + ROW + "b,10,1e6,0.6,0.5,3\n").encode(), "line 3: Expected shares that sum to 1"),
    "infinite params": ((HEAD + "a,10,inf,0.6,0.4,3\n").encode(), "a finite number above 0 in column 'params'"),
    "params of 0": ((HEAD + "a,10,0,0.6,0.4,3\n").encode(), "a finite number above 0 in column 'params'"),
    "word for a number": ((HEAD + ROW + "b,10,1e6,0.6,0.4,high\n").encode(), "line 3: Expected a number"),
    "duplicate columns": (b"run,web_loss,web_loss\na,1,2\n", "each column name once. Got 'web_loss' twice"),
    "row too long": ((HEAD + ROW + "b,10,1e6,0.6,0.4,3.1,9\n").encode(), "line 3: Expected 6 cells"),
    "decimal comma between commas": ((HEAD + "a,10,1e6,0,6,0,4,3,5\n").encode(), "a decimal comma needs ';'"),
    "open quote": ((HEAD + 'a,10,1e6,0.6,0.4,"3.5\n' + ROW * 3).encode(), "Expected"),
    "not UTF-8": ((HEAD + "b\xe9,10,1e6,0.6,0.4,3.5\n").encode("latin-1"), "byte 0xe9"),
    "binary": (bytes(range(256)) * 8, "Expected"),
    "no loss at all": (b"run,step,speed\na,1,2\n", "at least one column of losses or scores"),
    "rows without order": (b"run,web_loss\na,3\na,2.9\n", "a step or tokens column"),
    "broken middle line": (b'{"run": "a", "loss": 1}\n{"run": \n{"run": "b", "loss": 2}\n', "line 2"),
    "list in JSON lines": (b'{"run": "a", "loss": 1}\n[1, 2]\n{"run": "b", "loss": 2}\n', "one JSON object a line"),
    "broken JSON": (b'{"run": "a", "loss": }', "line 1, column 22: Expected valid JSON"),
    "JSON of words": (b'["a", "b"]', "JSON objects, one for each row"),
    "cut gzip": (gzip.compress((HEAD + ROW * 500).encode())[:-30], "a whole gzip file"),
    "zip": (b"PK\x03\x04" + b"\0" * 60, "save the sheet as CSV"),
    "wandb file": (b":W&B\x01\x02", "scan_history"),
    "zstd": (b"\x28\xb5\x2f\xfd" + b"\0" * 20, "zstd -d"),
    "prose": (b"Dear all\nthe runs are done\n", "a table or a log"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_file_gives_one_sentence_and_code_3(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content, sentence = BROKEN[name]
    path = tmp_path / "runs.csv"
    path.write_bytes(content)
    assert main(["ingest", str(path), "-o", str(tmp_path / "out.csv")]) == 3
    printed = capsys.readouterr()
    assert printed.out == ""
    assert sentence in printed.err
    assert printed.err.startswith("mixlaw: ") and "Traceback" not in printed.err
    assert not (tmp_path / "out.csv").exists()


def test_missing_file_and_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(MixlawError, match=r"none.csv: Expected a readable file. Got none of this name"):
        ingest([tmp_path / "none.csv"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(MixlawError, match="Expected a table or a log in the folder"):
        ingest([tmp_path / "empty"])


def read(tmp_path: Path, content: bytes | str, *, strict: bool = False) -> tuple[RunTable, Report]:
    path = tmp_path / "runs.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    table, report = ingest([path], options=IngestOptions(strict=strict))
    assert report.read == report.kept + report.merged + sum(report.skipped.values())
    return table, report


ROWS = HEAD + "a,10,1e6,0.6,0.4,3.5\na,20,1e6,0.6,0.4,3.25\nb,10,1e6,0.1,0.9,3.75\n"


@pytest.mark.parametrize(
    "content",
    [
        ROWS.encode(),
        b"\xef\xbb\xbf" + ROWS.encode(),
        ROWS.replace("\n", "\r\n").encode(),
        ROWS.encode("utf-16"),
        b"\xfe\xff" + ROWS.encode("utf-16-be"),
        ROWS.encode("utf-16-le"),
        gzip.compress(ROWS.encode()),
        ROWS.replace(",", ";").replace(".", ",").encode(),
        ROWS.replace(",", "\t").encode(),
        ROWS.replace("1e6", '"1,000,000"').encode(),
        ROWS.replace("1e6", "1M").encode(),
        ROWS.replace("0.6", "60").replace("0.4", "40").replace("0.1", "10").replace("0.9", "90").encode(),
        ROWS.replace("0.6", "60%").replace("0.4", "40%").replace("0.1", "10%").replace("0.9", "90%").encode(),
        "\n".join(",".join(f'"{c}"' for c in line.split(",")) for line in ROWS.splitlines()).encode(),
        (ROWS + "\n\n\n").encode(),
        ("\n\n" + ROWS).encode(),
        ROWS.rstrip("\n").encode(),
        "".join(line + ",\n" for line in ROWS.splitlines()).encode(),
        ROWS.replace(",", " , ").encode(),
    ],
    ids=(
        "plain bom crlf utf16 utf16be utf16le gzip semicolon tab thousands human percent percentsign quoted blank "
        "blankfirst nolastline trailing spaces"
    ).split(),
)
def test_same_table_however_it_is_written(content: bytes, tmp_path: Path) -> None:
    table, report = read(tmp_path, content)
    assert table.runs == ("a", "b")
    assert table.column("step").tolist() == [10, 20, 10]
    assert table.column("params").tolist() == [1e6] * 3
    np.testing.assert_allclose(table.mixtures, [[0.6, 0.4], [0.6, 0.4], [0.1, 0.9]], rtol=1e-15)
    assert table.loss("web").tolist() == [3.5, 3.25, 3.75]
    assert (report.read, report.kept) == (3, 3)


def test_percent_is_a_counted_repair_and_an_error_when_strict(tmp_path: Path) -> None:
    percent = HEAD + "a,10,1e6,60,40,3.5\n"
    assert read(tmp_path, percent)[1].repairs.counts == {"mixtures in percent divided by 100": 1}
    with pytest.raises(MixlawError, match=r"no repairs \(--strict\)"):
        read(tmp_path, percent, strict=True)


def test_shares_that_do_not_sum_to_1_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(MixlawError, match=r"over mix/web, mix/code\. Got a sum of 1\.1\. .*--skip RUN"):
        read(tmp_path, HEAD + ROW + "b,10,1e6,0.6,0.5,3\n")


def test_columns_that_may_hold_what_is_lacking_are_pointed_to(tmp_path: Path) -> None:
    lines = read(tmp_path, "run,tokens (B),Web %,web_loss\na,2,0.7,3.1\nb,2,0.3,3.2\n")[1].lines()
    assert any("not used: tokens (B), Web %" in line for line in lines)
    assert any("name it with --map" in line for line in lines)
    assert not any("--map" in line for line in read(tmp_path, "run,web_loss\na,3.1\nb,3.2\n")[1].lines())


def test_a_score_with_a_percent_sign_leaves_the_others_alone(tmp_path: Path) -> None:
    head = HEAD.replace("\n", ",MMLU acc\n")
    content = head + "a,10,1e6,0.6,0.4,3.5,0.25\nb,10,1e6,0.6,0.4,3.4,26.5%\nc,10,1e6,0.6,0.4,3.3,\n"
    table, report = read(tmp_path, content)
    np.testing.assert_allclose(table.frame["bench/MMLU"], [0.25, 0.265, np.nan], rtol=1e-15)
    assert not any("percent" in note for note in report.notes)


def test_scores_that_may_be_both_fractions_and_percent_are_said(tmp_path: Path) -> None:
    head = HEAD.replace("\n", ",MMLU acc\n")
    notes = read(tmp_path, head + "a,10,1e6,0.6,0.4,3.5,0.25\nb,10,1e6,0.6,0.4,3.4,26.5\n")[1].notes
    assert any("run from 0.25 to 26.5: all are read as percent" in note for note in notes)
    notes = read(tmp_path, head + "a,10,1e6,0.6,0.4,3.5,25\nb,10,1e6,0.6,0.4,3.4,26.5\n")[1].notes
    assert "scores in percent divided by 100: MMLU" in notes
    assert not any("run from" in note for note in notes)


def test_rounded_weights_are_rescaled_and_counted(tmp_path: Path) -> None:
    table, report = read(tmp_path, HEAD + "a,10,1e6,0.6,0.404,3.5\na,20,1e6,0.6,0.4,3.4\n")
    assert report.repairs.counts == {"mixtures rescaled to sum to 1": 1}
    np.testing.assert_allclose(table.mixtures[0], [0.6 / 1.004, 0.404 / 1.004], rtol=1e-15)


def test_nan_and_infinite_losses(tmp_path: Path) -> None:
    cells = ["NaN", "nan", "N/A", "", "null", "Infinity", "-inf", "3.5"]
    rows = "".join(f"r{i},10,1e6,0.6,0.4,{c}\n" for i, c in enumerate(cells))
    rows = HEAD.replace("\n", ",code_loss\n") + rows.replace("\n", ",3.0\n")
    path = tmp_path / "runs.csv"
    with pytest.raises(MixlawError, match="a loss above 0"):
        read(tmp_path, rows)
    table, report = read(tmp_path, rows.replace("-inf", "inf"))
    assert report.missing == {"web": 7}
    assert report.repairs.counts == {"infinite loss/web (diverged) set to missing": 2}
    assert table.loss("code").tolist() == [3.0] * 8
    assert path.exists()


def test_cut_last_line_is_left_out_and_counted(tmp_path: Path) -> None:
    table, report = read(tmp_path, ROWS + "b,20,1e6,0.1")
    assert len(table) == 3
    assert report.skipped == {"last line cut short": 1}
    assert report.read == 4
    table, report = read(tmp_path, '{"run": "a", "loss": 3.5}\n{"run": "b", "loss": 3.4}\n{"run": "c", "lo')
    assert table.runs == ("a", "b")
    assert report.skipped == {"last line cut short": 1}
    with pytest.raises(MixlawError, match="no repairs"):
        read(tmp_path, ROWS + "b,20,1e6,0.1", strict=True)


def test_repeated_checkpoints_keep_the_last_written(tmp_path: Path) -> None:
    table, report = read(tmp_path, ROWS + "a,10,1e6,0.6,0.4,3.0\n")
    assert table.loss("web").tolist() == [3.0, 3.25, 3.75]
    assert report.repairs.counts == {"repeated (run, step): the last written is kept": 1}
    assert (report.read, report.kept, report.merged) == (4, 3, 1)


def test_one_run_is_a_table(tmp_path: Path) -> None:
    table, _ = read(tmp_path, HEAD + ROW)
    assert table.runs == ("a",)


def test_rows_without_run_or_loss_are_skipped_with_their_place(tmp_path: Path) -> None:
    table, report = read(tmp_path, ROWS + ",20,1e6,0.6,0.4,3\nc,10,1e6,0.6,0.4,\n")
    assert len(table) == 3
    assert report.skipped == {"no run name": 1, "no loss and no score in the row": 1}
    assert report.places["no run name"].endswith("runs.csv, line 5")
    assert report.places["no loss and no score in the row"].endswith("runs.csv, line 6")


def test_multi_row_header(tmp_path: Path) -> None:
    content = ",,loss,loss,mix,mix\nrun,step,web,code,web,code\na,10,3.5,2.5,0.6,0.4\nb,10,3.4,2.4,0.5,0.5\n"
    table, _ = read(tmp_path, content)
    assert table.targets == ("web", "code") and table.domains == ("web", "code")
    assert table.loss("code").tolist() == [2.5, 2.4]
