"""A comparison as a table, a verdict in words, and detail per target."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np
from rich.table import Table
from rich.text import Text

from mixlaw.check.compare import Comparison, Row
from mixlaw.check.noise import SeedNoise
from mixlaw.check.scores import Scores
from mixlaw.render.tables import percent, table
from mixlaw.units import shorten

SHOWN = 6
"""Laws in the table by target."""
FIGURES = ("error", "spearman", "pairwise", "regret", "optimism")


def comparison_table(result: Comparison) -> Table:
    """One row per law and baseline; the best and its ties in bold."""
    best = [r for r in result.rows if math.isfinite(r.error)][:1]
    strong = {best[0].name, *result.ties()} if best else set()
    rows = [_cells(row, bold=row.name in strong) for row in result.rows if not row.lacks]
    columns = ["law", "error", "Spearman", "pairs", "regret", "optimism", "par.", "time"]
    return table(f"Held out: {result.held_out} ({result.runs} runs; fitted without them)", columns, rows)


def _cells(row: Row, *, bold: bool) -> list[Text | str]:
    name = Text(row.name, style="bold" if bold else "")
    if row.order_only:
        return [name, "-", "-", "-", _number(row.decision.regret), "-", "-", "-"]
    return [
        name,
        percent(row.error, 2),
        _number(row.mean("spearman"), 3),
        percent(row.mean("pairwise")),
        _number(row.decision.regret),
        _number(row.mean("optimism")),
        str(row.parameters) if row.parameters else "-",
        f"{row.seconds:.1f}s" if row.seconds else "-",
    ]


def _number(value: float, digits: int = 4) -> str:
    return "-" if not math.isfinite(value) else f"{value:.{digits}f}"


def target_table(result: Comparison) -> Table:
    """Mean relative error of the best few laws on each target."""
    rows = [r for r in result.rows if math.isfinite(r.error)][:SHOWN]
    targets = list(rows[0].scores) if rows else []
    body = [[t, *(percent(r.scores[t].error, 2) for r in rows)] for t in targets]
    return table(f"Mean relative error by target, the best {len(rows)}", ["target", *(r.name for r in rows)], body)


def verdict(result: Comparison) -> list[str]:
    """What the table says, in sentences."""
    judged = [r for r in result.rows if math.isfinite(r.error)]
    if not judged:
        return ["No law could be fitted: " + "; ".join(f"{r.name}: {r.lacks}" for r in result.rows if r.lacks)]
    best, ties = judged[0], result.ties()
    lines = [f"{best.name} predicts best: {percent(best.error, 2)} mean relative error on runs that it has not seen."]
    if ties:
        lines.append(f"Within the noise of it (a tie): {shorten(ties)}.")
    chosen = [r for r in result.rows if not r.lacks and math.isfinite(r.decision.regret)]
    if chosen:
        lines.append(_regrets(best, chosen))
    lines.append(_noise(result.noise))
    lines += [f"Not tried: {r.name}: {r.lacks}" for r in result.rows if r.lacks]
    return lines


def _regrets(best: Row, chosen: list[Row]) -> str:
    least = min(r.decision.regret for r in chosen)
    rules = [f"{r.name} {r.decision.regret:.4f}" for r in chosen if r.order_only]
    cost = f"costs {best.decision.regret:.4f} of mean loss against the best held-out run"
    text = f"Choosing the mixture by {best.name} {cost}"
    if best.decision.regret > least:
        cheapest = [r.name for r in chosen if r.decision.regret == least]
        text += f" ({shorten(cheapest, 3)}: {least:.4f})"
    return f"{text}; by rule of thumb: {', '.join(rules)}." if rules else f"{text}."


def _noise(noise: SeedNoise | None) -> str:
    """What the seed alone does, to read errors and regrets against."""
    if noise is None:
        return "Seed noise: unknown, no mixture was run twice at one size and token count (two more seeds would tell)."
    text = (
        f"Seed noise: {noise.runs} runs of {noise.configurations} repeated configurations scatter by "
        f"{percent(float(np.mean(list(noise.relative.values()))), 2)} per loss"
    )
    if math.isfinite(noise.mean_loss):
        text += f" and {noise.mean_loss:.4f} in mean loss"
    return f"{text} (sd of one run): a perfect law would show an error of {percent(noise.floor, 2)}."


def as_json(result: Comparison) -> dict[str, Any]:
    """Plain data with every figure, by law and by target."""
    return {
        "held_out": result.held_out,
        "runs": result.runs,
        "laws": [
            {
                "name": r.name,
                "error": r.error,
                **{figure: r.mean(figure) for figure in FIGURES[1:]},
                "decision_regret": r.decision.regret,
                "parameters": r.parameters,
                "lacks": r.lacks,
                "targets": {t: _scores(s) for t, s in r.scores.items()} if not r.order_only else {},
            }
            for r in result.rows
        ],
        "ties": result.ties(),
        "choices": [c.as_evidence()["choice"] for c in result.choices],
        "seed_noise": None if result.noise is None else {**asdict(result.noise), "floor": result.noise.floor},
        "verdict": verdict(result),
    }


def _scores(scores: Scores) -> dict[str, float]:
    return {figure: getattr(scores, figure) for figure in ("count", *FIGURES)}
