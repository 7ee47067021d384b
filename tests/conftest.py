"""Fixtures that the whole suite shares."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mixlaw.logs import read_runs
from mixlaw.runs import RunTable


def _shared() -> Path | None:
    here = Path(__file__).resolve().parent.parent
    for root in (here.parent, here):
        folder = root / "shared" / "data"
        if folder.is_dir():
            return folder
    return None


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder of the public run tables; tests that need it are skipped where it is absent."""
    folder = _shared()
    if folder is None:
        pytest.skip("the public run tables (../shared/data) are not beside the checkout")
    return folder


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator with a fixed seed."""
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def checkout() -> Path:
    """Root of the project."""
    return Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def known_law(checkout: Path) -> Path:
    """The sample table drawn from a known law."""
    return checkout / "sample_runs" / "known_law" / "runs.csv"


@pytest.fixture(scope="session")
def apple(shared: Path) -> RunTable:
    """The public SlimPajama runs, read as a user reads them."""
    return read_runs(shared / "apple_dmsl" / "dmsl_llm_slimpajama.csv")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest test goes first, so that no worker waits for it at the end."""
    items.sort(key=lambda item: item.name != "test_commands_print_what_the_readme_shows")
