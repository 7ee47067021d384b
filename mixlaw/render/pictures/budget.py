"""What a budget buys as a picture: expected error by strategy, or the error that a replay measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mixlaw.allocate.plan import Plan
from mixlaw.allocate.replay import Replay
from mixlaw.render.pictures.canvas import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@style()
def draw(plans: Sequence[Plan]) -> Figure:
    """Expected error at the target over budgets, a line per strategy; ``plans`` as ``allocate.ladder`` makes them."""
    raise NotImplementedError


@style()
def draw_replay(replay: Replay) -> Figure:
    """Measured error on the held-out size over budgets, with standard errors, a line per strategy."""
    raise NotImplementedError
