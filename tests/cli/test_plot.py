"""``--plot`` on every command that has it: a picture beside an unchanged stdout, and slips before any work."""

from __future__ import annotations

from pathlib import Path

import pytest

from mixlaw.cli import main

pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")

Captured = pytest.CaptureFixture[str]
STARTS = {b"\x89PNG": ".png", b"%PDF": ".pdf", b"<?xm": ".svg"}


@pytest.fixture(scope="module")
def fit_file(known_law: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fit") / "fit.json"
    assert main(["fit", str(known_law), "--law", "additive", "--starts", "2", "-o", str(path)]) == 0
    return path


def commands(known_law: Path, fit: Path) -> dict[str, list[str]]:
    scale = ["--params", "1B", "--tokens", "20B"]
    plan = ["--flops", "6e18", "--sizes", "60M,150M", "--target-params", "2B", "--target-tokens", "40B"]
    domains = ["--domains", str(known_law.parent / "domains.yaml")]
    replay = ["--replay", "--seeds", "2", "--strategies", "uniform,ends", "--budgets", "0.2,0.5"]
    return {
        "compare": ["compare", str(known_law), "--law", "additive,linear", "--starts", "2"],
        "fit": ["fit", str(known_law), "--law", "additive", "--starts", "2"],
        "predict": ["predict", str(fit), "--mixture", "web=0.5,code=0.5", *scale],
        "predict a table": ["predict", str(fit), "--at", str(known_law)],
        "optimize-mixture": ["optimize-mixture", str(fit), *scale, *domains],
        "allocate-budget": ["allocate-budget", *plan, *domains],
        "a replay": ["allocate-budget", str(known_law), *replay],
    }


NAMES = list(commands(Path(), Path()))


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_is_written_and_stdout_stays(
    name: str, known_law: Path, fit_file: Path, tmp_path: Path, capsys: Captured
) -> None:
    words = commands(known_law, fit_file)[name]
    picture = tmp_path / f"picture{list(STARTS.values())[NAMES.index(name) % 3]}"
    capsys.readouterr()
    assert main([*words, "--plot", str(picture)]) == 0
    out, err = capsys.readouterr()
    assert f"wrote {picture}\n" in err
    assert STARTS[picture.read_bytes()[:4]] == picture.suffix
    assert [p.name for p in tmp_path.iterdir()] == [picture.name]
    assert main(words) == 0
    again = capsys.readouterr().out
    assert without_times(out) == without_times(again)


def without_times(text: str) -> list[list[str]]:
    """The cells of a table but for the seconds that fitting took, whose width moves the others."""
    return [[cell for cell in line.split() if not (cell.endswith("s") and cell[:-1].replace(".", "").isdigit())]
            for line in text.splitlines() if "─" not in line]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_slips_in_the_name_come_before_any_work(
    name: str, known_law: Path, fit_file: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = commands(known_law, fit_file)[name]
    for work in ("mixlaw.logs.ingest", "mixlaw.logs.read_runs", "mixlaw.cli.opening.open_fits",
                 "mixlaw.cli.opening.open_runs"):  # fmt: skip
        monkeypatch.setattr(work, lambda *a, **k: pytest.fail("work was done"))
    assert main([*words, "--plot", str(tmp_path / "a.gif")]) == 2
    assert "ends in .png, .pdf, .svg" in capsys.readouterr().err
    assert main([*words, "--plot", str(tmp_path / "absent" / "a.png")]) == 3
    assert "Expected a folder that can be written to" in capsys.readouterr().err


def test_next_runs_have_no_picture(known_law: Path, tmp_path: Path, capsys: Captured) -> None:
    words = ["allocate-budget", str(known_law), "--next", "2", "--plot", str(tmp_path / "a.png")]
    assert main(words) == 2
    assert "--plot with a plan or with --replay" in capsys.readouterr().err


def test_the_picture_is_no_part_of_the_command_that_a_fit_keeps(known_law: Path, tmp_path: Path) -> None:
    fit = ["fit", str(known_law), "--law", "linear", "--starts", "1"]
    for name, more in (("a", []), ("b", ["--plot", str(tmp_path / "a.svg")])):
        assert main([*fit, "-o", str(tmp_path / f"{name}.json"), *more]) == 0
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
