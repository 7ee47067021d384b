"""One answer: the two tests at a budget, the interval, the flags, and the other questions beside it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from mixlaw.cmr.advice import Setting, advise, next_run
from mixlaw.cmr.data import FULL, Names
from mixlaw.cmr.doubts import Judged, budget_flags, run_flags
from mixlaw.cmr.flags import Doubt, Flag
from mixlaw.cmr.forgetting import ShareAnswer, crossing_share
from mixlaw.cmr.interval import interval
from mixlaw.cmr.model import FORMS, SHARES, SizeModel
from mixlaw.cmr.result import Answer, Binding, CmrOptions, Curves, ShareRow
from mixlaw.cmr.sharelaw import fit_power, leave_one_out

Floats = NDArray[np.float64]

FAR = 2.0
"""Budgets beyond this many times the longest run are not answered."""
_POINTS = 0.02
"""Forms that differ by less than this agree."""
_AHEAD = np.linspace(np.log(1e-3), np.log(10.0), 1200)
"""ln(T / longest run) along which a curve is followed to its recovery."""
_WITHHELD = ShareAnswer(float("nan"), float("nan"), "the budget is beyond twice the longest run")


def answer_at(model: SizeModel, tokens: float, options: CmrOptions, names: Names, *, rising: bool) -> Answer:
    """Answer one size at one budget.

    Args:
        model: the fits of the size.
        tokens: the budget.
        options: how to answer.
        names: of the corpora.
        rising: whether both losses rise, so that no ratio is given.
    """
    z = math.log(tokens / model.data.longest)
    judged = _judge(model, z, options)
    near = tokens <= FAR * model.data.longest
    shown = judged.share if near and not rising else float("nan")
    flags = (*run_flags(model, options.weight, rising=rising), *budget_flags(model, judged, tokens))
    by_form: dict[str, float] = {
        form: _clipped(float(model.turning_share(z, options.weight, form=form)[0])) for form in FORMS
    }
    if near:
        flags = (*flags, *_disagreement(by_form, judged))
    increment, domain_loss, error = _losses_at(model, shown, z)
    if _above_base(model, shown, z):
        flags = (*flags, Flag(Doubt.NOT_RECOVERED, f"by {increment:.4f} nats"))
    answer = Answer(
        params=model.data.params,
        label=model.data.label,
        tokens=tokens,
        share=shown,
        low=judged.interval.low if math.isfinite(shown) else float("nan"),
        high=judged.interval.high if math.isfinite(shown) else float("nan"),
        binding=judged.binding if math.isfinite(shown) else "none",
        turning_share=judged.turning,
        tolerance_share=judged.tolerance,
        extrapolated=float("nan") if near else judged.share,
        peaks=dict(zip(model.shares.tolist(), peaks(model, options.weight).tolist(), strict=True)),
        flags=flags,
        by_weight={w: _clipped(float(model.turning_share(z, w)[0])) for w in _weights(model, options)},
        by_form=by_form,
        interpolated=model.interpolated(z, options.weight),
        law=model.law(options.weight),
        increment=increment,
        domain_loss=domain_loss,
        domain_error=error,
        back=recovery(model, shown) if math.isfinite(shown) else float("nan"),
        forgetting=_forgetting(model, tokens, options) if near else _WITHHELD,
        crossing=crossing_share(model.shares, model.increments(np.array([z]))[:, 0]) if near else _WITHHELD,
        next_run=next_run(model, judged) if options.draws and math.isfinite(shown) else None,
    )
    return advise(answer, Setting(names, rising, model.data.longest, options.weight))


def _weights(model: SizeModel, options: CmrOptions) -> list[float]:
    return sorted({*options.weights, options.weight}) if model.domain is not None else [math.inf]


def _forgetting(model: SizeModel, tokens: float, options: CmrOptions) -> ShareAnswer:
    if model.forgetting is None:
        return ShareAnswer(float("nan"), float("nan"), "needs 3 shares with readings in the second half of their runs")
    return model.forgetting.budget(tokens, options.forget)


def _clipped(share: float) -> float:
    return float(np.clip(share, 0.0, 1.0))


def _judge(model: SizeModel, z: float, options: CmrOptions) -> Judged:
    """Both tests on the estimate and on every draw; the answer is the smaller share."""
    raw, level, idle, both = _both_tests(model, z, options)
    turning, highest = np.clip(raw, 0, 1), float(model.shares[-1])
    passing = raw[0] >= min(1.0, highest + _reach(model.shares))
    binding: Binding = "none" if passing else "turning"
    if not idle[0] and level[0] < turning[0]:
        binding = "tolerance"
    share = float(both[0])
    if binding == "none":
        share = highest
    if not share > 0:
        share, binding = float("nan"), "none"
    refitted = _both_tests(model.refitted, z, options)[3][1:] if model.refitted else None
    return Judged(
        z=z,
        share=share,
        interval=interval(share, both[1:], refitted),
        binding=binding,
        raw=float(raw[0]),
        turning=float(turning[0]),
        tolerance=float(level[0]),
        idle=bool(idle[0]),
        split=_split(model, z, options.weight),
    )


def _both_tests(model: SizeModel, z: float, options: CmrOptions) -> tuple[Floats, Floats, NDArray[np.bool_], Floats]:
    """By draw: turning share as the law gives it, share within the tolerance, whether that test is idle, the smaller.

    Each of shape (B,).
    """
    raw = model.turning_share(z, options.weight, draws=True)
    level, idle = _level_shares(model, z, options.tolerance.nats(model.data.base_general))
    turning = np.clip(raw, 0, 1)
    return raw, level, idle, np.where(idle, turning, np.minimum(turning, level))


def _reach(shares: Floats) -> float:
    """How far beyond the tested shares a turning share is believed: the last gap between them."""
    return float(shares[-1] - shares[-2])


def _split(model: SizeModel, z: float, weight: float) -> bool:
    """Whether, within the tested shares, one fails the turning test below one that passes."""
    if model.form != "surface":
        return False
    tested = (SHARES >= model.shares[0]) & (SHARES <= model.shares[-1])
    feasible = (model.gap(z, weight)[0] @ model.over_shares[tested].T) <= 0
    return bool(np.any(~feasible[:-1] & feasible[1:]))


def _level_shares(model: SizeModel, z: float, allowed: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Largest share within the tolerance, shape (B,), and whether no tested share exceeds it.

    Within the tested shares the increments are joined by a natural spline; below them a straight line leads on.
    """
    within = SHARES <= model.shares[-1] + 1e-9
    excess = model.increments_over_shares(z)[:, within] - allowed
    grid = SHARES[within]
    above = (excess > 0) & (grid >= model.shares[0])
    first = np.where(above.any(axis=1), above.argmax(axis=1), len(grid))
    low = np.clip(first - 1, 0, len(grid) - 2)
    here, there = (np.take_along_axis(excess, i[:, None], axis=1)[:, 0] for i in (low, low + 1))
    crossing = grid[low] + np.clip(-here / np.where(there > here, there - here, 1.0), 0, 1) * (grid[1] - grid[0])
    idle = first == len(grid)
    start = int(np.argmax(grid >= model.shares[0]))
    beneath = (np.where(excess[:, :start] <= 0, grid[:start], 0.0)).max(axis=1, initial=0.0)
    return np.where(idle, model.shares[-1], np.where(first == start, beneath, crossing)), idle


def _disagreement(by_form: dict[str, float], judged: Judged) -> tuple[Flag, ...]:
    known = {form: share for form, share in by_form.items() if math.isfinite(share)}
    if len(known) < 2:
        return ()
    limit = math.inf if judged.idle else judged.tolerance  # turning shares beyond it make no difference
    spread = min(max(known.values()), limit) - min(*known.values(), limit)
    width = judged.interval.high - judged.interval.low
    if spread <= max(_POINTS, width if math.isfinite(width) else 0.0):
        return ()
    return (Flag(Doubt.FORMS_DISAGREE, ", ".join(f"{form} {share:.1%}" for form, share in known.items())),)


def _losses_at(model: SizeModel, share: float, z: float) -> tuple[float, float, float]:
    """General increment and domain loss at a share and budget, and the hold-out error of the law over shares.

    No domain loss below the shares tested: a power of the share soars there.
    """
    if not math.isfinite(share):
        return float("nan"), float("nan"), float("nan")
    increment = float(model.curve_at(share, np.array([z]))[0])
    if model.domain is None or len(model.shares) < 3 or share < model.shares[0] - 1e-9:
        return increment, float("nan"), float("nan")
    shares, losses = _domain_losses(model, z)
    fit = fit_power(np.log(shares), losses[None])
    error = np.abs(leave_one_out(shares, losses)).max()
    return increment, float(fit.predict(np.log([share]))[0, 0]), float(error)


def _above_base(model: SizeModel, share: float, z: float) -> bool:
    """Whether general loss at a share and budget is above the base model's, in 95 % of any draws too."""
    if not math.isfinite(share):
        return False
    drawn = model.increments_at(share, np.array([z]))[:, 0]
    return bool(drawn[0] > 0 and np.quantile(drawn, 0.05) > 0)


def _domain_losses(model: SizeModel, z: float) -> tuple[Floats, Floats]:
    """Domain losses at the budget by share; the run without replay, if any, belongs to this curve."""
    assert model.domain is not None
    shares, losses = model.shares, model.data.base_domain + model.domain.value(np.array([z]))[:, 0]
    full = [run for run in model.data.runs if run.share >= FULL and np.isfinite(run.domain).sum() >= 5]
    if not full:
        return shares, losses
    run = full[0]
    there = np.isfinite(run.domain)
    fit = fit_power(np.log(run.tokens[there] / model.data.longest), run.domain[there][None])
    return np.append(shares, 1.0), np.append(losses, fit.predict(np.array([z]))[0, 0])


def peaks(model: SizeModel, weight: float) -> Floats:
    """T0 in tokens of each tested share, NaN where there is none, shape (n,)."""
    return np.asarray(model.data.longest * np.exp(model.turns(weight)))


def recovery(model: SizeModel, share: float) -> float:
    """Tokens at which general loss at a share is back at the base model's; 0 where it never was above it.

    NaN where it is not back within 10 times the data.
    """
    increments = model.curve_at(share, _AHEAD)
    peak = int(increments.argmax())
    if increments[peak] <= 0:
        return 0.0
    back = np.flatnonzero(increments[peak:] <= 0)
    return float(model.data.longest * np.exp(_AHEAD[peak + back[0]])) if len(back) else float("nan")


def share_rows(model: SizeModel) -> tuple[ShareRow, ...]:
    """What each tested share did, shares ascending, the share without replay left out."""
    turning = peaks(model, math.inf)
    rows = []
    for index, share in enumerate(model.shares):
        runs = [run for run, knot in zip(model.data.curves, model.readings.knot, strict=True) if knot == index]
        last = max(float(run.tokens[-1]) for run in runs)
        first = min(float(run.tokens[0]) for run in runs)
        z = np.log(np.linspace(first, last, 400) / model.data.longest)
        curve = model.increments(z)[index]
        domain = model.domain.value(z[-1:])[index, 0] if model.domain else np.nan
        rows.append(
            ShareRow(
                float(share), len(runs), first, last, float(turning[index]), float(curve.max()), float(curve[-1]),
                float(domain), recovery(model, float(share)),
            )
        )  # fmt: skip
    return tuple(rows)


def sampled_curves(model: SizeModel, weight: float) -> Curves:
    """The fitted curves along the runs, and the turning share over budgets up to twice the longest run."""
    first = min(float(run.tokens[0]) for run in model.data.curves)
    tokens = np.geomspace(first, model.data.longest, 120)
    z = np.log(tokens / model.data.longest)
    general = model.increments(z)
    domain = model.domain.value(z) if model.domain else np.full_like(general, np.nan)
    ahead = np.linspace(np.log(0.1), np.log(FAR), 60)
    law = np.full((3, len(ahead)), np.nan)
    for index, at in enumerate(ahead):
        shares = np.clip(model.turning_share(float(at), weight, draws=True), 0, 1)
        refitted = None
        if model.refitted:
            refitted = np.clip(model.refitted.turning_share(float(at), weight, draws=True)[1:], 0, 1)
        around = interval(float(shares[0]), shares[1:], refitted)
        law[:, index] = shares[0], around.low, around.high
    return Curves(model.shares, tokens, general, domain, model.data.longest * np.exp(ahead), law)
