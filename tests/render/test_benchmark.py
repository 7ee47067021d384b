"""Tables of curves from losses to accuracies."""

from __future__ import annotations

from typing import Any

import pytest

from mixlaw.benchmark import Curve
from mixlaw.render.benchmark import accuracy_table, curve_table


def curve(chance: float, source: str) -> Curve:
    return Curve(
        "t", chance, source, None, ("web",), (0.0,), {}, {}, "", held_out=0.01, constant=0.02, residual=0.01,
        points=9, runs=3, seen=(0.2, 0.5),
    )  # fmt: skip


def cells(table: Any, title: str) -> list[str]:
    return next([str(cell) for cell in column.cells] for column in table.columns if column.header == title)


@pytest.mark.parametrize(("known", "mark"), [("given", ""), ("unknown, 0 assumed", " assumed")])
def test_a_chance_level_that_nobody_told_is_called_assumed(known: str, mark: str) -> None:
    curves = {"t": curve(0.0, known)}
    assert cells(curve_table(curves), "chance") == [f"0%{mark}"]
    assert cells(accuracy_table({}, curves), "chance") == [f"0.0%{mark}"]
