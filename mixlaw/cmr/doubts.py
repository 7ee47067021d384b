"""When each flag of an answer is raised."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixlaw.cmr.data import ENOUGH_READINGS, FULL, SizeData
from mixlaw.cmr.flags import Doubt, Flag
from mixlaw.cmr.interval import Interval
from mixlaw.cmr.model import SizeModel
from mixlaw.cmr.result import Binding
from mixlaw.cmr.samples import ENOUGH_RUNS
from mixlaw.units import human

Floats = NDArray[np.float64]

_WARM_UP = 0.1
_LR_WITHIN, _LR_BETWEEN = 1.2, 1.05
_VISIBLE = 1e-5
WIDE = 0.2
TIGHT = 0.01
"""An interval narrower than this, from end to end, needs no further run and no doubt about the law's shape."""
QUIET = 1e-6
"""Noise below this many nats is rounding, and its correlation means nothing."""


@dataclass(frozen=True)
class Judged:
    """The two tests at one budget.

    Attributes:
        z: ln(budget / longest run).
        share: the answer, NaN where no share is feasible.
        interval: around it.
        binding: the test that stops the share, or "none".
        raw: turning share as the law gives it.
        turning: the same within 0 to 1.
        tolerance: largest share within the tolerance.
        idle: no tested share exceeds the tolerance.
        split: the feasible shares are not one interval.
    """

    z: float
    share: float
    interval: Interval
    binding: Binding
    raw: float
    turning: float
    tolerance: float
    idle: bool
    split: bool


def both_rising(size: SizeData) -> bool:
    """Whether in most runs both losses end above the base model's by 3 standard errors (last quarter's mean)."""
    if not np.isfinite(size.base_domain):
        return False
    verdicts = [_above(r.general, size.base_general) and _above(r.domain, size.base_domain) for r in size.runs]
    return sum(verdicts) > len(verdicts) / 2


def _above(loss: Floats, base: float) -> bool:
    late = loss[np.isfinite(loss)]
    late = late[-max(1, len(late) // 4) :]
    if not len(late):
        return False
    error = late.std() / math.sqrt(len(late))
    return bool(late.mean() - base > max(3 * error, 1e-6))


def run_flags(model: SizeModel, weight: float, *, rising: bool) -> tuple[Flag, ...]:
    """Flags that hold at every budget."""
    size = model.data
    flags = [Flag(Doubt.BOTH_LOSSES_RISING)] if rising else []
    if len(model.shares) < 4:
        flags.append(Flag(Doubt.FEW_SHARES, f"{len(model.shares)}"))
    full = [run.name for run in size.runs if run.share >= FULL]
    if full:
        flags.append(Flag(Doubt.FULL_DOMAIN_LEFT_OUT, f"{len(full)} run{'s' * (len(full) > 1)}"))
    short = sorted({run.share for run in size.mixed if run.readings < ENOUGH_READINGS})
    if short:
        flags.append(Flag(Doubt.FEW_READINGS, _listed(short)))
    if not size.has_domain:
        flags.append(Flag(Doubt.DOMAIN_LOSS_MISSING))
    counts = np.bincount(model.readings.knot, minlength=len(model.shares))
    if counts.min() < ENOUGH_RUNS:
        flags.append(Flag(Doubt.RUN_NOISE_UNSEEN))
    correlation, noise = float(model.surface.correlation[0]), float(model.surface.noise[0])
    if size.spikes:
        flags.append(Flag(Doubt.SPIKES_LEFT_OUT, f"{size.spikes}"))
    if model.misfit > 3 and noise > _VISIBLE:
        flags.append(Flag(Doubt.POOR_FIT, f"{model.misfit:.1f} times"))
    if noise <= QUIET:
        flags.append(Flag(Doubt.NO_NOISE))
    elif correlation > 0.2:
        flags.append(Flag(Doubt.CORRELATED_READINGS, f"{correlation:.2f}"))
    return (*flags, *lr_flags(size), *_turn_flags(model, weight))


def _listed(shares: list[float]) -> str:
    return "shares " + ", ".join(f"{s:.3g}" for s in shares) if len(shares) > 1 else f"share {shares[0]:.3g}"


def lr_flags(size: SizeData) -> list[Flag]:
    """Whether the learning rate was constant within and between runs, as far as it is logged."""
    medians, flags = [], []
    changing = []
    for run in size.runs:
        settled = run.lr[np.isfinite(run.lr) & (run.tokens >= _WARM_UP * run.tokens[-1])]
        if not len(settled):
            continue
        medians.append(float(np.median(settled)))
        if settled.max() > _LR_WITHIN * settled.min():
            changing.append(run.name)
    if not medians:
        return [Flag(Doubt.LR_NOT_LOGGED)]
    if changing:
        flags.append(Flag(Doubt.LR_CHANGES_WITHIN_RUN, f"{len(changing)} of {len(size.runs)} runs"))
    if max(medians) > _LR_BETWEEN * min(medians):
        flags.append(Flag(Doubt.LR_DIFFERS_BETWEEN_RUNS, f"{min(medians):.3g} to {max(medians):.3g}"))
    return flags


def _turn_flags(model: SizeModel, weight: float) -> list[Flag]:
    """How far each tested share's T0 lies beyond its own longest run."""
    turns = model.turns(weight)
    last = np.array([
        max(run.tokens[-1] for run, k in zip(model.data.curves, model.readings.knot, strict=True) if k == knot)
        for knot in range(len(model.shares))
    ])  # fmt: skip
    ratio = np.exp(turns) * model.data.longest / last
    groups = (
        (Doubt.T0_EXTRAPOLATED, (ratio > 1) & (ratio <= 2)),
        (Doubt.T0_BEYOND_2X, ratio > 2),
        (Doubt.NO_TURNING, np.isnan(ratio)),
    )
    return [Flag(doubt, _listed(model.shares[which].tolist())) for doubt, which in groups if which.any()]


def budget_flags(model: SizeModel, judged: Judged, tokens: float) -> tuple[Flag, ...]:
    """Flags that depend on the budget; beyond twice the longest run there is no answer to doubt."""
    flags, ratio = [], tokens / model.data.longest
    if ratio > 2:
        return (Flag(Doubt.TOKENS_BEYOND_2X, f"{human(tokens)} against {human(model.data.longest)}"),)
    if ratio > 1.01:
        flags.append(Flag(Doubt.TOKENS_EXTRAPOLATED, f"{human(tokens)} against {human(model.data.longest)}"))
    if judged.idle:
        flags.append(Flag(Doubt.TOLERANCE_IDLE))
    if not math.isfinite(judged.share):
        flags.append(Flag(Doubt.NO_FEASIBLE_SHARE))
    elif judged.binding == "none":
        flags.append(Flag(Doubt.NOT_BOUND))
    elif not model.shares[0] - 1e-9 <= judged.share <= model.shares[-1] + 1e-9:
        flags.append(Flag(Doubt.SHARE_EXTRAPOLATED, f"tested {model.shares[0]:.3g} to {model.shares[-1]:.3g}"))
    if not 0 <= judged.raw <= 1:
        flags.append(Flag(Doubt.CLIPPED, f"{judged.raw:.3g}"))
    around = judged.interval
    width = around.high - around.low
    if around.widened > 1 and width > TIGHT:
        flags.append(Flag(Doubt.SHAPE_MISFIT, f"{around.widened:.1f} times"))
    if judged.binding != "none" and width > WIDE:
        flags.append(Flag(Doubt.WIDE_INTERVAL, f"{around.low:.0%} to {around.high:.0%}"))
    if judged.split:
        flags.append(Flag(Doubt.SPLIT_SET))
    return tuple(flags)
