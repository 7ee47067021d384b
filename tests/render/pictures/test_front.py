"""The picture of a front."""

from __future__ import annotations

import numpy as np
import pytest

from mixlaw.optimize.pareto import Front
from mixlaw.render.pictures.front import draw

pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")


def test_the_front_and_the_marks_stand_where_their_values_are() -> None:
    values = np.array([[1.0, 3.0], [1.5, 2.0], [2.0, 1.8]])
    front = Front(("loss/web", "bench/mmlu"), np.array([0.0, 0.5, 1.0]), values, np.full((3, 2), 0.5), ("web", "code"))
    (axes,) = draw(front, {"proposal": (1.4, 2.2), "best_observed": (1.6, 2.1)}).axes
    line, *marks = axes.lines
    assert np.array_equal(line.get_xydata(), values)
    assert [(m.get_label(), *m.get_xydata()[0]) for m in marks] == [("best observed", 1.6, 2.1), ("proposal", 1.4, 2.2)]
    assert len({m.get_marker() for m in marks} | {m.get_color() for m in marks}) == 4
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("predicted web loss, nats/token", "predicted mmlu accuracy")
