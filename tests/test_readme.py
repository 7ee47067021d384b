"""The README is true: its commands run, and print what it shows (numbers may differ in their digits)."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mixlaw.cli.app import app
from mixlaw.laws import LAWS
from mixlaw.logs import read_runs

BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)


def examples(text: str) -> list[tuple[str, list[str]]]:
    """Each command of the console blocks with the lines that the README shows under it."""
    found: list[tuple[str, list[str]]] = []
    for block in BLOCK.findall(text):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            elif line.strip() and line.strip() != "...":
                found[-1][1].append(line)
    return found


def masked(line: str) -> str:
    """A line without its numbers and spacing; a verdict on the edge may fall to the other side elsewhere."""
    plain = re.sub(r"─+", "─", line)  # as long as the widest number, a time among them
    return " ".join(re.sub(r"[-+]?\d+(\.\d+)?(e[-+]\d+)?|\b(tie|beaten)\b", "#", plain).replace("> #", "#").split())


def test_commands_print_what_the_readme_shows(checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "sample_runs").symlink_to(checkout / "sample_runs")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "COLUMNS": "100"}
    shown = examples((checkout / "README.md").read_text())
    assert len(shown) >= 6
    for command, lines in shown:
        run = subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, f"{command}\n{run.stderr}"
        printed = {masked(line) for line in (run.stdout + run.stderr).splitlines()}
        missing = [line for line in lines if masked(line) not in printed]
        assert not missing, f"{command} does not print:\n" + "\n".join(missing)


def test_the_check_of_the_recommendation_is_what_the_logs_say(checkout: Path) -> None:
    spec = importlib.util.spec_from_file_location("bench_check", checkout / "tests/bench/bench_check.py")
    assert spec is not None and spec.loader is not None
    check = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(check)
    tables = [read_runs(checkout / "sample_runs" / name).last() for name in ("pretrain", "check")]
    text = (checkout / "README.md").read_text()
    weights = {"product": {"python": 3, "english": 2, "german": 1}, "mean": dict.fromkeys(tables[0].targets, 1)}
    for name, mixtures in (("product", ("mix-04", "natural", "uniform")), ("mean", ("natural", "uniform"))):
        measured = check.objectives(tables, weights[name])
        own = f"recommended-{name}"
        assert min(measured, key=lambda mixture: sum(measured[mixture]) / len(measured[mixture])) == own
        for mixture in (own, *mixtures):
            mean = f"{sum(measured[mixture]) / len(measured[mixture]):.4f}"
            assert re.search(rf"\*?{mean}\*? \({len(measured[mixture])}\)|\*\*{mean}\*\* ", text), (mixture, mean)


def test_every_law_and_command_is_in_the_readme(checkout: Path) -> None:
    text = (checkout / "README.md").read_text()
    assert [name for name in LAWS if f"`{name}`" not in text] == []
    commands = [c.name or c.callback.__name__.replace("_", "-") for c in app.registered_commands if c.callback]
    assert [name for name in commands if f"mixlaw {name}" not in text] == []


def test_the_changelog_speaks_to_users(checkout: Path) -> None:
    text = (checkout / "CHANGELOG.md").read_text()
    assert text.startswith("# Changelog")
    assert "## Unreleased" in text or "## 0." in text


@pytest.mark.parametrize("name", ["README.md", "CHANGELOG.md", "sample_runs/README.md"])
def test_links_within_the_project_lead_somewhere(checkout: Path, name: str) -> None:
    page = checkout / name
    for target in re.findall(r"\]\(((?!http|#)[^)]+)\)", page.read_text()):
        assert (page.parent / target.partition("#")[0]).exists(), target
