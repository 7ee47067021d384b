"""A plan as a file: one entry per run, ready for a launcher and as the sheet of ``mixlaw ingest --mixtures``."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mixlaw.allocate.plan import Outcome, Plan, PlanRequest
from mixlaw.allocate.sizes import Size
from mixlaw.laws.base import Floats

DIGITS = 12


@dataclass(frozen=True)
class PlannedRun:
    """One run to make.

    Attributes:
        name: unique in the plan.
        size: parameters, tokens, cost.
        seed: for the launcher.
        mixture: shares by domain, summing to 1.
        origin: where the mixture comes from.
    """

    name: str
    size: Size
    seed: int
    mixture: dict[str, float]
    origin: str

    def to_mapping(self) -> dict[str, Any]:
        """The entry of the manifest."""
        out: dict[str, Any] = {"name": self.name, "params": whole(self.size.params)}
        if self.size.active is not None:
            out["params_active"] = whole(self.size.active)
        out |= {"tokens": whole(self.size.tokens[-1]), "flops": self.size.flops, "seed": self.seed}
        if len(self.size.tokens) > 1:
            out["checkpoints"] = [whole(t) for t in self.size.tokens]
        if self.size.price is not None:
            out["cost"] = self.size.price
        return out | {"mixture": self.mixture}


def whole(value: float) -> float | int:
    """A count without a decimal point, where it has nothing behind it."""
    return int(value) if value.is_integer() else value


def planned_runs(plan: Plan) -> tuple[PlannedRun, ...]:
    """The runs of a plan, the smallest sizes first."""
    return runs_at(plan, plan.chosen.runs.tolist())


def runs_at(plan: Plan, positions: Sequence[int], *, first: int = 1) -> tuple[PlannedRun, ...]:
    """Runs at some positions of the menu, numbered by size from ``first``."""
    request, menu = plan.request, plan.menu
    seen: dict[int, int] = {}
    out: list[PlannedRun] = []
    for position in positions:
        place, which = int(menu.size[position]), int(menu.mixture[position])
        seen[place] = seen.get(place, first - 1) + 1
        size = request.sizes[place]
        out.append(
            PlannedRun(
                name=f"{size.label}-{seen[place]:03d}",
                size=size,
                seed=request.seed + len(out) + first - 1,
                mixture=printed(request.names, plan.candidates.shares[which]),
                origin=plan.candidates.names[which],
            )
        )
    return tuple(out)


def printed(names: Sequence[str], shares: Floats) -> dict[str, float]:
    """Shares with ``DIGITS`` decimals, the rounding put on the largest, so that the printed ones sum to 1."""
    rounded = [round(float(s), DIGITS) for s in shares]
    largest = int(np.argmax(shares))
    rest = math.fsum(r for i, r in enumerate(rounded) if i != largest)
    rounded[largest] = round(1 - rest, DIGITS)
    return {name: share for name, share in zip(names, rounded, strict=True) if share > 0}


def manifest(plan: Plan, runs: Sequence[PlannedRun]) -> dict[str, Any]:
    """The manifest of a plan: budget, spend, target and predicted errors above the runs."""
    request = plan.request
    return {
        **_head(request),
        "spent": math.fsum(run.size.cost for run in runs),
        **_unspent(plan),
        "strategy": plan.strategy,
        "target": target_mapping(request),
        "predicted": {name: predicted(o) for name, o in plan.outcomes.items()},
        "prior": plan.prior.text,
        "seed": request.seed,
        "runs": [run.to_mapping() for run in runs],
    }


def _unspent(plan: Plan) -> dict[str, Any]:
    """What is left although it would buy a run, and the expected error if the best such run was bought."""
    if plan.one_more is None:
        return {}
    return {"unspent": {"left": plan.left, "relative_error_with_one_more_run": plan.one_more}}


def _head(request: PlanRequest) -> dict[str, Any]:
    return {"budget": request.budget, **({} if request.unit == "FLOPs" else {"unit": request.unit})}


def target_mapping(request: PlanRequest) -> dict[str, float]:
    """The target as written in files."""
    target = request.target
    active = {} if target.active is None else {"params_active": whole(target.active)}
    return {"params": whole(target.params), **active, "tokens": whole(target.tokens)}


def predicted(outcome: Outcome) -> dict[str, Any]:
    """What one strategy is expected to reach."""
    return {
        "runs": int(outcome.counts.sum()),
        "spent": outcome.spent,
        "relative_error": outcome.error,
        "regret": outcome.regret,
    }


def to_csv(runs: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str:
    """Entries of a manifest as a table that ``mixlaw ingest --mixtures`` reads, one row a run."""
    text = io.StringIO()
    facts = ("name", "params", "params_active", "tokens", "flops", "seed")
    head = [key for key in facts if any(key in run for run in runs)]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*head, *(f"mix/{name}" for name in names)])
    for run in runs:
        mixture = run["mixture"]
        writer.writerow([*(run.get(key, "") for key in head), *(mixture.get(name, 0.0) for name in names)])
    return text.getvalue()
