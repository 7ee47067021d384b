"""Files and folders in, a run table and a report out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mixlaw.errors import InputError
from mixlaw.logs.assemble import collect
from mixlaw.logs.detect import detect
from mixlaw.logs.long import find_long
from mixlaw.logs.names import recognise
from mixlaw.logs.naming import place_of_run, run_by_place
from mixlaw.logs.options import IngestOptions
from mixlaw.logs.part import Part
from mixlaw.logs.readers import READERS
from mixlaw.logs.readers.hf_trainer import state_step
from mixlaw.logs.readers.table_csv import sample_csv
from mixlaw.logs.readers.table_json import sample_json
from mixlaw.logs.report import Report
from mixlaw.logs.sheet import Sheet
from mixlaw.logs.source import Source
from mixlaw.runs import Repairs, RunTable


@dataclass(frozen=True)
class Found:
    """A file and the reader for it."""

    source: Source
    reader: str


def _reader(source: Source, options: IngestOptions) -> str:
    if options.reader is None:
        return detect(source)
    if options.reader not in READERS:
        raise InputError(f"--as with one of {', '.join(READERS)}", repr(options.reader))
    return options.reader


def find(paths: Sequence[Path | Source], options: IngestOptions, report: Report) -> list[Found]:
    """Find the files to read and the reader of each; files in a folder that are no logs are noted.

    Raises:
        InputError: for a named file that cannot be read, or a folder without any log.
    """
    found = []
    for path in paths:
        if isinstance(path, Path) and path.is_dir():
            found += _in_folder(path, options, report)
        else:
            source = path if isinstance(path, Source) else Source.at(path)
            found.append(Found(source, _reader(source, options)))
    return _newest(found, report)


def _newest(found: list[Found], report: Report) -> list[Found]:
    """Of several Trainer states of a run only the newest: each holds the history of the earlier ones."""
    states: dict[str, list[Found]] = {}
    for file in found:
        if file.reader == "hf_trainer":
            states.setdefault(run_by_place(file.source), []).append(file)
    older: set[int] = set()
    for run, files in states.items():
        if len(files) > 1:
            newest = max(files, key=lambda f: state_step(f.source))
            older |= {id(f) for f in files if f is not newest}
            report.note(
                f"run {run}: {len(files) - 1} older trainer states not read, the newest is {newest.source.name}"
            )
    return [f for f in found if id(f) not in older]


def _in_folder(folder: Path, options: IngestOptions, report: Report) -> list[Found]:
    found, refused = [], 0
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and not p.name.startswith(".")):
        source = Source.at(path, root=folder)
        try:
            reader = _reader(source, options)
            _check_table(source, reader, options)
        except InputError as error:
            refused += 1
            report.not_read.append(str(error))
            continue
        found.append(Found(source, reader))
    if not found:
        got = f"{refused} files of other kinds" if refused else "none"
        raise InputError("a table or a log in the folder", got, where=str(folder))
    return found


def _check_table(source: Source, reader: str, options: IngestOptions) -> None:
    """Refuse a table found in a folder of which nothing is known: other text looks like a table too.

    Raises:
        InputError: saying which columns it has.
    """
    sample = {"csv": sample_csv, "json": sample_json}.get(reader)
    if sample is None:
        return
    frame = sample(source)
    if find_long(frame) is None and not recognise(frame, options, paired=True).knows_runs:
        names = ", ".join(repr(str(c)) for c in frame.columns[:5])
        raise InputError("a column of shares, losses or scores", f"{names}", where=source.name)


def ingest(
    paths: Sequence[Path | Source],
    *,
    options: IngestOptions | None = None,
    watch: Callable[[Source], Source] | None = None,
) -> tuple[RunTable, Report]:
    """Read logs into a run table.

    Args:
        paths: files, folders, ``-`` for stdin, or sources that are open already.
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
    sheet = Sheet.load_all(options.sheets)
    report.note(*sheet.unused())
    table = collect(_parts(found, options, watch), options, report, sheet)
    return table, report


def _parts(found: Iterable[Found], options: IngestOptions, watch: Callable[[Source], Source] | None) -> Iterator[Part]:
    files = list(found)
    for file in files:
        source = watch(file.source) if watch else file.source
        for part in READERS[file.reader](source, options, paired=len(files) > 1):
            yield part if part.run else replace(part, run=run_by_place(source), place=place_of_run(source))


def read_runs(path: Path | str, *, options: IngestOptions | None = None) -> RunTable:
    """Open a run table: ``runs.csv``, ``runs.parquet``, or any file or folder that ``ingest`` reads.

    Args:
        path: file, folder or ``-``.
        options: what the user says about it.

    Raises:
        InputError: naming file, line and column of what cannot be used, and what to do.
    """
    return ingest([Path(path)], options=options)[0]
