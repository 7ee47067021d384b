"""Curves from losses to accuracies, and predicted accuracies, as tables."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table

from mixlaw.benchmark import Accuracy, Curve
from mixlaw.render.tables import percent, table
from mixlaw.units import shorten


def curve_table(curves: Mapping[str, Curve]) -> Table:
    """One row per task: how well its accuracy follows from losses, or why it does not."""
    rows = [
        (
            task,
            shorten(curve.inputs, 2) or "-",
            curve.reason or "predictable",
            f"{percent(curve.chance, 0)}{_assumed(curve)}",
            f"{percent(curve.seen[0])} - {percent(curve.seen[1])}",
            f"{100 * curve.held_out:.1f}",
            f"{100 * curve.constant:.1f}",
        )
        for task, curve in curves.items()
    ]
    columns = ["task", "read from loss", "verdict", "chance", "seen", "error (points)", "of a constant"]
    return table("Benchmarks (errors on the third of the rows with the lowest losses, held out)", columns, rows, left=3)


def accuracy_table(accuracies: Mapping[str, Accuracy], curves: Mapping[str, Curve]) -> Table:
    """One row per task: accuracy with its 90 % interval, or why there is none."""
    rows = []
    for task, curve in curves.items():
        found = accuracies.get(task)
        numbers = ("-", "-", "-") if found is None else tuple(percent(v) for v in (found.value, found.low, found.high))
        chance = f"{percent(curve.chance)}{_assumed(curve)}"
        rows.append((task, *numbers, chance, curve.reason and f"not predictable ({curve.reason})"))
    return table("Predicted accuracy", ["task", "value", "low (5%)", "high (95%)", "chance", ""], rows)


def _assumed(curve: Curve) -> str:
    """Marks the chance level of a task that nobody has told."""
    return " assumed" if curve.source.startswith("unknown") else ""
