"""Tables as this project draws them: one look for every command."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich import box
from rich.table import Table
from rich.text import Text


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], *, left: int = 1) -> Table:
    """A table whose first ``left`` columns are names and whose others are numbers, set to the right."""
    out = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    out.min_width = min(len(title), 100)  # a narrow table does not break its title
    for index, column in enumerate(columns):
        out.add_column(column, justify="left" if index < left else "right", overflow="fold")
    for row in rows:
        out.add_row(*(cell if isinstance(cell, Text) else Text(str(cell)) for cell in row))  # no markup: c[web]
    return out


def percent(value: float, digits: int = 1) -> str:
    """A share as a percentage; a dash for a missing one."""
    return "-" if value != value else f"{100 * value:.{digits}f}%"


def significant(value: float, digits: int = 3) -> str:
    """A number to so many significant digits, without an exponent where it can be read without."""
    return f"{value:.{digits}g}" if value == 0 or 1e-3 <= abs(value) < 1e5 else f"{value:.{digits - 1}e}"
