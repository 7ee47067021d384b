"""``mixlaw ingest`` on the command line: streams, exit codes, options."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from mixlaw.cli import main

CSV = """\
run,step,params,weight_web,weight_code,web_loss
a,10,1e6,0.6,0.4,3.5
a,20,1e6,0.6,0.4,3.25
b,10,1e6,0.1,0.9,3.75
"""

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "mine.csv"
    path.write_text(CSV)
    return path


def test_table_to_file_and_report_to_stderr(source: Path, tmp_path: Path, capsys: Captured) -> None:
    assert main(["ingest", str(source), "-o", str(tmp_path / "runs.csv")]) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "weight_web -> mix/web" in printed.err and "web_loss -> loss/web" in printed.err
    assert "rows: 3 read = 3 kept + 0 merged + 0 skipped; 2 runs" in printed.err
    assert (tmp_path / "runs.csv").read_text().splitlines()[0] == "run,step,params,mix/web,mix/code,loss/web"


def test_table_to_stdout_is_nothing_but_the_table(source: Path, capsys: Captured) -> None:
    assert main(["ingest", str(source)]) == 0
    printed = capsys.readouterr()
    assert pd.read_csv(io.StringIO(printed.out))["loss/web"].tolist() == [3.5, 3.25, 3.75]


def test_same_bytes_twice(source: Path, tmp_path: Path) -> None:
    outputs = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for output in outputs:
        assert main(["ingest", str(source), "-o", str(output)]) == 0
    assert outputs[0].read_bytes() == outputs[1].read_bytes()


def test_json_report_to_stdout_and_to_a_file(source: Path, tmp_path: Path, capsys: Captured) -> None:
    words = [
        "ingest",
        str(source),
        "-o",
        str(tmp_path / "runs.csv"),
        "--json",
        "--report",
        str(tmp_path / "report.json"),
    ]
    assert main(words) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["rows"] == {"read": 3, "kept": 3, "merged": 0, "skipped": 0}
    assert told["files"][0]["columns"]["weight_web"] == "mix/web"
    assert told == json.loads((tmp_path / "report.json").read_text())


def test_json_without_output_writes_no_table(source: Path, capsys: Captured) -> None:
    assert main(["ingest", str(source), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"] == 2


def test_parquet_out(source: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    assert main(["ingest", str(source), "-o", str(tmp_path / "runs.parquet")]) == 0
    assert pd.read_parquet(tmp_path / "runs.parquet")["run"].tolist() == ["a", "a", "b"]


def test_stdin_is_read(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "mixlaw", "ingest", "-"]
    done = subprocess.run(words, input=CSV.encode("utf-16"), capture_output=True, check=True)
    assert done.stdout.decode().splitlines()[1].startswith("a,10.0,1000000.0,0.6,0.4,3.5")


def test_dry_run_says_what_would_be_read(source: Path, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "readme.md").write_text("# These are my runs\n")
    assert main(["ingest", str(tmp_path), "--dry-run", "-o", str(tmp_path / "out.csv")]) == 0
    printed = capsys.readouterr()
    assert printed.out == f"csv\t{source}\n"
    assert "not read" in printed.err and "readme.md" in printed.err
    assert not (tmp_path / "out.csv").exists()
    assert main(["ingest", str(source), "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"] == [{"file": str(source), "kind": "csv"}]


def test_map_set_unit_and_join(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "ratios.csv").write_text("id,web,code\n1,0.5,0.5\n2,1,0\n")
    (tmp_path / "metrics.csv").write_text("id,arc,mmlu\n2,1.5,2.5\n1,1.25,2.25\n")
    (tmp_path / "map.yaml").write_text(yaml.safe_dump({"mmlu": "loss/world knowledge"}))
    words = ["ingest", str(tmp_path / "ratios.csv"), str(tmp_path / "metrics.csv"), "--join", "id"]
    words += ["--unit", "bits/byte", "--map", str(tmp_path / "map.yaml"), "--set", "params=30M", "--set", "tokens=3B"]
    assert main([*words, "-o", str(tmp_path / "runs.csv")]) == 0
    frame = pd.read_csv(tmp_path / "runs.csv")
    assert frame["run"].tolist() == [1, 2]
    assert frame["params"].tolist() == [30e6] * 2 and frame["tokens"].tolist() == [3e9] * 2
    assert frame["loss/world knowledge"].tolist() == [2.25, 2.5]
    assert frame["meta/unit/world knowledge"].tolist() == ["bits/byte"] * 2
    assert "unit bits/byte: arc, world knowledge" in capsys.readouterr().err


def test_strict_makes_repairs_errors(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(CSV.replace("0.6", "0.602"))
    assert main(["ingest", str(path), "-o", str(tmp_path / "out.csv")]) == 0
    assert "repaired 2: mixtures rescaled to sum to 1" in capsys.readouterr().err
    assert main(["ingest", str(path), "--strict", "-o", str(tmp_path / "strict.csv")]) == 3
    assert "no repairs (--strict)" in capsys.readouterr().err
    assert not (tmp_path / "strict.csv").exists()


def test_skip_and_reader_by_name(source: Path, capsys: Captured) -> None:
    assert main(["ingest", str(source), "--skip", "b*"]) == 0
    printed = capsys.readouterr()
    assert "b,10" not in printed.out and "skipped 1: run left out by --skip" in printed.err
    assert main(["ingest", str(source), "--as", "csv"]) == 0
    capsys.readouterr()
    assert main(["ingest", str(source), "--as", "xls"]) == 3
    assert "--as with one of csv, json" in capsys.readouterr().err


def test_template_of_the_run_sheet_for_logs(tmp_path: Path, capsys: Captured) -> None:
    log = tmp_path / "p001.log"
    log.write_text("step 10: train loss 3.1, val loss 3.2\niter 10: loss 3.1, time 5ms\n")
    assert main(["ingest", str(log), "-o", str(tmp_path / "out.csv")]) == 0
    err = capsys.readouterr().err
    assert "lacking mixture: all 1 runs" in err
    assert "(web and code stand for your domains)" in err
    sheet = err[err.index("runs:\n") : err.index("wrote ")]
    assert [r["name"] for r in yaml.safe_load(sheet)["runs"]] == ["*", "p001"]


def test_closed_pipe_is_quiet(source: Path) -> None:
    command = f"{sys.executable} -m mixlaw ingest {source} | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("run,")
    assert "Traceback" not in done.stderr


def test_usage_errors(capsys: Captured) -> None:
    assert main(["ingest"]) == 2
    assert main(["ingest", "none.csv", "--set", "speed=3"]) == 3
    assert "--set NAME=VALUE" in capsys.readouterr().err


def test_units_in_brackets_are_read_and_kept(tmp_path: Path, capsys: Captured) -> None:
    path, runs = tmp_path / "mine.csv", tmp_path / "runs.csv"
    names = ["loss/web [bits/byte]", "loss/code (nats/byte)", "loss/math [nats/token]"]
    head = ",".join(["run", "tokens", "params", "mix/web", "mix/code", *names])
    path.write_text(f"{head}\na,1e9,1e6,0.6,0.4,0.95,0.7,2.5\nb,1e9,1e6,0.1,0.9,0.97,0.6,2.6\n")
    assert main(["ingest", str(path), "-o", str(runs)]) == 0
    told = capsys.readouterr().err
    assert "unit bits/byte: web" in told and "unit nats/byte: code" in told and "taken as nats" not in told
    frame = pd.read_csv(runs)
    assert frame["meta/unit/web"].tolist() == ["bits/byte"] * 2
    assert frame["loss/web"].tolist() == [0.95, 0.97]
    assert main(["ingest", str(runs), "--json", "-o", str(tmp_path / "again.csv")]) == 0
    units = json.loads(capsys.readouterr().out)["units"]
    assert units == {"web": "bits/byte", "code": "nats/byte", "math": "nats/token"}


@pytest.mark.parametrize("word", ["nats/token", "web=nats/token"])
def test_unit_that_contradicts_the_brackets(word: str, tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("run,params,mix/web,mix/code,loss/web [bits/byte]\na,1e6,0.6,0.4,0.9\nb,1e6,0.3,0.7,0.8\n")
    assert main(["ingest", str(path), "--unit", word]) == 3
    told = capsys.readouterr().err
    assert "bits/byte in the name of its column 'loss/web [bits/byte]', nats/token by --unit" in told
    assert main(["ingest", str(path), "--unit", word.replace("nats/token", "bits/byte")]) == 0
