"""The command-line reference says what ``--help`` says."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reference", Path(__file__).with_name("reference.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_help_prints(reference: ModuleType) -> None:
    written, made = reference.PAGE.read_text().split(), reference.page().split()
    assert written == made, "run python tests/cli/reference.py"


def test_every_command_and_option_says_what_it_does(reference: ModuleType) -> None:
    for name in reference.names():
        lines = reference.help_of(name).splitlines()
        start = lines.index("Options:")
        silent = [
            line
            for line, following in zip(lines[start + 1 :], [*lines[start + 2 :], ""], strict=True)
            if line.startswith("  -") and len(line.split("  ")) < 3 and not following.startswith("      ")
        ]
        assert not silent, f"{name}: {silent}"
