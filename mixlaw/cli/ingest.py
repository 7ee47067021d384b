"""``mixlaw ingest``: logs and tables in, a run table out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mixlaw.cli.options import Json, Strict
from mixlaw.cli.output import remark, remarks, write_json, write_result

if TYPE_CHECKING:
    from mixlaw.logs import IngestOptions, Report
    from mixlaw.logs.source import Source
    from mixlaw.runs import RunTable

_Sources = Annotated[list[Path], typer.Argument(metavar="SOURCE...", help="Files, folders, or '-' for stdin.")]
_Output = Annotated[
    Path | None, typer.Option("-o", "--output", help="Run table to write (.csv, .parquet); else stdout.")
]
_Map = Annotated[
    Path | None, typer.Option("--map", help="Column map (YAML): your column, exact or glob -> run-table column, unit.")
]
_Set = Annotated[
    list[str] | None, typer.Option("--set", help="A constant: params=410M, tokens_per_step=1048576, run=NAME.")
]
_Join = Annotated[str | None, typer.Option("--join", help="Column that names the run in each of several files.")]
_Unit = Annotated[list[str] | None, typer.Option("--unit", help="Unit of the losses: bits/byte, or 'mmlu*=bits/byte'.")]
_Sheet = Annotated[
    list[Path] | None,
    typer.Option("--mixtures", help="Run sheet (CSV, YAML) or plan manifest: facts by run; may be several."),
]
_Doubtful = Annotated[bool, typer.Option("--keep-doubtful", help="Keep runs that diverged, crashed or still run.")]
_Start = Annotated[
    bool, typer.Option("--keep-start", help="Keep rows at step 0: the base model of continual pre-training.")
]
_Skip = Annotated[list[str] | None, typer.Option("--skip", help="Run (name or glob) to leave out.")]
_Reader = Annotated[
    str | None, typer.Option("--as", help="Name of the reader to use instead of looking at the content.")
]
_ReportFile = Annotated[Path | None, typer.Option("--report", help="File for the report as JSON.")]
_Dry = Annotated[bool, typer.Option("--dry-run", help="Say what would be read and stop.")]


def ingest(
    sources: _Sources,
    output: _Output = None,
    column_map: _Map = None,
    settings: _Set = None,
    join: _Join = None,
    units: _Unit = None,
    mixtures: _Sheet = None,
    keep_doubtful: _Doubtful = False,
    keep_start: _Start = False,
    skip: _Skip = None,
    reader: _Reader = None,
    report_file: _ReportFile = None,
    dry_run: _Dry = False,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """Read training logs and tables into one run table; the report goes to stderr."""
    from mixlaw.logs import IngestOptions
    from mixlaw.logs import ingest as read

    options = IngestOptions.build(
        column_map=column_map,
        settings=tuple(settings or ()),
        units=tuple(units or ()),
        join=join,
        strict=strict,
        keep_doubtful=keep_doubtful,
        keep_start=keep_start,
        skip=tuple(skip or ()),
        sheets=tuple(mixtures or ()),
        reader=reader,
    )
    if dry_run:
        _list(sources, options, json)
        return
    with _progress() as watch:
        table, report = read(sources, options=options, watch=watch)
    _hand_out(table, report, output, report_file, json)


@contextmanager
def _progress() -> Iterator[Callable[[Source], Source] | None]:
    """A bar with the bytes read and their rate, on a terminal, for what takes over a second."""
    import sys
    import time

    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    begun = time.monotonic()

    def watch(source: Source) -> Source:
        task = bar.add_task(source.path.name, total=source.path.stat().st_size)

        def advance(done: int) -> None:
            if not bar.live.is_started and time.monotonic() - begun > 1:
                bar.start()
            bar.update(task, completed=done)

        return replace(source, progress=advance)

    try:
        yield watch
    finally:
        if bar.live.is_started:
            bar.stop()


def _list(sources: list[Path], options: IngestOptions, json: bool) -> None:
    """Print the files that would be read, and by which reader."""
    from mixlaw.logs.ingest import find
    from mixlaw.logs.report import Report

    report = Report()
    found = find(sources, options, report)
    if json:
        files = [{"file": f.source.name, "kind": f.reader} for f in found]
        write_json({"files": files, "notes": report.notes, "not_read": report.not_read})
        return
    write_result("".join(f"{f.reader}\t{f.source.name}\n" for f in found))
    remarks([*report.notes, *(f"not read: {n}" for n in report.not_read)])


def _hand_out(table: RunTable, report: Report, output: Path | None, report_file: Path | None, json: bool) -> None:
    from mixlaw.files import to_json, write_text
    from mixlaw.logs.sheet import beginning
    from mixlaw.runs import csv_text

    remarks(report.lines())
    if report.template and report.from_logs:
        remark("run sheet to fill in and pass with --mixtures (web and code stand for your domains):")
        remark(beginning(report.template))
    if report_file is not None:
        write_text(report_file, to_json(report.to_mapping()))
    if output is not None and str(output) != "-":
        table.write(output)
        remark(f"wrote {output}")
    elif not json:
        write_result("".join(csv_text(table.to_frame())))
    if json:
        write_json(report.to_mapping())
