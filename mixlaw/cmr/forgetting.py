"""Two other questions about the same table: the forgetting budget and the loss-crossing share.

Forgetting budget (D-CPT law, arXiv 2406.01375): the largest domain share whose general loss at the budget is at most
``(1 + t)`` times the base model's. Loss crossing (arXiv 2403.16952): ``L(r) = c + exp(k r + b)`` through the general
losses at the budget, and the share at which it equals the base model's loss. Neither asks whether the loss has turned,
so both differ from the critical mixture ratio by design.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixlaw.cmr.data import SizeData, distinct
from mixlaw.cmr.flags import Doubt, Flag
from mixlaw.cmr.sharelaw import fit_power
from mixlaw.laws.base import Inputs
from mixlaw.laws.dcpt import STILL, UNSIZED, Dcpt
from mixlaw.problems import LogModel, bounds
from mixlaw.solver import Problems, SolverOptions, minimise
from mixlaw.units import human

Floats = NDArray[np.float64]

_STARTS = 24
_LATE = 0.5
"""The D-CPT law is monotone in D: only the second half of each run, by tokens, is fitted."""
_PER_RUN = 5
_SHARES = np.linspace(0.0, 1.0, 2001)
"""Shares at which the laws are read, to be joined by straight lines."""
_SOLVER = SolverOptions(loss="l2", ridge=1e-9, iterations=200, tolerance=1e-8)


@dataclass(frozen=True)
class ShareAnswer:
    """A largest share by another question than the critical mixture ratio's.

    Attributes:
        share: of the domain; NaN where the data cannot say.
        error: root-mean-square residual of the law, nats.
        note: why there is no share, or what to know about it.
        flags: doubts.
    """

    share: float
    error: float
    note: str = ""
    flags: tuple[Flag, ...] = ()


@dataclass(frozen=True)
class Forgetting:
    """The D-CPT law of one model size, ready to be asked at any budget.

    Attributes:
        law: its form.
        theta: parameters, shape (P,).
        lowest: smallest share fitted.
        highest: largest share fitted.
        base: general loss of the base model.
        error: root-mean-square residual, nats.
        readings: fitted.
        earliest: tokens from which readings were fitted.
    """

    law: Dcpt
    theta: Floats
    lowest: float
    highest: float
    base: float
    error: float
    readings: int
    earliest: float

    @classmethod
    def fit(cls, size: SizeData, rng: np.random.Generator) -> Forgetting | None:
        """Fit the second half of every run, runs without replay included; None below 3 shares."""
        share, seen, loss = _late_readings(size)
        if len(distinct(share)) < 3:
            return None
        law, theta = _fit(share, seen, loss, rng)
        error = float(np.sqrt(np.mean((law.predict(theta, _inputs(share, seen)) - loss) ** 2)))
        return cls(law, theta, float(share.min()), float(share.max()), size.base_general, error, len(loss),
                   _LATE * size.longest)  # fmt: skip

    def budget(self, tokens: float, allowed: float) -> ShareAnswer:
        """Largest domain share whose general loss at ``tokens`` is at most ``(1 + allowed)`` times the base model's.

        Walks up from the smallest tested share to the first that exceeds the limit, no further than the largest. None
        before the second half of the runs: the law falls with tokens, and general loss rises first.
        """
        if tokens < self.earliest * (1 - 1e-9):
            return ShareAnswer(np.nan, self.error, f"its law is fitted from {human(self.earliest)} on")
        grid = _SHARES[(_SHARES >= self.lowest - 1e-9) & (_SHARES <= self.highest + 1e-9)]
        predicted = self.law.predict(self.theta, _inputs(grid, tokens))
        found, note = _first_above(grid, predicted, (1 + allowed) * self.base)
        flags = [Flag(Doubt.NOT_MONOTONE)] if np.any(np.diff(predicted) < -1e-6) else []
        if self.readings <= len(self.theta):
            flags.append(Flag(Doubt.FEW_POINTS, f"{self.readings} readings, {len(self.theta)} parameters"))
        return ShareAnswer(found, self.error, note, tuple(flags))


def _late_readings(size: SizeData) -> tuple[Floats, Floats, Floats]:
    """Share, tokens and general loss of up to five readings of the second half of each run, each of shape (n,)."""
    rows = []
    for run in size.runs:
        late = np.flatnonzero(np.isfinite(run.general) & (run.tokens >= _LATE * size.longest))
        kept = late[np.unique(np.linspace(0, len(late) - 1, _PER_RUN).round().astype(int))] if len(late) else late
        rows += [(run.share, run.tokens[i], run.general[i]) for i in kept]
    table = np.array(rows, dtype=np.float64).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2]


def _inputs(share: Floats, tokens: Floats | float) -> Inputs:
    return Inputs.build(("general", "domain"), np.stack([1 - share, share], axis=-1), 1e8, tokens)


def _fit(share: Floats, tokens: Floats, loss: Floats, rng: np.random.Generator) -> tuple[Dcpt, Floats]:
    timed = len(np.unique(tokens)) > 1
    law = (UNSIZED if timed else STILL).about("general")
    inputs = _inputs(share, tokens)
    lower, upper, prior = bounds(law, inputs.domains)
    starts = law.starts(inputs, loss, rng, _STARTS)
    which = np.zeros(_STARTS, dtype=np.intp)
    problems = Problems(
        LogModel(law, inputs), np.log(loss)[None], np.ones((1, len(loss))), which, which, lower, upper, prior
    )
    found = minimise(problems, np.clip(starts, lower, upper), options=_SOLVER)
    return law, found.theta[int(np.argmin(found.objective))]


def _first_above(grid: Floats, predicted: Floats, limit: float) -> tuple[float, str]:
    """Where ``predicted`` first crosses ``limit`` upwards, and a note where it does not."""
    above = predicted > limit
    if not above.any():
        return float(grid[-1]), "the largest tested; none exceeds it"
    first = int(np.argmax(above))
    if first == 0:
        return float("nan"), f"even the smallest tested, {grid[0]:.1%}, exceeds it"
    part = (limit - predicted[first - 1]) / (predicted[first] - predicted[first - 1])
    return float(grid[first - 1] + part * (grid[first] - grid[first - 1])), ""


def crossing_share(shares: Floats, increments: Floats) -> ShareAnswer:
    """Share at which ``L(r) = c + exp(k r + b)`` equals the base model's loss.

    Args:
        shares: tested shares below 1, shape (n,).
        increments: general loss at the budget above the base model's, shape (n,).
    """
    if len(shares) < 3:
        return ShareAnswer(np.nan, np.nan, f"needs 3 shares, got {len(shares)}")
    fit = fit_power(shares, increments[None])
    grid = _SHARES
    predicted = fit.predict(grid)[0]
    error = float(fit.error[0])
    inside = (grid >= shares[0]) & (grid <= shares[-1])
    if np.all(predicted > 0):
        return ShareAnswer(np.nan, error, "above base at every share")
    if np.all(predicted[inside] <= 0):
        return ShareAnswer(float(shares[-1]), error, "the largest tested; none is above base")
    if np.all(predicted[inside] > 0):
        return ShareAnswer(np.nan, error, f"above base at every share tested, from {shares[0]:.1%}")
    first = int(np.argmax((predicted > 0) & (grid >= shares[0])))
    part = -predicted[first - 1] / (predicted[first] - predicted[first - 1])
    return ShareAnswer(float(grid[first - 1] + part * (grid[first] - grid[first - 1])), error)
