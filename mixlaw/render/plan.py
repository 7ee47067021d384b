"""A plan of proxy runs, a proposal and a replay as tables and as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rich.table import Table

from mixlaw.allocate.manifest import PlannedRun, manifest, target_mapping
from mixlaw.allocate.plan import Outcome, Plan
from mixlaw.allocate.replay import Replay
from mixlaw.allocate.sequential import Proposal
from mixlaw.allocate.sizes import size_label
from mixlaw.render.tables import percent, significant, table
from mixlaw.units import human

REGRET = "expected loss at the target, mean over targets, of the mixture you would pick minus that of the best one"
WORTH_SAYING = 0.01
"""Share of a budget that is left from which that is said."""


def cost_text(value: float, unit: str) -> str:
    """A cost with its unit left to the heading: ``3.2e+20`` FLOPs, ``120`` GPU-hours."""
    return f"{value:.3g}" if unit == "FLOPs" else significant(value)


def size_table(plan: Plan) -> Table:
    """Size, runs, tokens, cost and share of the budget of the plan that was asked for."""
    request, chosen = plan.request, plan.chosen
    rows: list[tuple[str, ...]] = []
    for size, count in zip(request.sizes, chosen.counts.tolist(), strict=True):
        spent = count * size.cost
        tokens = ", ".join(human(t) for t in size.tokens)
        rows.append((size.label, str(count), tokens, cost_text(size.cost, request.unit),
                     cost_text(spent, request.unit), percent(spent / request.budget)))  # fmt: skip
    rows.append(("all", str(int(chosen.counts.sum())), "", "", cost_text(chosen.spent, request.unit),
                 percent(chosen.spent / request.budget)))  # fmt: skip
    title = f"Plan: {plan.strategy}, budget {cost_text(request.budget, request.unit)} {request.unit}"
    return table(title, ["size", "runs", "tokens", f"{request.unit} a run", request.unit, "of budget"], rows)


def strategy_table(plan: Plan) -> Table:
    """Predicted error and regret at the target of every strategy."""
    request = plan.request
    labels = [size.label for size in request.sizes]
    target = f"{size_label(request.target.params, request.target.active)} on {human(request.target.tokens)} tokens"
    rows = [
        (name + (" *" if name == plan.strategy else ""), *(str(n) for n in o.counts), percent(o.spent / request.budget),
         percent(o.error, 2), significant(o.regret, 2))
        for name, o in sorted(plan.outcomes.items(), key=lambda item: item[1].error)
    ]  # fmt: skip
    return table(f"Predicted at {target}", ["strategy", *labels, "of budget", "error", "regret (nats)"], rows)


def run_table(runs: Sequence[PlannedRun], most: int = 12) -> Table:
    """The first runs with their largest shares."""
    rows = []
    for run in runs[:most]:
        shares = sorted(run.mixture.items(), key=lambda item: -item[1])
        listed = ", ".join(f"{name} {share:.2f}" for name, share in shares[:3])
        rows.append((run.name, run.origin, listed + (", ..." if len(shares) > 3 else "")))
    more = "" if len(runs) <= most else f" (first {most} of {len(runs)}; -o plan.yaml writes all)"
    return table(f"Runs{more}", ["name", "mixture", "largest shares"], rows, left=3)


def nesting_line(plan: Plan) -> str | None:
    """Whether sharing mixtures across sizes helps, when that was asked for."""
    if plan.unshared is None:
        return None
    with_sharing, without = plan.chosen.error, plan.unshared.error
    verdict = "helps" if with_sharing < without else "does not help"
    return (
        f"nested: sharing mixtures across sizes {verdict} here: predicted error {percent(with_sharing, 2)}, "
        f"{percent(without, 2)} with different mixtures at every size"
    )


def unspent_line(plan: Plan) -> str | None:
    """What is left of the budget, and what one run more is expected to do, where a run could still be bought."""
    share = plan.left / plan.request.budget
    if plan.one_more is None or share < WORTH_SAYING:
        return None
    now, then = percent(plan.chosen.error, 2), percent(plan.one_more, 2)
    left = f"{percent(share)} of the budget is left:"
    if plan.one_more >= plan.chosen.error:
        return f"{left} any one run more is expected to raise the error, from {now} to {then} at the least"
    return f"{left} one run more is expected to lower the error from {now} to {then} at best"


def plan_data(plan: Plan, runs: Sequence[PlannedRun], warnings: Sequence[str]) -> dict[str, Any]:
    """The JSON contract: the manifest with the table and the warnings."""
    request = plan.request
    counts = zip(request.sizes, plan.chosen.counts.tolist(), strict=True)
    sizes = [
        {"params": s.params, "tokens": list(s.tokens), "runs": n, "cost": n * s.cost, "flops": n * s.flops,
         "share": n * s.cost / request.budget}
        for s, n in counts
    ]  # fmt: skip
    nested = None if plan.unshared is None else _outcome(plan.unshared)
    return {
        **manifest(plan, runs),
        "unit": request.unit,
        "sizes": sizes,
        "unshared": nested,
        "warnings": list(warnings),
    }


def _outcome(outcome: Outcome) -> dict[str, float]:
    return {"relative_error": outcome.error, "regret": outcome.regret}


def proposal_table(proposal: Proposal, runs: Sequence[PlannedRun], unit: str) -> Table:
    """The runs to make next, with the regret that is expected to be left after each."""
    rows = [("now", "", "", "", "", significant(proposal.before, 3))]
    for run, step in zip(runs, proposal.steps, strict=True):
        shares = sorted(run.mixture.items(), key=lambda item: -item[1])[:3]
        rows.append((run.name, run.origin, ", ".join(f"{n} {s:.2f}" for n, s in shares),
                     human(run.size.tokens[-1]), cost_text(step.cost, unit), significant(step.regret, 3)))  # fmt: skip
    spent = cost_text(math.fsum(step.cost for step in proposal.steps), unit)
    columns = ["name", "mixture", "largest shares", "tokens", unit, "regret left"]
    return table(f"Run next, in this order: {spent} {unit} together", columns, rows, left=3)


def proposal_data(
    plan: Plan, proposal: Proposal, runs: Sequence[PlannedRun], warnings: Sequence[str]
) -> dict[str, Any]:
    """The proposal as a manifest with the warnings."""
    return {
        **({"budget": plan.request.budget} if math.isfinite(plan.request.budget) else {}),
        "spent": math.fsum(step.cost for step in proposal.steps),
        "strategy": "next",
        "target": target_mapping(plan.request),
        "predicted": {
            "regret_now": proposal.before,
            "regret_after": [step.regret for step in proposal.steps],
        },
        "prior": plan.prior.text,
        "seed": plan.request.seed,
        "warnings": list(warnings),
        "runs": [run.to_mapping() for run in runs],
    }


def replay_tables(replay: Replay) -> list[Table]:
    """One table a figure: strategies down, budgets across, with standard errors over seeds."""
    options = replay.options
    title = f"{human(replay.held_out)} predicted from {', '.join(human(s) for s in replay.sizes)}: "
    columns = ["strategy", *(f"{100 * b:g}% of FLOPs" for b in options.budgets)]
    figures = [
        ("error", f"{title}relative error % (all runs {100 * replay.full.error:.3f})", 100.0, 3),
        ("spearman", f"Spearman (all runs {replay.full.spearman:.4f})", 1.0, 4),
        ("regret", f"Regret, 1e-3 nats (all runs {1e3 * replay.full.regret:.2f})", 1e3, 2),
    ]
    tables = []
    for figure, heading, scale, digits in figures:
        rows = []
        for strategy in options.strategies:
            cells = [replay.mean(strategy, budget, figure) for budget in options.budgets]
            rows.append((strategy, *(_with_error(scale * m, scale * e, digits) for m, e in cells)))
        tables.append(table(heading, columns, rows))
    rows = [
        (s, *(f"{100 * replay.predicted(s, b):.2f} ({_counts(replay, s, b)})" for b in options.budgets))
        for s in options.strategies
    ]
    tables.append(table("Predicted error % (median runs by size)", columns, rows))
    return tables


def _with_error(mean: float, error: float, digits: int) -> str:
    return f"{mean:.{digits}f}" + ("" if error != error else f" ± {error:.{digits}f}")


def _counts(replay: Replay, strategy: str, budget: float) -> str:
    counts = sorted(t.counts for t in replay.cell(strategy, budget))
    return ":".join(str(n) for n in counts[len(counts) // 2])


def agreement_line(replay: Replay) -> str:
    """How well predicted errors foretell replayed ones."""
    correlation, factor = replay.agreement()
    text = f"predicted against replayed error: largest factor between them {factor:.2f}"
    return text if correlation != correlation else f"{text}, correlation of logs {correlation:.2f} over cells"


def replay_data(replay: Replay) -> dict[str, Any]:
    """The JSON contract."""
    options = replay.options
    cells = []
    for strategy in options.strategies:
        for budget in options.budgets:
            figures = {f: replay.mean(strategy, budget, f) for f in ("error", "spearman", "regret")}
            trials = replay.cell(strategy, budget)
            cells.append(
                {"strategy": strategy, "budget": budget, "predicted_error": replay.predicted(strategy, budget),
                 "spent": max(t.spent for t in trials), "counts": [list(t.counts) for t in trials],
                 **{f: {"mean": m, "standard_error": e} for f, (m, e) in figures.items()}}
            )  # fmt: skip
    correlation, factor = replay.agreement()
    return {
        "sizes": list(replay.sizes),
        "held_out": replay.held_out,
        "flops": replay.total,
        "seeds": options.seeds,
        "law": options.law,
        "all_runs": {"error": replay.full.error, "spearman": replay.full.spearman, "regret": replay.full.regret},
        "cells": cells,
        "agreement": {"correlation": correlation, "largest_factor": factor},
    }
