"""All that is fitted for one model size, before any budget is asked about."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mixlaw.cmr.between import Between
from mixlaw.cmr.data import Readings, SizeData
from mixlaw.cmr.forgetting import Forgetting
from mixlaw.cmr.perrun import FURTHEST_PAIR, GRID, RunCurves, fit_runs, interpolated_share, last_turn, law_share
from mixlaw.cmr.samples import (
    Samples,
    drawn_curves,
    drawn_surfaces,
    joined,
    joined_curves,
    refitted_curves,
    refitted_surfaces,
)
from mixlaw.cmr.shapes import UPPER, curve, slope
from mixlaw.cmr.sharelaw import PowerFit, fit_power
from mixlaw.cmr.splines import spline_matrix
from mixlaw.cmr.surface import SurfaceFit, fit_surface

Floats = NDArray[np.float64]
Form = Literal["surface", "reduced", "paper"]
FORMS: tuple[Form, ...] = ("surface", "reduced", "paper")

SHARES = np.linspace(0.0, 1.0, 1001)
"""Shares at which feasibility is examined, to be joined by straight lines."""
NEVER = UPPER[1] - 0.1
"""A turning point beyond e^5.9 times the longest run is none."""


LAW_UNIT = 2e8
"""Tokens in one unit of T in the printed law."""


@dataclass(frozen=True)
class CmrLaw:
    """``R(T) = a T^s + b``, T in units of 0.2B tokens as the paper counts them."""

    a: float
    s: float
    b: float


@dataclass(frozen=True)
class DomainCurves:
    """``dL_dom(T) = a T^s + b`` per share (mean of the runs at a share)."""

    fits: PowerFit
    belongs: Floats

    @classmethod
    def fit(cls, readings: Readings) -> DomainCurves:
        """Fit every run on its own."""
        belongs = np.equal.outer(np.arange(len(readings.shares)), readings.knot).astype(np.float64)
        return cls(fit_power(readings.z, readings.y, readings.weight), belongs / belongs.sum(axis=1, keepdims=True))

    def value(self, z: Floats) -> Floats:
        """Increment of domain loss per share, shape (n, m)."""
        return np.asarray(self.belongs @ self.fits.predict(z))

    def slope(self, z: Floats) -> Floats:
        """Its derivative by ln T, shape (n, m)."""
        return np.asarray(self.belongs @ self.fits.slope(z))


@dataclass(frozen=True)
class SizeModel:
    """The fits of one size. Leading axis B of arrays: the estimate, then draws.

    Attributes:
        data: what was fitted.
        readings: of general loss.
        form: whose answer is the answer.
        surface: the smooth fit (always made: the next run is planned with it).
        samples: it and its draws.
        runs: curves run by run of the forms ``reduced`` and ``paper``, with draws for ``form`` only.
        domain: domain curves, None where the losses are missing.
        forgetting: the D-CPT law, None where there are too few shares.
        interval: how the draws were made.
        refitted: the same with refits that leave out a block of readings (``samples.refitted_surfaces``) in the place
            of the draws; None without draws.
        between: what the tested shares leave open about others, by draw; None without draws, and in ``refitted``.
    """

    data: SizeData
    readings: Readings
    form: Form
    surface: SurfaceFit
    samples: Samples
    runs: dict[str, RunCurves]
    domain: DomainCurves | None
    forgetting: Forgetting | None
    interval: str
    refitted: SizeModel | None = None
    between: Between | None = None

    @classmethod
    def fit(cls, data: SizeData, *, form: Form, draws: int, rng: np.random.Generator) -> SizeModel:
        """Fit everything; needs at least one curve."""
        readings = Readings.of(data)
        own, shape, between = rng.spawn(3)  # streams of their own: the same whatever form and draws
        forgetting = Forgetting.fit(data, own)
        surface = fit_surface(readings)
        samples, interval = Samples.of(surface), ""
        runs = {"reduced": fit_runs(readings, paper=False), "paper": fit_runs(readings, paper=True)}
        if form == "surface" and draws:
            drawn, interval = drawn_surfaces(readings, surface, draws, rng)
            samples = joined([samples, drawn])
        elif draws:
            again = drawn_curves(readings, runs[form], draws, rng, paper=form == "paper")
            runs[form] = joined_curves([runs[form], again])
            interval = "parametric bootstrap of the readings, run by run"
        domain = DomainCurves.fit(Readings.of(data, domain=True)) if data.has_domain else None
        model = cls(data, readings, form, surface, samples, runs, domain, forgetting, interval)
        if not draws:
            return model
        errors = Between.drawn(model.shares, SHARES, draws, between)
        interval += "; smooth random errors" + " of the level" * (form != "surface") + " between tested shares"
        return replace(model, interval=interval, refitted=model._without_blocks(shape), between=errors)

    def _without_blocks(self, rng: np.random.Generator) -> SizeModel:
        if self.form == "surface":
            again = refitted_surfaces(self.readings, self.surface, rng)
            return replace(self, samples=joined([Samples.of(self.surface), again]))
        once = self.runs[self.form].part(1)
        curves = refitted_curves(self.readings, once, rng, paper=self.form == "paper")
        return replace(self, runs={**self.runs, self.form: joined_curves([once, curves])})

    @property
    def shares(self) -> Floats:
        """Tested shares with curves, shape (n,)."""
        return self.readings.shares

    @cached_property
    def misfit(self) -> float:
        """Standard deviation of general loss about the surface over its scatter between neighbouring readings."""
        rest = self.readings.y - curve(self.surface.theta[0, self.readings.knot], self.readings.z)
        rest = (rest - self.surface.level[0][:, None]) * self.readings.weight
        own = [row[there > 0] for row, there in zip(self.readings.y, self.readings.weight, strict=True)]
        second = np.concatenate([np.abs(np.diff(row, 2)) for row in own])
        scatter = 1.4826 * float(np.median(second)) / math.sqrt(6)
        return math.sqrt(float((rest**2).sum() / self.readings.weight.sum())) / max(scatter, 1e-12)

    @cached_property
    def over_shares(self) -> Floats:
        """From values at the tested shares to values on ``SHARES``, shape (1001, n)."""
        return spline_matrix(self.shares, SHARES)

    def turning_share(self, z: float, weight: float, *, form: Form | None = None, draws: bool = False) -> Floats:
        """Largest share that has turned at ``ln(tokens / longest run) = z``, shape (1,), or (B,) with the draws.

        0 where none has, 1 where all have, NaN where the form cannot say. The forms ``reduced`` and ``paper`` give
        what their law gives, which may lie outside 0 to 1.

        Args:
            z: the budget.
            weight: lambda, of general loss against domain loss; infinite for general loss alone.
            form: other than that of the answer (then without draws).
            draws: answer for every draw.
        """
        form = form or self.form
        if form != "surface":
            return law_share(self._run_turns(form, weight, draws=draws), self._run_shares, z)
        gap = self.gap(z, weight, draws=draws)
        over = gap @ self.over_shares.T
        if draws and self.between:
            over = over + self.between.of_turn(gap)
        return last_feasible(over, self.shares)

    def gap(self, z: float, weight: float, *, draws: bool = False) -> Floats:
        """How far, in ln tokens, each tested share is from turning at z, at most 0 where it has, shape (B, n)."""
        theta = self.samples.theta if draws else self.samples.theta[:1]
        gap = theta[..., 1] - z
        if self.domain is not None and math.isfinite(weight):
            pull = self.domain.slope(np.array([z]))[:, 0] / weight
            gap = gap + pull / np.exp(theta[..., 0] + theta[..., 2] * z)
        return np.asarray(gap)

    def interpolated(self, z: float, weight: float) -> float:
        """Share by a straight line through the two pairs (ln T0, share) around the budget; NaN outside them."""
        turns = self.turns(weight)
        known = turns[np.isfinite(turns)]
        if not len(known) or not known.min() <= z <= known.max():
            return float("nan")
        return float(interpolated_share(turns[None], self.shares, z)[0])

    def law(self, weight: float) -> CmrLaw | None:
        """``R(T) = a T^s + b`` through the (T0, share) pairs up to 10 times the data; None below three pairs."""
        turns = self.turns(weight)
        usable = np.isfinite(turns) & (turns < FURTHEST_PAIR)
        if usable.sum() < 3:
            return None
        a, s, b = (float(v[0]) for v in fit_power(turns[usable], self.shares[usable][None]).power())
        return CmrLaw(a * (LAW_UNIT / self.data.longest) ** s, s, b)

    def turns(self, weight: float) -> Floats:
        """ln(T0 / longest run) of each tested share, NaN where there is none, shape (n,)."""
        if self.form != "surface":
            turns = self._run_turns(self.form, weight)[0]
            return np.array([_mean(turns[self.readings.knot == k]) for k in range(len(self.shares))])
        if self.domain is None or math.isinf(weight):
            v = self.samples.theta[0, :, 1]
            return np.where(v < NEVER, v, np.nan)
        return last_turn(slope(self.samples.theta[0], GRID) + self.domain.slope(GRID) / weight)

    def _run_turns(self, form: Form, weight: float, *, draws: bool = False) -> Floats:
        slopes = (self.runs[form] if draws else self.runs[form].part(1)).slope(GRID)
        if self.domain is not None and math.isfinite(weight):
            slopes = slopes + self.domain.slope(GRID)[self.readings.knot] / weight
        return last_turn(slopes)

    @cached_property
    def _run_shares(self) -> Floats:
        return np.array([run.share for run in self.data.curves])

    def increments(self, z: Floats, *, draws: bool = False) -> Floats:
        """General loss above the base model's at each tested share, shape (n, m), or (B, n, m) with the draws."""
        if self.form == "surface":
            found = self.samples.increments(self.readings.knot, z)
        else:
            mean = self._belongs / self._belongs.sum(axis=1, keepdims=True)
            found = np.einsum("kr,brm->bkm", mean, self.runs[self.form].value(z))
        return np.asarray(found if draws else found[0])

    def increments_over_shares(self, z: float) -> Floats:
        """General loss above the base model's on ``SHARES`` by draw, shape (B, 1001)."""
        values = self.increments(np.array([z]), draws=True)[..., 0]
        over = values @ self.over_shares.T
        return np.asarray(over + self.between.of_level(values) if self.between else over)

    def increments_at(self, share: float, z: Floats) -> Floats:
        """General loss above the base model's along a run at any share, by draw, shape (B, m)."""
        values = self.increments(z, draws=True).swapaxes(1, 2)
        found = values @ spline_matrix(self.shares, np.array([share]))[0]
        return np.asarray(found + self.between.of_level_at(share, values) if self.between else found)

    @cached_property
    def _belongs(self) -> Floats:
        return np.equal.outer(np.arange(len(self.shares)), self.readings.knot).astype(np.float64)

    def curve_at(self, share: float, z: Floats) -> Floats:
        """General loss above the base model's along a run at any share, shape (m,)."""
        return np.asarray(spline_matrix(self.shares, np.array([share]))[0] @ self.increments(z))


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else float("nan")


def last_feasible(gap: Floats, shares: Floats) -> Floats:
    """Largest share with ``gap <= 0``, shape (B,), for ``gap`` on ``SHARES``, shape (B, 1001).

    Within the tested shares the largest of all counts; beyond them the share must be reached without a break.
    0 where no share is feasible, 1 where every share from the largest tested one on is.
    """
    feasible = gap <= 0
    top = int(np.searchsorted(SHARES, shares[-1] - 1e-12))
    index = np.arange(len(SHARES))
    below = np.where(feasible & (index <= top), index, -1).max(axis=1)
    broken = np.where(~feasible & (index > top), index, len(SHARES)).min(axis=1)
    last = np.where(feasible[:, top], broken - 1, below)
    left = np.clip(last, 0, len(SHARES) - 2)
    here, there = (np.take_along_axis(gap, i[:, None], axis=1)[:, 0] for i in (left, left + 1))
    part = np.where(there > here, -here / np.where(there > here, there - here, 1.0), 0.0)
    found = SHARES[left] + np.clip(part, 0, 1) * (SHARES[1] - SHARES[0])
    return np.where(last < 0, 0.0, np.where(last >= len(SHARES) - 1, 1.0, found))
