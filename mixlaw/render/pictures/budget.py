"""What a budget buys as a picture: expected error by strategy, or the error that a replay measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mixlaw.allocate.plan import Plan
from mixlaw.allocate.replay import Replay
from mixlaw.allocate.sizes import size_label
from mixlaw.render.pictures import canvas
from mixlaw.render.pictures.canvas import style
from mixlaw.render.pictures.panels import end_labels
from mixlaw.render.tables import percent
from mixlaw.units import human

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LINES = (*canvas.PALETTE, canvas.MUTED, canvas.INK)
_MARKERS = (*canvas.MARKERS, "X", "*")


@style()
def draw(plan: Plan, others: Sequence[Plan] = ()) -> Figure:
    """Expected error at the target over budgets, a line per strategy; ``others`` as ``allocate.ladder`` makes them."""
    figure = canvas.figure(7.2, 4.2)
    axes = figure.add_subplot()
    plans = sorted([plan, *others], key=lambda one: one.request.budget)
    budgets = [one.request.budget for one in plans]
    names = sorted(plan.outcomes, key=lambda n: (n != plan.strategy, plan.outcomes[n].error))
    ends = []
    for place, name in enumerate(names):
        errors = [one.outcomes[name].error for one in plans]
        wide = 2.4 if name == plan.strategy else 1.2
        axes.plot(budgets, errors, color=_LINES[place], marker=_MARKERS[place], linewidth=wide, markersize=4.5,
                  label=name, zorder=4 if place == 0 else 3)  # fmt: skip
        ends.append((name, errors[-1], _LINES[place]))
    axes.set_xscale("log")
    axes.set_xlabel(f"budget, {plan.request.unit}")
    axes.set_xticks(budgets, [_cost(b, plan.request.unit) for b in budgets])
    axes.axvline(plan.request.budget, color=canvas.MUTED, linewidth=0.8, linestyle=":")
    _error_axis(axes, "expected relative error at the target")
    end_labels(axes, ends)
    best = plan.outcomes[plan.strategy]
    target = plan.request.target
    where = f"{size_label(target.params, target.active)} on {human(target.tokens)} tokens"
    statement = f"{plan.strategy}: {percent(best.error, 2)} expected error at {where}"
    money = f"{_cost(plan.request.budget, plan.request.unit)} {plan.request.unit}"
    law = plan.prior.text.partition(":")[0]
    caption = f"Dotted: the budget asked for, {money}. Expected before any run is made; law: {law}."
    least = min(plans, key=lambda one: one.outcomes[plan.strategy].error)
    if least.request.budget < plan.request.budget and least.outcomes[plan.strategy].error < best.error:
        cost = f"{_cost(least.request.budget, plan.request.unit)} {plan.request.unit}"
        caption += (
            f" A smaller budget is expected to do better: {cost}, {percent(least.outcomes[plan.strategy].error, 2)}."
        )
    canvas.say(figure, statement, caption=caption)
    return figure


@style()
def draw_replay(replay: Replay) -> Figure:
    """Measured error on the held-out size over budgets, with standard errors, a line per strategy."""
    options = replay.options
    figure = canvas.figure(7.2, 4.2)
    axes = figure.add_subplot()
    order = sorted(
        options.strategies, key=lambda s: sum(np.log(replay.mean(s, b, "error")[0]) for b in options.budgets)
    )
    ends = []
    for place, name in enumerate(order):
        found = np.array([replay.mean(name, budget, "error") for budget in options.budgets])
        apart = np.exp(0.012 * (place - (len(order) - 1) / 2))  # so that bars do not hide one another
        axes.errorbar(np.array(options.budgets) * apart, found[:, 0], yerr=np.nan_to_num(found[:, 1]),
                      color=_LINES[place], marker=_MARKERS[place], linewidth=1.3,
                      markersize=4.5, capsize=2, label=name)  # fmt: skip
        ends.append((name, float(found[-1, 0]), _LINES[place]))
    axes.axhline(replay.full.error, color=canvas.MUTED, linewidth=0.9, linestyle=":")
    ends.append(("all runs", replay.full.error, canvas.MUTED))
    axes.set_xscale("log")
    axes.set_xticks(options.budgets, [f"{100 * b:g}%" for b in options.budgets])
    axes.set_xlabel("budget, share of the FLOPs of all fitting runs")
    _error_axis(axes, f"measured relative error at {human(replay.held_out)}")
    end_labels(axes, ends)
    canvas.say(figure, _verdict(replay, order), caption=_replay_caption(replay))
    return figure


def _verdict(replay: Replay, order: Sequence[str]) -> str:
    """Which strategy has the smallest error at each budget."""
    best = [min(order, key=lambda s: replay.mean(s, b, "error")[0]) for b in replay.options.budgets]
    if len(set(best)) == 1:
        return f"{best[0]} has the smallest error at every budget"
    parts = [f"{name} at {100 * b:g}%" for name, b in zip(best, replay.options.budgets, strict=True)]
    return f"Smallest error: {', '.join(parts)}"


def _replay_caption(replay: Replay) -> str:
    options = replay.options
    seeds = f"mean over {options.seeds} seeds, bars one standard error" if options.seeds > 1 else "one seed"
    sizes = ", ".join(human(s) for s in replay.sizes)
    return f"Runs bought from those at {sizes}, {options.law} refitted, scored at {human(replay.held_out)}; {seeds}."


def _error_axis(axes: Axes, label: str) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 4, 5, 7), numticks=12))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.3g}%"))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_formatter(NullFormatter())
    axes.minorticks_off()
    axes.set_ylabel(label)


def _cost(value: float, unit: str) -> str:
    """FLOPs with an exponent, money and hours as people write them."""
    return f"{value:.2g}".replace("e+", "e") if unit == "FLOPs" else human(value)
