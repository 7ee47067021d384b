"""Every reader on files after the real layout: the exact table, and what became of every row."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import yaml

from mixlaw.errors import MixlawError
from mixlaw.logs import READERS, Report
from mixlaw.runs import RunTable

FIXTURES = Path(__file__).parent / "fixtures"
OPTIONAL = {"parquet": "pyarrow", "tensorboard": "tensorboard"}
CASES = sorted(p for p in FIXTURES.glob("*/*") if p.is_dir())

Read = Callable[[Path], tuple[RunTable, Report]]


@pytest.mark.parametrize("folder", CASES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_case_gives_the_expected_table(folder: Path, read_case: Read) -> None:
    if folder.parent.name in OPTIONAL:
        pytest.importorskip(OPTIONAL[folder.parent.name], reason=f"the extra '{folder.parent.name}' is not installed")
    expected = yaml.safe_load((folder / "expected.yaml").read_text(encoding="utf-8"))
    if "error" in expected:
        with pytest.raises(MixlawError) as caught:
            read_case(folder)
        assert str(caught.value).replace(f"{folder}/", "") == expected["error"]
        return
    table, report = read_case(folder)
    told = report.to_mapping()
    assert sorted({f["kind"] for f in told["files"]}) == expected["kinds"]
    assert told["rows"] == expected["rows"]
    assert told["rows"]["read"] == told["rows"]["kept"] + told["rows"]["merged"] + told["rows"]["skipped"]
    assert {reason: s["rows"] for reason, s in told["skipped"].items()} == expected["skipped"]
    assert told["repairs"] == expected["repairs"]
    assert {t: u for t, u in told["units"].items() if u != "nats/token"} == expected["units"]
    assert [n.replace(f"{folder}/", "") for n in told["notes"]] == expected["notes"]
    assert [n.replace(f"{folder}/", "") for n in told["not_read"]] == expected["not_read"]
    written = pd.read_csv(folder / "expected.csv", dtype={"run": str})
    shown = table.to_frame()
    assert list(shown.columns) == list(written.columns)
    for name in written.columns:
        if shown[name].dtype == float:
            assert shown[name].tolist() == pytest.approx(written[name].tolist(), rel=1e-12, nan_ok=True), name
        else:
            assert shown[name].astype(str).tolist() == written[name].astype(str).tolist(), name


def test_every_reader_has_a_clean_and_a_trapped_case() -> None:
    if not CASES:
        pytest.fail("the fixture folders are missing")
    have = {name: [p.name for p in CASES if p.parent.name == name] for name in READERS}
    assert {name for name, cases in have.items() if len(cases) < 2} == set()
