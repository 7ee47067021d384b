"""The trade-off between two losses or accuracies as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mixlaw.optimize.pareto import Front
from mixlaw.render.pictures import canvas
from mixlaw.render.pictures.canvas import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@style()
def draw(front: Front, marks: Mapping[str, tuple[float, float]]) -> Figure:
    """Draw the front with marked mixtures by name (proposal, baselines), each as its two values."""
    figure = canvas.figure(6, 4.8)
    axes = figure.add_subplot()
    axes.plot(front.values[:, 0], front.values[:, 1], color=canvas.MUTED, marker="o", markersize=3, label="front")
    for index, (name, (first, second)) in enumerate(marks.items()):
        axes.plot(
            first, second, linestyle="none", marker=canvas.MARKERS[index], color=canvas.PALETTE[index], markersize=8,
            markeredgecolor=canvas.PAPER, label=name.replace("_", " "),
        )  # fmt: skip
    axes.set_xlabel(_label(front.terms[0]))
    axes.set_ylabel(_label(front.terms[1]))
    axes.legend()
    canvas.say(figure, f"What {_name(front.terms[0])} costs in {_name(front.terms[1])}")
    return figure


def _name(term: str) -> str:
    return canvas.short(term.partition("/")[2])


def _label(term: str) -> str:
    kind = "accuracy" if term.startswith("bench/") else "predicted loss"
    return f"{_name(term)}, {kind}"
