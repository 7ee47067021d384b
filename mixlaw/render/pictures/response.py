"""Loss against the share of one domain as a picture: small multiples, a row per target and a column per domain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mixlaw.fits import FitSet
from mixlaw.laws.base import Floats
from mixlaw.render.pictures.canvas import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@style()
def draw(fits: FitSet, *, centre: Floats | None = None) -> Figure:
    """Fitted loss along lines through ``centre`` (K,), the mean mixture of the runs if left out, with the runs."""
    raise NotImplementedError
