"""The trade-off between two losses or accuracies as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mixlaw.optimize.pareto import Front
from mixlaw.render.pictures import canvas
from mixlaw.render.pictures.canvas import style
from mixlaw.render.pictures.panels import EDGE, MARKS, unit_of
from mixlaw.units import Unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@style()
def draw(front: Front, marks: Mapping[str, tuple[float, float]], *, units: Mapping[str, Unit] | None = None) -> Figure:
    """Draw the front with marked mixtures by name (proposal, baselines), each as its two values.

    ``units`` are those of the losses by target.
    """
    figure = canvas.figure(6, 4.4)
    axes = figure.add_subplot()
    axes.plot(front.values[:, 0], front.values[:, 1], color=canvas.MUTED, marker="o", markersize=3, label="front")
    shown = [name for name in MARKS if name in marks]
    for name in reversed(shown):
        axes.plot(*marks[name], linestyle="none", label=name.replace("_", " "), zorder=4, **MARKS[name], **EDGE)
    axes.set_xlabel(_label(front.terms[0], units or {}))
    axes.set_ylabel(_label(front.terms[1], units or {}))
    entries: list[canvas.Entry] = [(name.replace("_", " "), {**MARKS[name], **EDGE}) for name in shown]
    entries.append(("front", {"color": canvas.MUTED, "linestyle": "-", "marker": "o", "markersize": 3}))
    first, second = (_name(term) for term in front.terms)
    canvas.say(figure, f"On the front, a better {first} costs {second}", entries=entries)
    return figure


def _name(term: str) -> str:
    return canvas.short(term.partition("/")[2])


def _label(term: str, units: Mapping[str, Unit]) -> str:
    kind = "accuracy" if term.startswith("bench/") else f"loss, {unit_of(units, term[5:])}"
    return f"predicted {_name(term)} {kind}"
