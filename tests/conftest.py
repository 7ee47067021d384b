"""Fixtures that the whole suite shares."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest


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
