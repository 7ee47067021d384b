"""Where results and remarks go: results to stdout, everything else to stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import RenderableType


def silence_stdout() -> None:
    """Point stdout at nothing: the reader of our pipe has gone, which is no error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write_result(text: str) -> None:
    """Write a result to stdout as it is."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()


def write_json(content: Any) -> None:
    """Write a result to stdout as JSON."""
    from mixlaw.files import to_json

    write_result(to_json(content))


def write_to(output: Path | None, text: str) -> None:
    """Write a result to a file, or to stdout for None or ``-``."""
    from mixlaw.files import write_text

    if output is None or str(output) == "-":
        write_result(text)
    else:
        write_text(output, text)
        remark(f"wrote {output}")


def check_plot(plot: Path | None) -> None:
    """Fail before the work, not after it, where a picture was asked for that cannot be written.

    Raises:
        UsageError: for a suffix that is not drawn.
        MissingExtraError: without Matplotlib.
        InputError: when it is a folder, or in a folder that is not there.
    """
    if plot is not None:
        from mixlaw.cli.opening import insist_on_output
        from mixlaw.render.pictures import canvas

        canvas.check(plot)
        insist_on_output(plot)


def write_plot(figure: Figure, plot: Path) -> None:
    """Write a picture and say so."""
    from mixlaw.render.pictures import canvas

    canvas.write(figure, plot)
    remark(f"wrote {plot}")


def show(*parts: RenderableType, aside: bool = False) -> None:
    """Print tables and text for people to stdout (or aside, to stderr).

    Off a terminal 100 columns wide; a table that needs more takes up to 160, so that its names are not broken.
    """
    from rich.console import Console
    from rich.table import Table

    stream = sys.stderr if aside else sys.stdout
    console = Console(highlight=False, soft_wrap=False, width=None if stream.isatty() else 160)
    with console.capture() as captured:
        for part in parts:
            natural = console.measure(part).maximum if isinstance(part, Table) else 0
            console.print(part, width=None if stream.isatty() else max(100, natural))
    if aside:
        sys.stderr.write(captured.get())
    else:
        write_result(captured.get())


def remark(text: str) -> None:
    """Print a remark to stderr."""
    sys.stderr.write(f"{text}\n")


def remarks(lines: Iterable[str]) -> None:
    """Print several remarks to stderr."""
    for line in lines:
        remark(line)


class Progress(Protocol):
    """Takes the share of the work that is done, 0 to 1."""

    def __call__(self, done: float) -> None:
        """Show that ``done`` of the work is behind us."""


@contextmanager
def progress(what: str) -> Iterator[Progress]:
    """A progress bar on stderr that appears after a second, and only on a terminal."""
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    bar = Bar(*columns, console=Console(stderr=True), transient=True, auto_refresh=True)
    task = bar.add_task(what, total=1.0)
    started: list[float] = []

    def advance(done: float) -> None:
        import time

        if not started:
            started.append(time.monotonic())
        if not bar.live.is_started and time.monotonic() - started[0] > 1:
            bar.start()
        bar.update(task, completed=done)

    try:
        yield advance
    finally:
        if bar.live.is_started:
            bar.stop()
