"""Predictions and their scores as tables."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import fmean

from rich.table import Table

from mixlaw.check.scores import Scores
from mixlaw.fits import Prediction
from mixlaw.predicting import TablePrediction
from mixlaw.render.tables import percent, table
from mixlaw.units import Unit


def prediction_table(predictions: Mapping[str, Prediction], units: Mapping[str, Unit]) -> Table:
    """One row per target: value and 90 % interval of the first row predicted."""
    rows = [
        (target, f"{p.value[0]:.4f}", f"{p.low[0]:.4f}", f"{p.high[0]:.4f}", units[target].value)
        for target, p in predictions.items()
    ]
    return table("Predicted loss", ["target", "value", "low (5%)", "high (95%)", "unit"], rows)


def score_table(result: TablePrediction) -> Table:
    """One row per target, and their mean."""
    rows = [_row(target, s, result.covered[target]) for target, s in result.scores.items()]
    if len(rows) > 1:
        rows.append(_row("mean", _mean(list(result.scores.values())), fmean(result.covered.values())))
    columns = ["target", "runs", "mean relative error", "in 90 % interval", "Spearman", "pairs in order", "regret"]
    of = f"; {result.seen_runs} of {result.runs} runs were fitted: no accuracy" if result.seen_runs else ""
    return table(f"Against measured losses, last checkpoint of each run{of}", columns, rows)


def _row(name: str, s: Scores, covered: float) -> tuple[str, ...]:
    inside = percent(covered, 0) if math.isfinite(covered) else "-"
    order = f"{s.spearman:.3f}" if math.isfinite(s.spearman) else "-"
    return name, str(s.count), percent(s.error, 2), inside, order, percent(s.pairwise), f"{s.regret:.4f}"


def _mean(scores: list[Scores]) -> Scores:
    names = ("error", "spearman", "pairwise", "regret", "optimism")
    return Scores(max(s.count for s in scores), *(fmean(getattr(s, n) for s in scores) for n in names))
