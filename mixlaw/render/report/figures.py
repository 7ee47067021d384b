"""The pictures of the page; without matplotlib there are none, and the page says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

from mixlaw.render.report.content import Report
from mixlaw.render.report.markup import Markup, box, element

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MISSING = "Pictures need matplotlib: pip install 'mixlaw[plot]'."


def can_draw() -> bool:
    """Whether matplotlib is there."""
    return find_spec("matplotlib") is not None


def pictures(report: Report) -> dict[str, Markup]:
    """Figures by section, where there is something to draw."""
    if not can_draw():
        return {}
    from mixlaw.render.pictures import canvas

    return {
        name: element(
            "figure",
            element("figcaption", said),
            box(Markup(canvas.svg(draw(), name)), said),
            class_="drawn",
        )
        for name, said, draw in _drawings(report)
    }


def _drawings(report: Report) -> Iterator[tuple[str, str, Callable[[], Figure]]]:
    from mixlaw.render.pictures import predicted, response, slices

    choice = report.choice
    yield "slices", "The objective around the proposal", lambda: slices.draw(choice)
    yield "response", "Losses as shares move", lambda: response.draw(choice.fits, centre=choice.mixture)
    if report.comparison is not None:
        comparison = report.comparison
        yield "predicted", "Predicted against measured, on held-out runs", lambda: predicted.draw(comparison)
