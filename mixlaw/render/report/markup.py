"""HTML by small functions: whatever is not markup already is text and is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from rich.table import Column, Table
from rich.text import Text

MOST_COLUMNS = 10
"""Columns of a table beyond which it is cut into parts, one below the other, each with its row names."""
SHORT = 24
"""Rows up to which a table is kept on one printed page."""
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def markup(part: object) -> Markup:
    """HTML as it is, anything else escaped; characters that HTML cannot hold become a replacement mark."""
    if isinstance(part, Markup):
        return part
    return Markup(escape(_CONTROL.sub("\N{REPLACEMENT CHARACTER}", str(part)), quote=True))


def breakable(text: str) -> Markup:
    """A name that may be broken after ``_``, ``-``, ``/`` and ``.``."""
    return join(re.split(r"(?<=[_/.-])(?=.)", text), Markup("<wbr>"))


def join(parts: Iterable[object], between: str = "") -> Markup:
    """Several parts one after the other."""
    return Markup(markup(between).join(markup(part) for part in parts))


def element(tag: str, /, *parts: object, **attributes: object) -> Markup:
    """An element; ``class_`` is class, ``aria_label`` is aria-label, and an attribute that is None is left out."""
    return Markup(f"{opening(tag, **attributes)}{join(parts)}</{tag}>")


def opening(tag: str, /, **attributes: object) -> Markup:
    """A start tag, or an element that has no end tag."""
    words = [
        f' {key.rstrip("_").replace("_", "-")}="{markup(value)}"'
        for key, value in attributes.items()
        if value is not None
    ]
    return Markup(f"<{tag}{''.join(words)}>")


def listing(items: Iterable[object], *, class_: str | None = None) -> Markup:
    """An unordered list; nothing for no items."""
    rows = [element("li", item) for item in items]
    return element("ul", *rows, class_=class_) if rows else Markup("")


def table(
    source: Table, *, title: str | None = None, only: Sequence[str] = (), without: Sequence[str] = (), skip: int = 0
) -> Markup:
    """A Rich table as a figure with its title; wide ones in parts, each in a box that scrolls by itself.

    Args:
        source: walked by columns and rows; columns set to the left are names, others numbers.
        title: instead of the table's own.
        only: headings of the columns to show, in this order; all if empty.
        without: headings of columns to leave out.
        skip: rows to leave out at the top.
    """
    by_name = {_plain(column.header): column for column in source.columns}
    columns = [by_name[name] for name in only or by_name if name not in without]
    said = title or _plain(source.title or "")
    names = [c for c in columns if c.justify == "left"] or columns[:1]
    others = [c for c in columns if c not in names]
    width = max(1, MOST_COLUMNS - len(names))
    parts = [others[i : i + width] for i in range(0, len(others), width)] or [[]]
    labels = [said] if len(parts) == 1 else [f"{said}, part {number}" for number in range(1, len(parts) + 1)]
    boxes = [box(_table([*names, *part], skip), label) for part, label in zip(parts, labels, strict=True)]
    kind = "table" if source.row_count > SHORT else "table whole"
    return element("figure", element("figcaption", said), *boxes, class_=kind)


def box(content: object, label: str) -> Markup:
    """A box as wide as the page that scrolls sideways by itself, by keyboard too."""
    return element("section", content, class_="scroll", tabindex=0, aria_label=label)


def _table(columns: Sequence[Column], skip: int) -> Markup:
    heading = element(
        "tr", *(element("th", breakable(_plain(c.header)), scope="col", class_=_side(c)) for c in columns)
    )
    cells = [list(column.cells)[skip:] for column in columns]
    count = len(cells[0]) if cells else 0
    body = [_row(columns, cells, index, count) for index in range(count)]
    return element("table", element("thead", heading), element("tbody", *body))


def _row(columns: Sequence[Column], cells: Sequence[Sequence[object]], index: int, count: int) -> Markup:
    """One row; a first cell that is empty belongs to the name above it."""
    parts: list[Markup] = []
    if index == 0 or _plain(cells[0][index]):
        span = 1
        while index + span < count and not _plain(cells[0][index + span]):
            span += 1
        scope, rows = ("row", None) if span == 1 else ("rowgroup", span)
        name = element("span", _cell(cells[0][index], columns[0]), class_="name")
        parts.append(element("th", name, scope=scope, rowspan=rows, class_=_side(columns[0])))
    for column, own in zip(columns[1:], cells[1:], strict=True):
        parts.append(element("td", _cell(own[index], column), class_=_side(column) or "text"))
    return element("tr", *parts)


def _side(column: Column) -> str | None:
    return "number" if column.justify == "right" else None


def _cell(cell: object, column: Column) -> Markup:
    strong = isinstance(cell, Text) and "bold" in str(cell.style)
    text = markup(_plain(cell)) if _side(column) else breakable(_plain(cell))
    return element("strong", text) if strong else text


def _plain(cell: object) -> str:
    return cell.plain if isinstance(cell, Text) else str(cell)
