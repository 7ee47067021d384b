"""Predicted against measured losses as a picture: laws on held-out runs, or one fit on the rows of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mixlaw.check.auto import AUTO
from mixlaw.check.compare import Comparison, Row
from mixlaw.errors import InputError
from mixlaw.fits import Prediction
from mixlaw.laws.base import Floats
from mixlaw.mixture import Mixture
from mixlaw.predicting import TablePrediction
from mixlaw.render.pictures import canvas
from mixlaw.render.pictures.canvas import style
from mixlaw.render.pictures.panels import panels, some, unit_of
from mixlaw.render.tables import percent
from mixlaw.units import Unit, human

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LAWS = 4
"""Laws drawn of a comparison."""
TARGETS = 12
"""Panels at most."""
CROWD = 40
"""Points of one kind in a panel from which they are smaller."""
KINDS = ("not fitted", "fitted")
"""Runs by whether the fit has seen them."""
LINES = 40
"""Targets with a line each at most."""


@dataclass(frozen=True)
class Series:
    """Points of one kind in one panel: losses, shape (n,), and 90 % intervals where there are any."""

    name: str
    measured: Floats
    predicted: Floats
    interval: tuple[Floats, Floats] | None = None


@style()
def draw(result: Comparison) -> Figure:
    """Held-out runs: a panel per target, ``auto`` (or the best law) and up to three others.

    Raises:
        InputError: when no law could be fitted.
    """
    laws = chosen_laws(result)
    if not laws:
        raise InputError("a law that could be fitted, to draw its predictions", "none")
    lead = laws[0]
    targets = some(sorted(result.measured, key=lambda t: (lead.scores[t].error, t)), TARGETS)
    series = {t: [Series(row.name, result.measured[t], row.predicted[t]) for row in laws] for t in targets}
    titles = {t: f"{canvas.short(t, 17)}   {percent(lead.scores[t].error, 2)}" for t in targets}
    figure, clipped = _scatter(series, titles, {t: unit_of(result.units, t) for t in targets})
    entries = [(f"{row.name} {percent(row.error, 2)}", _marking(i)) for i, row in enumerate(laws)]
    caption = [f"Above the panels: error of {lead.name} on each target. On the line the prediction is exact."]
    caption += _left_out(len(targets), len(result.measured), f"from the best to the worst predicted by {lead.name}")
    caption += _beyond(clipped)
    statement = f"{lead.name} is {percent(lead.error, 2)} off on {result.runs} runs that it has not seen"
    canvas.say(figure, f"{statement} ({result.held_out})", caption=" ".join(caption), entries=entries)
    return figure


def chosen_laws(result: Comparison, most: int = LAWS) -> list[Row]:
    """``auto`` where it was tried, else the best; then the next best whose predictions are not the same."""
    judged = [row for row in result.rows if row.predicted and np.isfinite(row.error)]
    judged.sort(key=lambda row: row.name != AUTO)
    shown: list[Row] = []
    for row in judged:
        if len(shown) < most and not any(_same(row, other) for other in shown):
            shown.append(row)
    return shown


def _same(one: Row, other: Row) -> bool:
    return all(np.allclose(one.predicted[t], other.predicted[t], rtol=1e-9, equal_nan=True) for t in one.predicted)


@style()
def draw_table(result: TablePrediction) -> Figure:
    """Last row of each run with intervals: a panel per target, runs that the fit has not seen marked apart.

    Raises:
        InputError: when the table has no losses of the fit's targets.
    """
    last = ~result.frame["run"].duplicated(keep="last").to_numpy()
    known = {t: last & np.isfinite(losses) for t, losses in result.measured.items()}
    measured = [t for t in known if known[t].any()]
    if not measured:
        raise InputError("measured losses of the fit's targets, to draw predictions against", "none")
    targets = some(sorted(measured, key=lambda t: (result.scores[t].error, t)), TARGETS)
    series = {t: _parts(result, t, known[t]) for t in targets}
    titles = {t: f"{canvas.short(t, 17)}   {percent(result.scores[t].error, 2)}" for t in targets}
    figure, clipped = _scatter(series, titles, {t: unit_of(result.units, t) for t in targets})
    caption = ["Above the panels: error on each target. Bars: 90 % intervals. On the line the prediction is exact."]
    caption += _left_out(len(targets), len(measured), "from the best to the worst predicted") + _beyond(clipped)
    error = float(np.mean([result.scores[t].error for t in measured]))
    new = int((last & ~result.fitted).sum())
    runs = int(last.sum())
    which = f"{runs} runs, {new} of them not fitted"
    if new in (0, runs):
        which = f"{runs} runs that the fit has {'not ' if new else ''}seen"
    entries = [(name, _marking(i)) for i, name in enumerate(KINDS)] if 0 < new < runs else []
    canvas.say(
        figure, f"Predictions are {percent(error, 2)} off on {which}", caption=" ".join(caption), entries=entries
    )
    return figure


def _parts(result: TablePrediction, target: str, rows: NDArray[np.bool_]) -> list[Series]:
    """The new runs first, then those fitted."""
    column = {kind: result.frame[f"{kind}/{target}"].to_numpy() for kind in ("pred", "low", "high")}
    return [
        Series(name, result.measured[target][mine], column["pred"][mine], (column["low"][mine], column["high"][mine]))
        for name, mine in zip(KINDS, (rows & ~result.fitted, rows & result.fitted), strict=True)
    ]


def _scatter(
    series: Mapping[str, Sequence[Series]], titles: Mapping[str, str], units: Mapping[str, str]
) -> tuple[Figure, int]:
    """A square panel per target; the first series filled and on top. Also the number of points beyond the frames."""
    figure, grid = panels(len(series), width=2.45, height=2.6)
    one_unit = set(units.values()) if len(set(units.values())) == 1 else set()
    clipped = 0
    for (target, parts), (axes, left, bottom) in zip(series.items(), grid, strict=True):
        clipped += _panel(axes, parts)
        axes.set_title(titles[target])
        unit = f", {units[target]}"
        if left or not one_unit:
            axes.set_ylabel(f"predicted{unit}")
        if bottom or not one_unit:
            axes.set_xlabel(f"measured{unit}")
    return figure, clipped


def _marking(place: int) -> dict[str, Any]:
    """Shape and colour of a series: the first filled, the others hollow."""
    colour = canvas.PALETTE[place]
    face = colour if place == 0 else "none"
    edge = canvas.PAPER if place == 0 else colour
    return {"marker": canvas.MARKERS[place], "color": colour, "markerfacecolor": face, "markeredgecolor": edge,
            "markersize": 6 if place == 0 else 5, "markeredgewidth": 0.6 if place == 0 else 1.1}  # fmt: skip


def _panel(axes: Axes, parts: Sequence[Series]) -> int:
    """Points, diagonal and equal axes; returns how many points lie beyond the frame, drawn at its edge."""
    from matplotlib.ticker import MaxNLocator

    low, high, clipped = *_frame(parts), 0
    axes.plot([low, high], [low, high], color=canvas.MUTED, linewidth=0.9, zorder=1, label="exact")
    for place, part in reversed(list(enumerate(parts))):
        inside = (part.predicted >= low) & (part.predicted <= high)
        look = _marking(place)
        if len(part.measured) > CROWD:
            look |= {"markersize": 0.6 * look["markersize"], "markeredgewidth": 0.6 * look["markeredgewidth"]}
        if part.interval is not None:
            ends = np.clip(np.vstack(part.interval), low, high)
            axes.vlines(part.measured, ends[0], ends[1], color=look["color"], linewidth=0.9, alpha=0.6, zorder=2)
        over = 4 - place / 9
        axes.plot(part.measured[inside], part.predicted[inside], linestyle="none", label=part.name, zorder=over, **look)
        for outside, edge, marker in ((part.predicted > high, high, "^"), (part.predicted < low, low, "v")):
            if outside.any():
                axes.plot(part.measured[outside], np.full(outside.sum(), edge), linestyle="none", clip_on=False,
                          label="_beyond", zorder=3, **{**look, "marker": marker})  # fmt: skip
                clipped += int(outside.sum())
    axes.set(xlim=(low, high), ylim=(low, high), aspect="equal")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
    return clipped


def _frame(parts: Sequence[Series]) -> tuple[float, float]:
    """Limits of both axes: all points, but no more than the span of the measured losses beyond them."""
    measured = np.concatenate([p.measured for p in parts])
    predicted = np.concatenate([p.predicted for p in parts])
    measured, predicted = measured[np.isfinite(measured)], predicted[np.isfinite(predicted)]
    low, high = float(measured.min()), float(measured.max())
    span = max(high - low, 0.01 * abs(high), 1e-6)
    low = max(min(low, float(predicted.min(initial=low))), low - span)
    high = min(max(high, float(predicted.max(initial=high))), high + span)
    return low - 0.06 * (high - low), high + 0.06 * (high - low)


def _left_out(shown: int, total: int, how: str) -> list[str]:
    return [f"{shown} of {total} targets, {how}."] if shown < total else []


def _beyond(clipped: int) -> list[str]:
    if not clipped:
        return []
    return ["One point lies beyond its frame (arrowhead)." if clipped == 1
            else f"{clipped} points lie beyond their frames (arrowheads)."]  # fmt: skip


@style()
def draw_intervals(predictions: Mapping[str, Prediction], units: Mapping[str, Unit], where: str = "") -> Figure:
    """The first row predicted: one line per target, value and 90 % interval; ``where`` names mixture and scale."""
    targets = some(list(predictions), LINES)
    first = {t: (float(p.value[0]), float(p.low[0]), float(p.high[0])) for t, p in predictions.items()}
    figure = canvas.figure(6.4, 0.5 + 0.24 * len(targets))
    axes = figure.add_subplot()
    for line, target in enumerate(targets):
        value, low, high = first[target]
        axes.plot([low, high], [line, line], color=canvas.PALETTE[0], linewidth=5, alpha=0.5, solid_capstyle="butt")
        axes.plot([value], [line], marker="|", color=canvas.PALETTE[0], markersize=9, markeredgewidth=2)
        axes.text(1.02, line, f"{value:.3f}  ({low:.3f}-{high:.3f})", transform=axes.get_yaxis_transform(), va="center",
                  fontsize=8)  # fmt: skip
    several = len({units[t] for t in targets}) > 1
    names = [canvas.short(t, 30) + (f" ({unit_of(units, t)})" if several else "") for t in targets]
    axes.set_yticks(range(len(targets)), names)
    axes.set(
        ylim=(len(targets) - 0.4, -0.6),
        xlabel="predicted loss" + ("" if several else f", {unit_of(units, targets[0])}"),
    )
    caption = "Bars and brackets: 90 % intervals."
    caption += "".join(f" {text}" for text in _left_out(len(targets), len(predictions), "in the order of the fit"))
    canvas.say(figure, f"Predicted loss{f': {where}' if where else ''}", caption=caption)
    return figure


def in_words(mixture: Mixture, params: float | None, tokens: float | None) -> str:
    """A mixture and a scale for a title: its four largest shares, size and tokens."""
    largest = sorted(mixture.shares.items(), key=lambda item: -item[1])
    listed = [f"{canvas.short(name)} {100 * share:.3g}%" for name, share in largest[:4]]
    scale = [f"{human(params)} parameters"] if params else []
    scale += [f"{human(tokens)} tokens"] if tokens else []
    return "; ".join(filter(None, [", ".join(scale), ", ".join([*listed, *(["..."] if len(largest) > 4 else [])])]))
