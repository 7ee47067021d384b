"""Small multiples: which things get a panel, and where panels stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from mixlaw.laws.base import Floats
from mixlaw.render.pictures import canvas
from mixlaw.units import Unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

T = TypeVar("T")
MARKS: dict[str, dict[str, Any]] = {
    "proposal": {"marker": "*", "color": canvas.PALETTE[1], "markersize": 13},
    "best_observed": {"marker": "s", "color": canvas.PALETTE[3], "markersize": 7},
    "natural": {"marker": "^", "color": canvas.PALETTE[4], "markersize": 8},
    "uniform": {"marker": "D", "color": canvas.PALETTE[2], "markersize": 6.5},
    "incumbent": {"marker": "P", "color": canvas.PALETTE[0], "markersize": 8},
}
"""Looks of mixtures that have names, the topmost first."""
EDGE: dict[str, Any] = {"markeredgecolor": canvas.PAPER, "markeredgewidth": 0.9}
"""The light edge of a mark."""
_COLUMNS = {1: 1, 2: 2, 3: 3, 4: 2, 5: 3, 6: 3, 7: 4, 8: 4, 9: 3}


def some(items: Sequence[T], most: int) -> list[T]:
    """At most so many, evenly spaced, the first and the last among them."""
    if len(items) <= most:
        return list(items)
    return [items[int(i)] for i in np.linspace(0, len(items) - 1, most).round()]


def unit_of(units: Mapping[str, Unit], target: str) -> str:
    """Name of a target's unit."""
    return units.get(target, Unit.NATS).value


def panels(count: int, *, width: float, height: float) -> tuple[Figure, Iterator[tuple[Axes, bool, bool]]]:
    """A figure with so many panels of this size in inches; of each, whether it is leftmost and lowest of its column."""
    columns = _COLUMNS.get(count, 4)
    rows = -(-count // columns)
    figure = canvas.figure(max(columns * width, 4.6), rows * height)
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.ravel()[count:]:
        axes.remove()
    return figure, ((grid[i // columns, i % columns], i % columns == 0, i + columns >= count) for i in range(count))


def end_labels(axes: Axes, ends: Sequence[tuple[str, float, str]], *, gap: float = 0.052) -> None:
    """Name lines at the right edge, each at its last value and in its colour, moved apart where they would overlap.

    Args:
        axes: with its lines drawn and its scales set.
        ends: name, last value and colour of each line.
        gap: least distance between two names, as a share of the height.
    """
    low, high = axes.transData.inverted().transform(axes.transAxes.transform([(0, 0), (0, 1)]))[:, 1]
    scale = axes.yaxis.get_transform().transform
    edges = scale(np.array([low, high]))
    at = (scale(np.array([value for _, value, _ in ends])) - edges[0]) / (edges[1] - edges[0])
    order = np.argsort(at, kind="stable")
    for index, height in zip(order, spread(at[order], gap), strict=True):
        name, _, colour = ends[index]
        axes.text(1.015, height, name, transform=axes.transAxes, color=colour, va="center", fontsize=8.5)


def spread(heights: Floats, gap: float) -> Floats:
    """Rising heights moved as little as need be to lie at least ``gap`` apart: groups that touch share their shift."""
    groups: list[list[float]] = []  # mean of the first place, and count
    for index, height in enumerate(heights):
        groups.append([float(height) - gap * index, 1.0])
        while len(groups) > 1 and groups[-2][0] > groups[-1][0]:
            (first, count), (second, number) = groups[-2:]
            groups[-2:] = [[(first * count + second * number) / (count + number), count + number]]
    starts = np.concatenate([np.full(int(count), start) for start, count in groups])
    return np.asarray(starts + gap * np.arange(len(heights)))
