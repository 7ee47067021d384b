"""The rules of the house that a reader cannot see at a glance: who imports whom, and what importing costs."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ORDER = [
    "errors", "files", "units", "mixture", "domains", "runs", "logs", "laws", "flags", "dataset", "support", "solver",
    "problems", "diagnose", "fit", "fits", "fitfile", "check", "fitting", "predicting", "benchmark", "cmr", "optimize",
    "allocate", "export", "render", "cli",
]  # fmt: skip


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("mixlaw."):
            found.add(node.module.split(".")[1])
        elif isinstance(node, ast.ImportFrom) and node.module == "mixlaw":
            found |= {alias.name for alias in node.names if alias.name in ORDER}
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("mixlaw.")}
    return found


def modules(checkout: Path) -> list[Path]:
    return sorted((checkout / "mixlaw").rglob("*.py"))


def test_imports_point_down_the_list(checkout: Path) -> None:
    wrong = []
    for path in modules(checkout):
        parts = path.relative_to(checkout / "mixlaw").parts
        name = parts[0].removesuffix(".py")
        if name in ("__init__", "__main__"):
            continue
        assert name in ORDER, f"{name} has no place in the house: add it to ORDER and to the README"
        wrong += [
            f"{'/'.join(parts)} imports {other}" for other in imports(path) if ORDER.index(other) > ORDER.index(name)
        ]
    assert not wrong


def test_laws_do_no_work_beside_their_own(checkout: Path) -> None:
    shared = {"base", "terms", "__init__"}
    for path in sorted((checkout / "mixlaw/laws").glob("*.py")):
        tree = ast.parse(path.read_text())
        names = {n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
        names |= {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
        assert not {n for n in names if n.split(".")[0] in ("pandas", "scipy", "rich", "typer")}, path.name
        if path.stem not in shared:
            others = {n.split(".")[2] for n in names if n.startswith("mixlaw.laws.")}
            assert others <= shared, path.name


def test_only_the_boundary_catches_broadly(checkout: Path) -> None:
    broad = []
    for path in modules(checkout):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ExceptHandler):
                names = {n.id for n in ast.walk(node.type) if isinstance(n, ast.Name)} if node.type else {"everything"}
                if names & {"Exception", "ValueError", "BaseException", "everything"}:
                    broad.append(f"{path.name}:{node.lineno}")
    assert not broad


def test_modules_stay_small(checkout: Path) -> None:
    lengths = {str(p.relative_to(checkout)): len(p.read_text().splitlines()) for p in modules(checkout)}
    assert {name: n for name, n in lengths.items() if n > 400} == {}
    assert sorted(lengths.values())[len(lengths) // 2] <= 150


def loaded_by(*words: str) -> set[str]:
    code = f"import sys, mixlaw.cli; mixlaw.cli.main({list(words)!r}); sys.stderr.write(' '.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stderr.split())


@pytest.mark.parametrize("words", [("--help",), ("--version",), ("fit", "--help")])
def test_help_loads_nothing_heavy(words: tuple[str, ...]) -> None:
    assert not {"scipy", "pandas", "numpy", "matplotlib", "yaml"} & loaded_by(*words)
