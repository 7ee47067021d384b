"""One way to make, style and write a picture (Matplotlib without pyplot; the extra ``plot``)."""

from __future__ import annotations

import importlib.util
import io
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mixlaw.errors import MissingExtraError, UsageError
from mixlaw.files import replacing
from mixlaw.render.pictures.inline import fragment

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

Entry = tuple[str, Mapping[str, Any]]
"""A name in a legend and the looks of its point or line, as Matplotlib's ``Line2D`` takes them."""
SUFFIXES = (".png", ".pdf", ".svg")

INK, MUTED, GRID, PAPER = "#1c1e21", "#6b6f76", "#dcdee2", "#ffffff"
"""Foreground colours and the background; ``svg`` replaces exactly these by those of the page."""
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Okabe and Ito's colours that people with any colour vision tell apart, readable on light and dark."""
MARKERS = ("o", "s", "^", "D", "v", "P")
"""A shape for every colour."""

_STYLE: Any = {
    "font.family": "DejaVu Sans", "font.size": 9, "text.color": INK, "text.parse_math": False,
    "figure.facecolor": PAPER, "savefig.facecolor": PAPER, "savefig.dpi": 150,
    "figure.titlesize": 12, "figure.titleweight": "bold",
    "axes.titlesize": 10, "axes.titlelocation": "left", "axes.labelsize": 9, "axes.labelcolor": INK,
    "axes.facecolor": "none", "axes.edgecolor": MUTED, "axes.linewidth": 0.8, "axes.axisbelow": True,
    "axes.spines.top": False, "axes.spines.right": False, "axes.formatter.useoffset": False,
    "axes.grid": True, "grid.color": GRID, "grid.linewidth": 0.7,
    "xtick.color": MUTED, "ytick.color": MUTED, "xtick.labelcolor": INK, "ytick.labelcolor": INK,
    "xtick.labelsize": 8, "ytick.labelsize": 8, "lines.linewidth": 1.6, "hatch.linewidth": 0.6, "hatch.color": MUTED,
    "legend.frameon": False, "legend.fontsize": 8.5, "legend.title_fontsize": 8.5, "legend.labelcolor": INK,
    "svg.fonttype": "none", "svg.hashsalt": "mixlaw", "pdf.fonttype": 42,
}  # fmt: skip
_UNDATED: dict[str, dict[str, None]] = {
    ".pdf": {"CreationDate": None}, ".svg": {"Date": None}, ".png": {"Software": None},
}  # fmt: skip


def check(path: Path) -> None:
    """Refuse what ``write`` could not write; call it before a long computation.

    Raises:
        UsageError: for a suffix that is not drawn.
        MissingExtraError: without Matplotlib.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"a name of a picture that ends in {', '.join(SUFFIXES)}", repr(str(path)))
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingExtraError("matplotlib", "plot")


@contextmanager
def style() -> Iterator[None]:
    """The house style, whatever the user's own Matplotlib settings; also a decorator, ``@style()``.

    Raises:
        MissingExtraError: without Matplotlib.
    """
    try:
        import matplotlib
    except ImportError as error:
        raise MissingExtraError("matplotlib", "plot") from error
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        yield


def figure(width: float, height: float) -> Figure:
    """An empty figure, width and height of its panels in inches; make it and draw on it inside ``style``."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    made = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(made)
    return made


def say(figure: Figure, statement: str, *, caption: str = "", entries: Sequence[Entry] = ()) -> None:
    """Put the statement and a legend above the panels and a caption below; the figure grows by what they take.

    Args:
        figure: with its panels drawn.
        statement: wrapped to the width.
        caption: small type, wrapped; empty for none.
        entries: of one legend for all panels.
    """
    from matplotlib.lines import Line2D

    width, height = (float(v) for v in figure.get_size_inches())
    title = textwrap.wrap(statement, round(9.6 * width))
    below = [part for line in caption.splitlines() for part in textwrap.wrap(line, round(14.5 * width))]
    columns = _columns([name for name, _ in entries], width)
    top = 0.1 + 0.2 * len(title) + 0.03
    head = top + 0.21 * -(-len(entries) // columns) + 0.07
    foot = 0.145 * len(below) + (0.12 if below else 0.05)
    whole = head + height + foot
    figure.set_size_inches(width, whole)
    figure.set_layout_engine("constrained", rect=(0, foot / whole, 1, height / whole))
    left = 0.08 / width
    text = figure.suptitle("\n".join(title), x=left, y=1 - 0.1 / whole, ha="left", va="top", linespacing=1.2)
    text.set_in_layout(False)
    if entries:
        handles = [Line2D([], [], **{"linestyle": "none", **look}) for _, look in entries]
        figure.legend(handles, [name for name, _ in entries], loc="upper left", ncols=columns, borderaxespad=0,
                      bbox_to_anchor=(left, 1 - top / whole), borderpad=0, handletextpad=0.4, columnspacing=1.4,
                      handlelength=1.6, labelspacing=0.45)  # fmt: skip
    if below:
        figure.text(left, 0.07 / whole, "\n".join(below), va="bottom", fontsize=8, color=MUTED, linespacing=1.25)


def _columns(names: Sequence[str], width: float) -> int:
    """As many columns of a legend as fit into so many inches, filled one after another."""
    for columns in range(len(names), 1, -1):
        rows, fuller = divmod(len(names), columns)  # the first columns hold one more
        starts = [i * rows + min(i, fuller) for i in range(columns + 1)]
        parts = [names[a:b] for a, b in pairwise(starts)]
        if sum(0.072 * max(map(len, part)) + 0.5 for part in parts) <= width:
            return columns
    return 1


def short(name: str, most: int = 22) -> str:
    """A name cut in the middle, so that different ends stay different."""
    if len(name) <= most:
        return name
    tail = (most - 1) // 2
    return f"{name[: most - 1 - tail]}…{name[-tail:]}"


def count_axis(axis: Axis) -> None:
    """Ticks of a logarithmic axis of counts as people write them: 20B, 410M."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    from mixlaw.units import human

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=8))
    axis.set_major_formatter(FuncFormatter(lambda value, _: human(value)))
    axis.set_minor_formatter(NullFormatter())


def percent_axis(axis: Axis, *, most: int = 5) -> None:
    """Ticks of an axis of shares in per cent."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis.set_major_locator(MaxNLocator(most, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.3g}%"))


def write(figure: Figure, path: Path) -> None:
    """Write a picture, whole or not at all; the same picture gives the same bytes.

    Raises:
        UsageError: for a suffix that is not drawn.
        InputError: for a folder that cannot be written to.
    """
    check(path)
    suffix = path.suffix.lower()
    with style(), replacing(path) as temporary:
        figure.savefig(temporary, format=suffix[1:], metadata=_UNDATED[suffix])


def svg(figure: Figure, prefix: str = "picture", *, label: str | None = None) -> str:
    """The picture as a fragment for an HTML page, in the page's own colours and type.

    Text and axes are ``currentColor``; the background is transparent. Backgrounds of labels are ``var(--paper)``, the
    page's background colour, and without it the browser's ``Canvas``. Without a width of its own the picture takes
    that of its container, up to its natural size.

    Args:
        figure: what ``draw`` made.
        prefix: starts all ids; a page that shows several pictures gives each its own.
        label: what a screen reader says; the title of the figure if left out.
    """
    buffer = io.BytesIO()
    with style():
        figure.savefig(buffer, format="svg", metadata={"Date": None}, transparent=True)
    said = label if label is not None else " ".join(figure.get_suptitle().split())
    colours = {INK: "", MUTED: "0.66", GRID: "0.17"}
    return fragment(buffer.getvalue(), prefix, label=said, colours=colours, paper=PAPER)
