"""Open what a command was given: a fit file, or a run table that is fitted on the spot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mixlaw.fits import FitSet
    from mixlaw.runs import RunTable


def open_runs(path: Path) -> RunTable:
    """Read a run table and say what was repaired or left out on the way.

    Raises:
        InputError: naming file, line and column of what cannot be used.
    """
    from mixlaw.cli import output as out
    from mixlaw.logs import ingest

    table, report = ingest([path])
    told = report.to_mapping()
    out.remarks(f"repaired {number}: {what}" for what, number in told["repairs"].items())
    out.remarks(f"left out {what['rows']} rows: {why}" for why, what in told["skipped"].items())
    return table


def open_fits(path: Path, *, law: str = "auto", seed: int = 0) -> FitSet:
    """Return the fits in a fit file; a run table is fitted with ``law`` first, with a remark.

    Raises:
        InputError: when the file is neither.
    """
    return open_fits_and_runs(path, law=law, seed=seed)[0]


def open_fits_and_runs(path: Path, *, law: str = "auto", seed: int = 0) -> tuple[FitSet, RunTable | None]:
    """As ``open_fits``, with the run table where ``path`` is one.

    Raises:
        InputError: when the file is neither.
    """
    from mixlaw import fitfile
    from mixlaw.benchmark import add_benchmarks
    from mixlaw.cli import output as out
    from mixlaw.errors import InputError
    from mixlaw.files import read_text
    from mixlaw.fit import FitOptions
    from mixlaw.fitting import Request, fit_table, named_laws

    if not path.exists() and str(path) != "-":
        raise InputError("a fit file or a run table", "no such file", where=str(path))
    if path.suffix == ".json" and path.is_file():
        text = read_text(path)
        if text.lstrip().startswith("{") and '"format"' in text[:200]:
            return fitfile.loads(text, where=str(path)), None
    table = open_runs(path)
    out.remark(f"{path} is a run table: fitting {law} first (mixlaw fit keeps the fit)")
    with out.progress("fitting") as advance:
        fits = fit_table(table, Request(named_laws(law), FitOptions(seed=seed)), progress=advance)
    return add_benchmarks(fits, table), table
