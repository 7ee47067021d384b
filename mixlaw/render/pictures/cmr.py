"""The critical mixture ratio as a picture: losses against tokens with T0 marked, and share against T0."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mixlaw.cmr import Report
from mixlaw.cmr.result import Answer, SizeReport
from mixlaw.render.pictures import canvas
from mixlaw.render.pictures.canvas import style
from mixlaw.render.tables import percent
from mixlaw.units import human

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_POINTS = 60
"""Readings drawn per run at most."""


@style()
def draw(report: Report) -> Figure:
    """Draw one row per size: general loss, domain loss, and share against T0 with the answers' intervals.

    ``report`` needs its curves (``CmrOptions.curves``).
    """
    rows = len(report.sizes)
    figure = canvas.figure(12, 0.9 + 3.2 * rows)
    axes = figure.subplots(rows, 3, squeeze=False)
    for line, size in zip(axes, report.sizes, strict=True):
        _general(line[0], size, report)
        _domain(line[1], size, report)
        _turning(line[2], size, report)
    canvas.say(figure, _statement(report))
    return figure


def _statement(report: Report) -> str:
    """The answers at the largest budget, by size."""
    last = max((a.tokens for size in report.sizes for a in size.answers), default=0.0)
    found = [(a.label, _share(a)) for size in report.sizes for a in size.answers if a.tokens == last and a.answered]
    if not found:
        return f"How much {report.names.domain} is safe at a token budget: no answer"
    listed = ", ".join(f"{share} ({label})" for label, share in found)
    return f"Safe share of {report.names.domain} at {human(last)} tokens: {listed}"


def _share(answer: Answer) -> str:
    beyond = " beyond those tested" if "share-extrapolated" in answer.flag_names else ""
    return f"{percent(answer.share)}{beyond}"


def _colours(count: int) -> list[Any]:
    from matplotlib import colormaps

    return [colormaps["viridis"](v) for v in np.linspace(0.3, 0.85, max(count, 1))]


def _general(axes: Axes, size: SizeReport, report: Report) -> None:
    """Increments of general loss: readings, fitted curves, T0."""
    name = report.names.general
    curves = size.curves
    assert curves is not None
    axes.axhline(0, color=canvas.MUTED, linewidth=0.8)
    for index, colour in enumerate(_colours(len(curves.shares))):
        share = float(curves.shares[index])
        _readings(axes, size, share, colour, domain=False)
        axes.plot(curves.tokens, curves.general[index], color=colour, linewidth=1.4, label=f"{share:.1%}")
        peak = size.rows[index].peak
        if peak <= curves.tokens[-1]:
            height = float(np.interp(peak, curves.tokens, curves.general[index]))
            axes.plot([peak], [height], marker="v", color=colour, markeredgecolor=canvas.INK, markersize=8)
    axes.set_title(f"{size.data.label}: {name} loss (triangle: T0)")
    _tokens_axis(axes, f"{name} loss above base, nats")
    axes.legend(title=f"{report.names.domain} share", loc="upper left")


def _domain(axes: Axes, size: SizeReport, report: Report) -> None:
    """Increments of domain loss: readings and fitted curves."""
    curves = size.curves
    assert curves is not None
    for index, colour in enumerate(_colours(len(curves.shares))):
        _readings(axes, size, float(curves.shares[index]), colour, domain=True)
        axes.plot(curves.tokens, curves.domain[index], color=colour, linewidth=1.4)
    if np.isnan(curves.domain).all():
        axes.text(0.5, 0.5, "not logged", ha="center", transform=axes.transAxes, color=canvas.MUTED)
    axes.set_title(f"{size.data.label}: {report.names.domain} loss")
    _tokens_axis(axes, f"{report.names.domain} loss above base, nats")


def _readings(axes: Axes, size: SizeReport, share: float, colour: Any, *, domain: bool) -> None:
    base = size.data.base_domain if domain else size.data.base_general
    for run in size.data.curves:
        if abs(run.share - share) > 1e-5:
            continue
        loss = run.domain if domain else run.general
        step = max(1, len(loss) // _POINTS)
        axes.plot(run.tokens[::step], loss[::step] - base, ".", color=colour, markersize=2.5, alpha=0.6)


def _turning(axes: Axes, size: SizeReport, report: Report) -> None:
    """Turning share against the budget, the runs' T0, and the answers with their intervals."""
    curves = size.curves
    assert curves is not None
    share, low, high = 100 * curves.law_share
    axes.fill_between(curves.law_tokens, low, high, color=canvas.PALETTE[0], alpha=0.2, linewidth=0)
    axes.plot(
        curves.law_tokens, share, color=canvas.PALETTE[0], linewidth=1.4, label=f"turning share ({report.options.form})"
    )
    shown = [row for row in size.rows if row.peak <= 2 * size.data.longest]
    axes.plot(
        [r.peak for r in shown], [100 * r.share for r in shown], "o", color=canvas.INK, markersize=5, label="T0 of runs"
    )
    axes.axvline(size.data.longest, color=canvas.MUTED, linestyle=":", linewidth=1, label="end of the longest run")
    for answer in size.answers:
        _answer(axes, answer)
    axes.set_ylim(0, 100)
    axes.set_title(f"{size.data.label}: share that has turned by T")
    _tokens_axis(axes, f"{report.names.domain} share, %")
    axes.legend(loc="upper left")


def _answer(axes: Axes, answer: Answer) -> None:
    if not answer.answered:
        return
    middle = 100 * answer.share
    error = None if math.isnan(answer.low) else [[middle - 100 * answer.low], [100 * answer.high - middle]]
    axes.errorbar([answer.tokens], [middle], yerr=error, fmt="s", color=canvas.PALETTE[1], markersize=5, capsize=4)
    label = _share(answer) + (" (tolerance)" if answer.binding == "tolerance" else "")
    axes.annotate(label, (answer.tokens, middle), xytext=(6, -10 if middle > 8 else 6), textcoords="offset points")


def _tokens_axis(axes: Axes, label: str) -> None:
    axes.set_xscale("log")
    canvas.count_axis(axes.xaxis)
    axes.set_xlabel("tokens")
    axes.set_ylabel(label)
