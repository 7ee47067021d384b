"""A table of end losses without curves: the turning test cannot be made, the other two questions can."""

from __future__ import annotations

import math

import numpy as np

from mixlaw.cmr.data import FULL, SizeData
from mixlaw.cmr.doubts import lr_flags
from mixlaw.cmr.flags import Doubt, Flag
from mixlaw.cmr.forgetting import Forgetting, ShareAnswer, crossing_share
from mixlaw.cmr.result import Answer, CmrOptions
from mixlaw.units import human

_NAN = float("nan")
_SAME_LENGTH = 0.02
"""Runs and budgets that differ by less are of one length."""


def levels_only(size: SizeData, tokens: float, options: CmrOptions, forgetting: Forgetting) -> Answer:
    """Forgetting budget and loss crossing from end losses."""
    far = tokens > 2 * size.longest
    unknown = ShareAnswer(_NAN, _NAN, "the budget is beyond twice the longest run")
    short = sorted({run.share for run in size.mixed})
    flags = [Flag(Doubt.FEW_READINGS, "shares " + ", ".join(f"{s:.3g}" for s in short)), *lr_flags(size)]
    if far:
        flags.append(Flag(Doubt.TOKENS_BEYOND_2X, f"{human(tokens)} against {human(size.longest)}"))
    budget = unknown if far else forgetting.budget(tokens, options.forget)
    return Answer(
        params=size.params, label=size.label, tokens=tokens, share=_NAN, low=_NAN, high=_NAN, binding="none",
        turning_share=_NAN, tolerance_share=_NAN, extrapolated=_NAN, peaks={}, flags=tuple(flags), by_weight={},
        by_form={}, interpolated=_NAN, law=None, increment=_NAN, domain_loss=_NAN, domain_error=_NAN, back=_NAN,
        forgetting=budget, crossing=_crossing(size, tokens), next_run=None, advice=_advice(budget, options),
    )  # fmt: skip


def _crossing(size: SizeData, tokens: float) -> ShareAnswer:
    """The loss crossing from the ends of the runs that are as long as the budget."""
    ends = [
        (run.share, float(run.general[np.isfinite(run.general)][-1]) - size.base_general)
        for run in size.mixed
        if run.readings and abs(run.tokens[-1] / tokens - 1) < _SAME_LENGTH and run.share < FULL
    ]
    if len({share for share, _ in ends}) < 3:
        return ShareAnswer(_NAN, _NAN, f"needs 3 shares with runs of {human(tokens)}")
    shares, increments = np.array(sorted(ends)).T
    return crossing_share(shares, increments)


def _advice(budget: ShareAnswer, options: CmrOptions) -> str:
    text = (
        "No critical mixture ratio: the turning point is read off curves, and no two shares have 5 readings of general "
        "loss at different tokens. Log the loss during the runs, not only at the end."
    )
    if math.isnan(budget.share):
        return text
    return f"{text} The forgetting budget of {100 * options.forget:.3g} % of the base loss allows {budget.share:.1%}."
