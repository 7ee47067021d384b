"""Fixture folders: ``fixtures/<reader>/<case>/`` holds files as a trainer leaves them, and what must come of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from mixlaw.logs import IngestOptions, Report, ingest
from mixlaw.runs import RunTable

FIXTURES = Path(__file__).parent / "fixtures"
NOT_INPUT = ("options.yaml", "expected.csv", "expected.yaml")


def case_options(folder: Path, scratch: Path) -> IngestOptions:
    """Options of a case: the words of a command line, and the text of a run sheet."""
    path = folder / "options.yaml"
    words = yaml.safe_load(path.read_text()) if path.exists() else {}
    sheet = words.pop("sheet", None)
    if sheet is not None:
        (scratch / "sheet.yaml").write_text(sheet)
        words["sheets"] = (scratch / "sheet.yaml",)
    rules = words.pop("map", None)
    if rules is not None:
        (scratch / "map.yaml").write_text(yaml.safe_dump(rules))
        words["column_map"] = scratch / "map.yaml"
    words = {k: tuple(v) if isinstance(v, list) else v for k, v in words.items()}
    return IngestOptions.build(**words)


def case_inputs(folder: Path) -> list[Path]:
    """Files and folders of a case."""
    return sorted(p for p in folder.iterdir() if p.name not in NOT_INPUT)


@pytest.fixture
def read_case(tmp_path: Path) -> Callable[[Path], tuple[RunTable, Report]]:
    """Reads the case in a folder."""

    def read(folder: Path) -> tuple[RunTable, Report]:
        return ingest(case_inputs(folder), options=case_options(folder, tmp_path))

    return read
