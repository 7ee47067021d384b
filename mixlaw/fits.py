"""What ``mixlaw fit`` makes and every later command reads: the fits of all targets, and what they were fitted on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from mixlaw.dataset import Dataset
from mixlaw.errors import InputError
from mixlaw.fit import Fit, FitOptions
from mixlaw.flags import Doubt, Flag
from mixlaw.laws.base import Floats, Inputs
from mixlaw.units import Unit, human, shorten

Z90 = 1.6448536269514722
"""Half-width of a 90 % interval in standard deviations."""

FAR = 10.0
"""Sizes and token counts beyond this many times the data are flagged."""
GRAVE = (
    Doubt.TOO_FEW_RUNS, Doubt.FEWER_RUNS_THAN_PARAMETERS, Doubt.REDUNDANT, Doubt.ONE_RATIO, Doubt.SINGLE_SCALE,
    Doubt.MISFIT, Doubt.MISSES_LARGEST_SIZE,
)  # fmt: skip
"""Doubts of a fit that are repeated with every prediction and recommendation made from it."""
OUTSIDE = 0.02
"""Shares outside the range of the data by more than this are flagged, and those below half the smallest one."""


@dataclass(frozen=True)
class Seen:
    """What the fits saw, kept for flags, baselines and distances.

    Attributes:
        fingerprint: of the run table.
        runs: run names, R of them.
        mixtures: mixture of each run, shape (R, K).
        params: N of each run, shape (R,); NaN where unknown.
        tokens: largest D of each run, shape (R,); NaN where unknown.
        losses: last loss of each run by target, shape (R,), NaN where missing.
        points: rows used.
        dropped: reason -> rows left out.
    """

    fingerprint: str
    runs: tuple[str, ...]
    mixtures: Floats
    params: Floats
    tokens: Floats
    losses: Mapping[str, Floats]
    points: int
    dropped: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def distinct(self) -> Floats:
        """The mixtures, each once, shape (m, K): over them the level of a deviation is taken."""
        return np.unique(self.mixtures, axis=0)

    @classmethod
    def of(cls, dataset: Dataset) -> Seen:
        """Summarise a data set by the last row of each run."""
        last = np.array([np.flatnonzero(dataset.run == r)[-1] for r in np.unique(dataset.run)])
        inputs = dataset.inputs.rows(last)
        losses = np.where(dataset.weights[:, last] > 0, np.exp(dataset.log_y[:, last]), np.nan)
        return cls(
            fingerprint=dataset.fingerprint,
            runs=tuple(dataset.runs[r] for r in np.unique(dataset.run)),
            mixtures=inputs.shares,
            params=inputs.params,
            tokens=inputs.tokens,
            losses=dict(zip(dataset.targets, losses, strict=True)),
            points=len(dataset),
            dropped=dict(dataset.dropped),
        )


@dataclass(frozen=True)
class Member:
    """One law's fit of a target and its weight in the answer."""

    fit: Fit
    weight: float = 1.0


@dataclass(frozen=True)
class Prediction:
    """Losses of one target with 90 % intervals, each of shape (n,)."""

    value: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True)
class FitSet:
    """The fits of all targets.

    Attributes:
        members: by target, the laws that answer for it; weights sum to 1.
        units: unit of each target.
        domains: training domains, in the order of mixtures.
        seen: what the fits saw.
        options: how they were fitted.
        evidence: plain data on how the laws were chosen and how intervals were calibrated.
        widen: by target, the factor by which intervals are widened to cover held-out data.
        widen_contrast: by target, the factor for differences between mixtures; where absent, that of ``widen``.
        benchmarks: by task, the curve from losses to accuracy as plain data (``mixlaw.benchmark`` reads it).
        command: the command line that made the fits; empty where it is not known.
    """

    members: Mapping[str, tuple[Member, ...]]
    units: Mapping[str, Unit]
    domains: tuple[str, ...]
    seen: Seen
    options: FitOptions = field(default_factory=FitOptions)
    evidence: Mapping[str, object] = field(default_factory=dict)
    widen: Mapping[str, float] = field(default_factory=dict)
    widen_contrast: Mapping[str, float] = field(default_factory=dict)
    benchmarks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    command: str = ""

    @classmethod
    def single(cls, fits: tuple[Fit, ...], dataset: Dataset, options: FitOptions) -> FitSet:
        """A set with one law for every target that it serves."""
        return cls.combine({"": fits}, {"": 1.0}, dataset, options)

    @classmethod
    def combine(
        cls,
        fitted: Mapping[str, tuple[Fit, ...]],
        weights: Mapping[str, float],
        dataset: Dataset,
        options: FitOptions,
    ) -> FitSet:
        """A set with several laws by name; each target is answered by the laws that serve it, weights rescaled."""
        members: dict[str, tuple[Member, ...]] = {}
        for target in dataset.targets:
            mine = [(f, weights[name]) for name, fits in fitted.items() for f in fits if f.target == target]
            total = sum(weight for _, weight in mine)
            if mine:
                members[target] = tuple(Member(fit, weight / total) for fit, weight in mine)
        units = {t: u for t, u in zip(dataset.targets, dataset.units, strict=True) if t in members}
        return cls(members, units, dataset.inputs.domains, Seen.of(dataset), options)

    @property
    def targets(self) -> tuple[str, ...]:
        """Names of the targets."""
        return tuple(self.members)

    @property
    def bootstrapped(self) -> bool:
        """Whether every law of every target has bootstrap draws."""
        return all(len(m.fit.draws) > 0 for members in self.members.values() for m in members)

    def needs(self) -> set[str]:
        """Which of params and tokens a prediction needs."""
        return {str(n) for ms in self.members.values() for m in ms for n in m.fit.law.needs} - {"mix"}

    def inputs(self, shares: Floats, params: float | Floats | None, tokens: float | Floats | None) -> Inputs:
        """Inputs for mixtures, shape (n, K), at a size and token count.

        Raises:
            InputError: when the laws need a number that is not given.
        """
        for name, value in (("params", params), ("tokens", tokens)):
            if value is None and name in self.needs():
                hint = f"Pass --{name}, for example --{name} {'7B' if name == 'params' else '150B'}."
                raise InputError(f"{name} of the run to predict", "none", hint=hint)
        nan = float("nan")
        return Inputs.build(self.domains, shares, nan if params is None else params, nan if tokens is None else tokens)

    def predict(self, inputs: Inputs, *, targets: tuple[str, ...] | None = None) -> dict[str, Prediction]:
        """Losses with 90 % intervals, by target."""
        return {target: self._one(target, inputs) for target in targets or self.targets}

    def value(self, target: str, inputs: Inputs) -> Floats:
        """Loss of one target, shape (n,): the weighted mean of the members' log predictions."""
        logs = [m.weight * np.log(m.fit.predict(inputs)) for m in self.members[target]]
        return np.asarray(np.exp(np.sum(logs, axis=0)))

    def value_and_share_gradient(self, target: str, inputs: Inputs) -> tuple[Floats, Floats]:
        """Loss of one target (n,) and its derivative by the shares (n, K)."""
        value = self.value(target, inputs)
        slope = np.zeros((len(inputs), len(self.domains)))
        for m in self.members[target]:
            gradient = m.fit.law.share_gradient(m.fit.theta, inputs)
            slope += m.weight * gradient / m.fit.predict(inputs)[:, None]
        return value, value[:, None] * slope

    def draws_and_share_gradients(
        self, target: str, inputs: Inputs, first: int | None = None
    ) -> tuple[Floats, Floats] | None:
        """Bootstrap losses of one target (S, n) and derivatives by the shares (S, n, K), of the first few or of all."""
        members = self.members[target]
        if any(len(m.fit.draws) == 0 for m in members):
            return None
        number = min(len(m.fit.draws) for m in members)
        logs, slopes = np.zeros((1, 1)), np.zeros((1, 1, 1))
        for m in members:
            theta = m.fit.draws[:number][:first]
            predicted = m.fit.law.predict(theta, inputs)
            logs = logs + m.weight * np.log(predicted)
            slopes = slopes + m.weight * m.fit.law.share_gradient(theta, inputs) / predicted[..., None]
        value = np.exp(logs)
        return value, value[..., None] * slopes

    def draws(self, target: str, inputs: Inputs) -> Floats | None:
        """Bootstrap losses of one target, shape (S, n); None without a bootstrap."""
        members = self.members[target]
        if any(len(m.fit.draws) == 0 for m in members):
            return None
        number = min(len(m.fit.draws) for m in members)
        logs = [m.weight * np.log(m.fit.law.predict(m.fit.draws[:number], inputs)) for m in members]
        return np.asarray(np.exp(np.sum(logs, axis=0)))

    def _one(self, target: str, inputs: Inputs) -> Prediction:
        value = self.value(target, inputs)
        sd = self.widen.get(target, 1.0) * self.log_error(target, inputs)
        return Prediction(value, value * np.exp(-Z90 * sd), value * np.exp(Z90 * sd))

    def log_error(self, target: str, inputs: Inputs) -> Floats:
        """Standard deviation of a log prediction, shape (n,): parameters, and spread between member laws."""
        members = self.members[target]
        centre = np.log(self.value(target, inputs))
        spread = np.sum([m.weight * (np.log(m.fit.predict(inputs)) - centre) ** 2 for m in members], axis=0)
        draws = self.draws(target, inputs)
        if draws is not None:
            return np.asarray(np.sqrt(np.var(np.log(draws), axis=0) + spread))
        variance = np.sum([m.weight * _delta_variance(m.fit, inputs) for m in members], axis=0)
        return np.asarray(np.sqrt(variance + spread))

    def contrast_error(self, targets: Sequence[str], inputs: Inputs) -> Floats | None:
        """Standard deviation of contrasts, shape (n,): the mean log prediction of some targets minus that of all rows.

        Draws belong together over targets, and so do member laws, in their order. None without a bootstrap.
        """
        draws = [d for t in targets if (d := self.draws(t, inputs)) is not None]
        if len(draws) < len(targets):
            return None
        number = min(len(d) for d in draws)
        drawn = _about_mean(np.mean([np.log(d[:number]) for d in draws], axis=0))
        ends = {t: np.cumsum([m.weight for m in self.members[t]]) for t in targets}
        cuts = np.unique(np.concatenate([[0.0], *ends.values()]).clip(0, 1))
        spread = np.zeros(len(inputs))
        for low, high in pairwise(cuts):
            mine = [self.members[t][np.searchsorted(ends[t][:-1], (low + high) / 2)] for t in targets]
            off = [np.log(m.fit.predict(inputs) / self.value(t, inputs)) for m, t in zip(mine, targets, strict=True)]
            spread += (high - low) * _about_mean(np.mean(off, axis=0)) ** 2
        return np.asarray(np.sqrt(np.var(drawn, axis=0) + spread))

    def factors(self, target: str) -> tuple[float, float]:
        """By how much deviations from the fit are widened: their level, common to mixtures, and the rest."""
        level = self.widen.get(target, 1.0)
        return level, self.widen_contrast.get(target, level)

    def fit_flags(self) -> tuple[Flag, ...]:
        """The doubts of the fits that bear on every answer, each once, with the targets that carry them."""
        carried: dict[Enum, list[str]] = {}
        for target, members in self.members.items():
            for flag in (f for m in members for f in m.fit.flags if f.doubt in GRAVE):
                carried.setdefault(flag.doubt, []).append(flag.detail or target)
        if Doubt.REDUNDANT in carried:
            carried[Doubt.REDUNDANT] = [self.redundant()]
        if Doubt.MISSES_LARGEST_SIZE in carried:
            carried[Doubt.MISSES_LARGEST_SIZE] = [self.missed()]
        return tuple(Flag(doubt, "; ".join(dict.fromkeys(details))[:200]) for doubt, details in carried.items())

    def missed(self) -> str:
        """How far the laws of each target are off at the largest size of the data, the worst target first."""
        worst: dict[str, str] = {}
        for target, members in self.members.items():
            details = [f.detail for m in members for f in m.fit.flags if f.doubt is Doubt.MISSES_LARGEST_SIZE]
            if details:
                worst[target] = max(details, key=_percent)
        named = sorted(worst, key=lambda target: -_percent(worst[target]))
        return f"{shorten([f'{target} {worst[target]}' for target in named], 2)} (the worst law of each)"

    def redundant(self) -> str:
        """The directions that the data do not see, in one sentence: that of the weightiest law, and the other laws."""
        weights: dict[str, float] = {}
        directions: dict[str, Counter[tuple[str, ...]]] = {}
        for members in self.members.values():
            for m in (m for m in members if m.fit.geometry.redundant):
                weights[m.fit.form] = weights.get(m.fit.form, 0.0) + m.weight
                directions.setdefault(m.fit.form, Counter()).update(set(m.fit.geometry.redundant))
        if not weights:
            return ""
        law, *others = sorted(weights, key=lambda name: -weights[name])
        (names, targets), *_ = directions[law].most_common(1)
        how = "tell apart" if len(names) > 1 else "see"
        listed = shorten(names, 3) or "some parameters"
        told = f"the data do not {how} {listed} of {law} ({targets} of {len(self.members)} targets)"
        return f"{told}, nor some parameters of {shorten(others, 3)}" if others else told

    def flags_at(self, shares: Floats, params: float | None, tokens: float | None) -> tuple[Flag, ...]:
        """Doubts about predictions at one mixture, shape (K,), and scale."""
        flags = list(self.fit_flags())
        for name, value, seen, doubt, absent in (
            ("params", params, self.seen.params, Doubt.EXTRAPOLATES_SIZE, Doubt.SIZE_NOT_IN_LAW),
            ("tokens", tokens, self.seen.tokens, Doubt.EXTRAPOLATES_TOKENS, Doubt.TOKENS_NOT_IN_LAW),
        ):
            known = seen[np.isfinite(seen)]
            largest = float(known.max()) if len(known) else np.nan
            elsewhere = value is not None and not (known.size and 0.98 * known.min() <= value <= 1.02 * largest)
            if elsewhere and name not in self.needs():
                flags.append(Flag(absent, f"{human(float(value or 0))} was asked for, and {absent.value}"))
            if value is not None and value > FAR * largest:
                flags.append(Flag(doubt, f"{human(value)} against {human(largest)}, {value / largest:.0f} times"))
        if outside := self.outside(shares):
            flags.append(Flag(Doubt.EXTRAPOLATES_MIXTURE, outside))
        return tuple(flags)

    def outside(self, shares: Floats) -> str:
        """The shares of a mixture, shape (K,), beyond the range of the data, with that range; empty if none is."""
        low, high = self.seen.mixtures.min(axis=0), self.seen.mixtures.max(axis=0)
        little = (shares < low - OUTSIDE) | ((shares < low / 2) & (low >= OUTSIDE / 2))
        out = np.flatnonzero(little | (shares > high + OUTSIDE))
        return ", ".join(f"{self.domains[i]} {shares[i]:.3f} (data {low[i]:.3f}-{high[i]:.3f})" for i in out)


def _delta_variance(fit: Fit, inputs: Inputs) -> Floats:
    """Variance of a log prediction from the covariance of the parameters, shape (n,)."""
    gradient = fit.law.gradient(fit.theta, inputs) / fit.predict(inputs)[:, None]
    return np.asarray(np.maximum(np.einsum("np,pq,nq->n", gradient, fit.covariance, gradient), 0.0))


def _about_mean(values: Floats) -> Floats:
    """Values minus their mean over the last axis, shape (..., n)."""
    return np.asarray(values - values.mean(axis=-1, keepdims=True))


def _percent(detail: str) -> float:
    """The number before the first percent sign."""
    return float(detail.partition("%")[0])
