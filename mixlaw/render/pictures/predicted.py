"""Predicted against measured losses as a picture: laws on held-out runs, or one fit on the rows of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mixlaw.check.compare import Comparison
from mixlaw.predicting import TablePrediction
from mixlaw.render.pictures.canvas import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@style()
def draw(result: Comparison) -> Figure:
    """Held-out runs: a panel per target, ``auto`` (or the best law) and up to three others."""
    raise NotImplementedError


@style()
def draw_table(result: TablePrediction) -> Figure:
    """Rows of a table with intervals: a panel per target, runs that the fit has not seen marked apart."""
    raise NotImplementedError
