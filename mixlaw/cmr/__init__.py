"""The critical mixture ratio: the largest domain share of continual pre-training that does not cost general ability.

Two tests, arXiv 2407.17467: at the budget, general loss may be above the base model's by the tolerance at most (level
test), and it must have passed its peak (turning test). Either can bind; ``predict_cmr`` says which.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mixlaw.cmr.answer import answer_at, sampled_curves, share_rows
from mixlaw.cmr.data import Names, SizeData
from mixlaw.cmr.doubts import both_rising
from mixlaw.cmr.forgetting import Forgetting
from mixlaw.cmr.levels import levels_only
from mixlaw.cmr.model import SizeModel
from mixlaw.cmr.read import parse_base, read_sizes
from mixlaw.cmr.result import Answer, CmrOptions, Report, SizeReport, Tolerance
from mixlaw.errors import InputError

__all__ = [
    "Answer",
    "CmrOptions",
    "Names",
    "Report",
    "SizeData",
    "SizeReport",
    "Tolerance",
    "parse_base",
    "predict_cmr",
    "read_sizes",
]


def predict_cmr(
    sizes: Sequence[SizeData], names: Names, tokens: Sequence[float], *, options: CmrOptions | None = None
) -> Report:
    """Answer every size at every budget; sizes are fitted on their own.

    Args:
        sizes: as ``read_sizes`` gives them.
        names: of the corpora.
        tokens: budgets.
        options: how to answer.

    Raises:
        InputError: when a size has neither two shares below 1 with enough readings for a curve nor three with any.
    """
    options = options or CmrOptions()
    reports = tuple(_report(size, names, tokens, options) for size in sizes)
    return Report(names, options, reports, _on_sizes(reports))


def _report(size: SizeData, names: Names, tokens: Sequence[float], options: CmrOptions) -> SizeReport:
    # Every size draws from its own stream: other sizes in the table do not change its answer.
    rng = np.random.default_rng([options.seed, int(size.params) if math.isfinite(size.params) else 0])
    if len(size.knots) < 2:
        return _without_curves(size, tokens, options, rng)
    model = SizeModel.fit(size, form=options.form, draws=options.draws, rng=rng)
    rising = both_rising(size)
    answers = tuple(answer_at(model, budget, options, names, rising=rising) for budget in tokens)
    curves = sampled_curves(model, options.weight) if options.curves else None
    return SizeReport(size, share_rows(model), float(model.surface.noise[0]), model.interval, answers, curves)


def _without_curves(
    size: SizeData, tokens: Sequence[float], options: CmrOptions, rng: np.random.Generator
) -> SizeReport:
    forgetting = None if options.curves else Forgetting.fit(size, rng)
    if forgetting is None:
        raise InputError(
            "two domain shares below 1 with at least 5 readings of general loss at different tokens",
            f"{len(size.knots)}",
            where=size.label,
            hint="The turning point is read off curves of loss against tokens: log the loss during the runs, "
            "not only at the end.",
        )
    answers = tuple(levels_only(size, budget, options, forgetting) for budget in tokens)
    return SizeReport(size, (), float("nan"), "", answers)


def _on_sizes(reports: Sequence[SizeReport]) -> str:
    """What the sizes do and do not support."""
    if len(reports) < 2:
        return "One model size: the answer is for that size only, and nothing here says how it moves with size."
    order = sorted(reports, key=lambda r: r.data.params)
    shares, low, high = (
        np.array([[getattr(a, of) for a in r.answers] for r in order]) for of in ("share", "low", "high")
    )
    answered = np.isfinite(shares).all(axis=0)
    steps = np.diff(shares[:, answered], axis=0)
    if not steps.size:
        trend = "No budget has an answer at every size, so how it moves with size is open"
    elif np.all(steps > 0):
        trend = "The share grows with size at every budget answered"
    elif np.all(steps < 0):
        trend = "The share falls with size at every budget answered"
    else:
        trend = "The share does not move one way with size"
    if steps.size and bool(np.any((low[1:] <= high[:-1]) & (low[:-1] <= high[1:]))):
        trend += ", and intervals of neighbouring sizes overlap"
    return (
        f"{len(order)} model sizes, each fitted on its own. {trend}; the law has no term in size, so no answer is "
        f"given between the sizes or beyond {order[-1].data.label}: make runs at the size you will train."
    )
