"""The predicted objective around a proposed mixture as a picture: slices through the simplex."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mixlaw.optimize import Choice
from mixlaw.render.pictures.canvas import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@style()
def draw(choice: Choice) -> Figure:
    """Contours of the objective with runs, baselines, the proposal, and what is within the noise of one run."""
    raise NotImplementedError
