"""Open what a command was given: a fit file, or a run table that is fitted on the spot."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mixlaw.fits import FitSet
    from mixlaw.logs.source import Source
    from mixlaw.runs import RunTable

    Check = Callable[[FitSet | RunTable], None]


def open_runs(path: Path | Source) -> RunTable:
    """Read a run table and say what was repaired or left out on the way.

    Raises:
        InputError: naming file, line and column of what cannot be used.
    """
    from mixlaw.cli import output as out
    from mixlaw.errors import InputError
    from mixlaw.logs import ingest
    from mixlaw.logs.source import Source

    if isinstance(path, Path) and path.is_file() and _is_fit(Source.at(path)):
        hint = "A fit file is for predict, optimize-mixture and report."
        raise InputError("a run table", "a fit file", where=str(path), hint=hint)
    table, report = ingest([path])
    told = report.to_mapping()
    out.remarks(f"repaired {number}: {what}" for what, number in told["repairs"].items())
    out.remarks(f"left out {what['rows']} rows: {why}" for why, what in told["skipped"].items())
    return table


def open_fits(path: Path, *, law: str = "auto", seed: int = 0, check: Check | None = None) -> FitSet:
    """Return the fits in a fit file; a run table is fitted with ``law`` first, with a remark.

    Args:
        path: the file, or ``-`` for stdin; its content says which of both it is.
        law: for a run table.
        seed: for a run table.
        check: told the names in the file (domains, targets, benchmarks) before any work; raises what does not fit.

    Raises:
        InputError: when the file is neither.
    """
    return open_fits_and_runs(path, law=law, seed=seed, check=check)[0]


def open_fits_and_runs(
    path: Path, *, law: str = "auto", seed: int = 0, check: Check | None = None
) -> tuple[FitSet, RunTable | None]:
    """As ``open_fits``, with the run table where ``path`` is one.

    Raises:
        InputError: when the file is neither.
    """
    from mixlaw import fitfile
    from mixlaw.benchmark import add_benchmarks
    from mixlaw.cli import output as out
    from mixlaw.errors import InputError
    from mixlaw.fit import FitOptions
    from mixlaw.fitting import Request, fit_table, named_laws
    from mixlaw.logs.source import Source

    if not path.exists() and str(path) != "-":
        raise InputError("a fit file or a run table", "no such file", where=str(path))
    source = None if path.is_dir() else Source.at(path)
    if source is not None and _is_fit(source):
        with source.reading(), source.text() as handle:
            found = fitfile.loads(handle.read(), where=source.name)
        if check:
            check(found)
        return found, None
    table = open_runs(source or path)
    if check:
        check(table)
    out.remark(f"{source.name if source else path} is a run table: fitting {law} first (mixlaw fit keeps the fit)")
    with out.progress("fitting") as advance:
        fits = fit_table(table, Request(named_laws(law), FitOptions(seed=seed)), progress=advance)
    return add_benchmarks(fits, table), table


def _is_fit(source: Source) -> bool:
    """Whether a file holds fits, by its content."""
    begin = source.head_text.lstrip("\ufeff \t\r\n")
    return begin.startswith("{") and '"format"' in begin[:200]


def insist_on_output(path: Path | None) -> None:
    """Refuse a file that cannot be written before the work for it is done.

    Raises:
        InputError: when it is a folder, or in a folder that is not there.
    """
    from mixlaw.errors import InputError

    if path is None or str(path) == "-":
        return
    if path.is_dir():
        raise InputError("the name of a file to write", "a folder", where=str(path))
    if not path.absolute().parent.is_dir():
        raise InputError("a folder that can be written to", "none of this name", where=str(path))


def insist_on_one_stdout(output: Path | None, json: bool) -> None:
    """Refuse two results on stdout.

    Raises:
        UsageError: for ``--json`` with ``-o -``.
    """
    from mixlaw.errors import UsageError

    if json and str(output) == "-":
        raise UsageError("--json or -o -, not both on stdout", "both")
