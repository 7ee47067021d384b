"""What to do: the recommendation in plain words, and the run that would tighten the answer most."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mixlaw.cmr.between import error_covariance
from mixlaw.cmr.data import Names
from mixlaw.cmr.doubts import TIGHT, Judged
from mixlaw.cmr.flags import Doubt
from mixlaw.cmr.interval import Z90
from mixlaw.cmr.model import SizeModel
from mixlaw.cmr.result import Answer, NextRun
from mixlaw.cmr.shapes import curve_gradient
from mixlaw.cmr.splines import spline_matrix
from mixlaw.cmr.surface import inverse
from mixlaw.units import human

Floats = NDArray[np.float64]

_LENGTHS = (0.5, 1.0, 1.5, 2.0)
"""Candidate runs are this many times the longest run, and no longer than the budget or the longest run."""
_CANDIDATES = 33
_STEP = 0.01
_NOTHING = 1e-12
"""Rounding of a variance."""


def next_run(model: SizeModel, judged: Judged) -> NextRun | None:
    """The share and length of one more run that shrinks the variance of the turning share most per token.

    Linear theory at the surface fit: the run would see its curve, ``J' J / s^2``, at its share's place on the splines
    and with the error that the spline of v has there. It is as noisy and as densely read as the runs there are, and
    what the law's shape adds to the interval stays. None where the turning test does not bind or the interval is
    within ``TIGHT``.
    """
    around = judged.interval
    if judged.binding != "turning" or not 0 < judged.raw < 1 or not around.high - around.low > TIGHT:
        return None
    plan = _Plan.of(model, judged)
    best: tuple[float, NextRun] | None = None
    for length in (length for length in _LENGTHS if length <= max(1.0, math.exp(judged.z)) + 1e-9):
        for share in _candidate_shares(np.append(model.shares, plan.share)):
            after = plan.after(float(share), length)
            gain = math.log(plan.before / after) / length
            if best is None or gain > best[0] * (1 + 1e-9):
                widths = (math.hypot(Z90 * noise, around.shape) for noise in (plan.before, after))
                run = NextRun(float(share), length * model.data.longest, *widths)
                best = (gain, run)
    return best[1] if best else None


def _candidate_shares(shares: Floats) -> Floats:
    """Whole per cents from the smallest to the largest of the tested shares and the answer."""
    first, last = max(1, math.ceil(shares.min() / _STEP - 1e-9)), math.floor(shares.max() / _STEP + 1e-9)
    return np.unique(np.linspace(first, last, _CANDIDATES).round()) * _STEP


@dataclass(frozen=True)
class _Plan:
    """The turning share as a linear function of theta and of the error of v between tested shares.

    Attributes:
        model: the fits.
        share: the turning share.
        steep: derivative of v by the share there.
        covariance: of theta flattened, shape (3 n, 3 n).
        sensitivity: derivative of the turning share by theta, shape (3 n,).
        rough: roughness of the errors of v.
        before: standard deviation of the turning share.
    """

    model: SizeModel
    share: float
    steep: float
    covariance: Floats
    sensitivity: Floats
    rough: float
    before: float

    @classmethod
    def of(cls, model: SizeModel, judged: Judged) -> _Plan:
        share = float(np.clip(judged.turning, 0.001, 0.999))
        around = spline_matrix(model.shares, np.array([share - 1e-4, share, share + 1e-4]))
        turns = around @ model.surface.theta[0, :, 1]
        steep = max(float(turns[2] - turns[0]) / 2e-4, 1e-3)
        by_theta = np.zeros((len(model.shares), 3))
        by_theta[:, 1] = -around[1] / steep
        sensitivity = by_theta.ravel()
        covariance = inverse(model.surface.precision)[0]
        error, unit = _error(model, judged.z, share), error_covariance(model.shares, np.array([share]))[0, 0]
        rough = error / math.sqrt(unit) if unit > _NOTHING else 0.0
        before = math.sqrt(sensitivity @ covariance @ sensitivity + rough**2 * unit / steep**2)
        return cls(model, share, steep, covariance, sensitivity, rough, before)

    def after(self, share: float, length: float) -> float:
        """Standard deviation of the turning share with one more run."""
        place = spline_matrix(self.model.shares, np.array([share]))[0]
        squares = _information(self.model, place, length)
        onto = np.kron(place, np.eye(3))
        errors = self.rough**2 * error_covariance(self.model.shares, np.array([self.share, share]))
        seen, shared = onto @ self.covariance @ onto.T, onto @ self.covariance @ self.sensitivity
        seen[1, 1] += errors[1, 1]
        shared[1] -= errors[0, 1] / self.steep
        gain = float(shared @ np.linalg.solve(np.eye(3) + squares @ seen, squares @ shared))
        return math.sqrt(max(self.before**2 - gain, _NOTHING * self.before**2))


def _error(model: SizeModel, z: float, share: float) -> float:
    """Standard deviation of a normal error as wide, within 90 %, as the errors of ln T0 at a share."""
    if model.between is None or model.form != "surface":
        return 0.0
    errors = model.between.of_turn_at(share, model.gap(z, math.inf, draws=True))[1:]
    return float(np.quantile(np.abs(errors), 0.9)) / Z90


def _information(model: SizeModel, place: Floats, length: float) -> Floats:
    """What a run at a place on the splines says of its own curve, as a precision of (ln K, v, p), shape (3, 3)."""
    density = max(run.readings for run in model.data.curves)
    count = max(5, round(density * length))
    z = np.log(np.linspace(length / count, length, count))
    _, jacobian = curve_gradient(place @ model.surface.theta[0], z)
    jacobian = jacobian - jacobian.mean(axis=0)
    return np.asarray(jacobian.T @ jacobian / float(model.surface.noise[0]) ** 2)


@dataclass(frozen=True)
class Setting:
    """What the words need beside the answer.

    Attributes:
        names: of the corpora.
        rising: whether both losses rise.
        longest: tokens of the longest run.
        weight: lambda of the turning test.
    """

    names: Names
    rising: bool
    longest: float
    weight: float


def advise(answer: Answer, setting: Setting) -> Answer:
    """The answer with its recommendation."""
    return replace(answer, advice=_sentence(answer, setting))


def _sentence(answer: Answer, setting: Setting) -> str:
    budget = f"At {human(answer.tokens)} tokens"
    if setting.rising:
        return (
            "Both losses rise, the domain's too: that is not a mixture problem. Look at the learning rate (too high "
            "after re-warming?), the data and the loss on held-out text before choosing a share."
        )
    if answer.tokens > 2 * setting.longest:
        return _too_far(answer, setting.longest)
    if not answer.answered:
        return (
            f"{budget} no share of {setting.names.domain} is safe: at every tested share general loss is still rising "
            "or above the tolerance, and the law leads to none below. Train longer, test smaller shares, or accept a "
            "rise (--weight, --tolerance)."
        )
    limit = f"{budget} use at most {answer.share:.1%} {setting.names.domain}{_interval(answer)}."
    return f"{limit} {_reason(answer, setting)}{_caveats(answer)}"


def _too_far(answer: Answer, longest: float) -> str:
    read = f" (the law would read {answer.extrapolated:.1%}: do not rely on it)"
    return (
        f"No answer at {human(answer.tokens)} tokens: the longest run has {human(longest)}, and beyond twice that "
        f"the law is not to be trusted{read if math.isfinite(answer.extrapolated) else ''}. Train at least one run "
        f"to {human(answer.tokens / 2)} tokens."
    )


_SCHEDULE = {Doubt.LR_CHANGES_WITHIN_RUN, Doubt.LR_DIFFERS_BETWEEN_RUNS}


def _caveats(answer: Answer) -> str:
    """What takes the answer's ground away."""
    doubts, text = {flag.doubt for flag in answer.flags}, ""
    if _SCHEDULE & doubts:
        text += (
            " The learning rate was not constant: annealing lowers the loss at the end and moves the peak, so this "
            "holds for the same schedule only, if at all."
        )
    if Doubt.POOR_FIT in doubts:
        text += " The curves fit the readings poorly: look at the picture (--plot) before you rely on this."
    if Doubt.SHAPE_MISFIT in doubts:
        text += " The curves have another shape than the law's, and the interval is widened for that."
    if Doubt.WIDE_INTERVAL in doubts:
        text += " The interval is so wide that the runs hardly say anything: add readings or runs."
    return text


def _interval(answer: Answer) -> str:
    if (
        answer.binding == "none"
        or not math.isfinite(answer.low)
        or Doubt.NO_NOISE in {flag.doubt for flag in answer.flags}
    ):
        return ""
    text = f" (90 % interval {answer.low:.1%} to {answer.high:.1%})"
    if answer.high - answer.low > TIGHT and answer.low < answer.share:
        text += f"; to be on the safe side, {answer.low:.1%}"
    return text


def _reason(answer: Answer, setting: Setting) -> str:
    general = setting.names.general
    if answer.binding == "tolerance":
        return f"Above it, {general} loss exceeds the tolerance at the end of the run."
    if answer.binding == "none":
        return "No tested share fails either test: larger shares may be safe, but none was tried."
    falling = f"{general} loss"
    if math.isfinite(setting.weight):
        falling = f"{setting.names.domain} loss + {setting.weight:g} x {general} loss"
    text = f"Above it, {falling} has not started to fall again by then."
    if Doubt.NOT_RECOVERED in {flag.doubt for flag in answer.flags}:
        text += f" Falling is not recovered: {general} loss ends {answer.increment:.4f} nats above the base model's,"
        text += f" {_back(answer, setting.longest)}."
    return text


def _back(answer: Answer, longest: float) -> str:
    """When general loss at the answer is back at the base model's."""
    if math.isnan(answer.back):
        return "and the curve does not come back within 10 times the data"
    if answer.back > 2 * longest:
        return f"and the curve comes back only far beyond the data ({human(answer.back)} tokens by extrapolation)"
    return f"and is back at about {human(answer.back)} tokens"
