"""Files and folders in, a run table and a report out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from mixlaw.errors import InputError
from mixlaw.logs.assemble import collect
from mixlaw.logs.detect import detect
from mixlaw.logs.naming import run_by_place
from mixlaw.logs.options import IngestOptions
from mixlaw.logs.part import Part
from mixlaw.logs.report import Report
from mixlaw.logs.sheet import Sheet
from mixlaw.logs.source import Source
from mixlaw.logs.table_csv import read_csv
from mixlaw.logs.table_json import read_json
from mixlaw.logs.table_parquet import read_parquet
from mixlaw.runs import Repairs, RunTable


class Reader(Protocol):
    """Reads one file, in one part or several."""

    def __call__(self, source: Source, options: IngestOptions, *, paired: bool = False) -> Iterator[Part]:
        """Yield the parts of a file; ``paired`` when other files are read with it."""


READERS: Mapping[str, Reader] = {
    "csv": read_csv,
    "json": read_json,
    "parquet": read_parquet,
}
"""Every reader by name; ``detect`` returns one of these names."""


@dataclass(frozen=True)
class Found:
    """A file and the reader for it."""

    source: Source
    reader: str


def find(paths: Sequence[Path], options: IngestOptions, report: Report) -> list[Found]:
    """Find the files to read and the reader of each; files in a folder that are no logs are noted.

    Raises:
        InputError: for a named file that cannot be read, or a folder without any log.
    """
    found = []
    for path in paths:
        if path.is_dir():
            found += _in_folder(path, options, report)
        else:
            source = Source.at(path)
            found.append(Found(source, options.reader or detect(source)))
    return found


def _in_folder(folder: Path, options: IngestOptions, report: Report) -> list[Found]:
    found, refused = [], 0
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and not p.name.startswith(".")):
        source = Source.at(path, root=folder)
        try:
            found.append(Found(source, options.reader or detect(source)))
        except InputError as error:
            refused += 1
            report.note(f"not read: {error}")
    if not found:
        got = f"{refused} files of other kinds" if refused else "none"
        raise InputError("a table or a log in the folder", got, where=str(folder))
    return found


def ingest(
    paths: Sequence[Path],
    *,
    options: IngestOptions | None = None,
    watch: Callable[[Source], Source] | None = None,
) -> tuple[RunTable, Report]:
    """Read logs into a run table.

    Args:
        paths: files, folders, ``-`` for stdin.
        options: what the user says about them.
        watch: attaches progress to a source before it is read.

    Returns:
        The table, and what became of every row.

    Raises:
        InputError: naming file, line and column of what cannot be used, and what to do.
    """
    options = options or IngestOptions()
    report = Report(repairs=Repairs(strict=options.strict))
    found = find(paths, options, report)
    sheet = Sheet.load(options.sheet) if options.sheet else Sheet()
    table = collect(_parts(found, options, watch), options, report, sheet)
    return table, report


def _parts(found: Iterable[Found], options: IngestOptions, watch: Callable[[Source], Source] | None) -> Iterator[Part]:
    files = list(found)
    for file in files:
        source = watch(file.source) if watch else file.source
        for part in READERS[file.reader](source, options, paired=len(files) > 1):
            yield part if part.run else replace(part, run=run_by_place(source))


def read_runs(path: Path | str, *, options: IngestOptions | None = None) -> RunTable:
    """Open a run table: ``runs.csv``, ``runs.parquet``, or any file or folder that ``ingest`` reads.

    Args:
        path: file, folder or ``-``.
        options: what the user says about it.

    Raises:
        InputError: naming file, line and column of what cannot be used, and what to do.
    """
    return ingest([Path(path)], options=options)[0]
