"""What the critical mixture ratio is computed from: by model size, runs at known shares and the base losses."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mixlaw.units import human

Floats = NDArray[np.float64]

FULL = 1 - 1e-6
"""A domain share from here on means no replay at all."""
ENOUGH_READINGS = 5
"""Readings that a curve needs."""
SAME_SHARE = 1e-6
"""Shares closer than this are one share."""
_WINDOW, _SPIKE, _SPIKE_NATS = 5, 8.0, 2e-3


@dataclass(frozen=True)
class Names:
    """Names of the two corpora, and of the losses measured on them where those differ."""

    general: str
    domain: str
    general_loss: str = ""
    domain_loss: str = ""

    @property
    def general_target(self) -> str:
        """Loss target of the general corpus."""
        return self.general_loss or self.general

    @property
    def domain_target(self) -> str:
        """Loss target of the domain corpus."""
        return self.domain_loss or self.domain


@dataclass(frozen=True)
class CptRun:
    """One continual pre-training run; arrays of shape (n,), in order of tokens, readings at 0 tokens left out.

    Attributes:
        name: of the run.
        share: of the domain corpus, 0 to 1.
        tokens: trained on so far.
        general: loss on the general corpus, NaN where missing.
        domain: loss on the domain corpus, NaN where missing.
        lr: learning rate, NaN where not logged.
    """

    name: str
    share: float
    tokens: Floats
    general: Floats
    domain: Floats
    lr: Floats

    @property
    def readings(self) -> int:
        """Readings of general loss."""
        return int(np.isfinite(self.general).sum())


@dataclass(frozen=True)
class SizeData:
    """All runs of one model size.

    Attributes:
        params: of the model; NaN where the table does not say.
        runs: at domain shares above 0.
        base_general: general loss of the base model.
        base_domain: domain loss of the base model, NaN where unknown.
        notes: what was left out or taken for granted on the way in.
        spikes: readings left out as spikes.
    """

    params: float
    runs: tuple[CptRun, ...]
    base_general: float
    base_domain: float
    notes: tuple[str, ...] = field(default=())
    spikes: int = 0

    @property
    def label(self) -> str:
        """The size for people."""
        return human(self.params) if np.isfinite(self.params) else "the model"

    @cached_property
    def longest(self) -> float:
        """Tokens of the longest run: the reference T of all curves."""
        return float(max(run.tokens[-1] for run in self.runs))

    @cached_property
    def mixed(self) -> tuple[CptRun, ...]:
        """Runs with some replay."""
        return tuple(run for run in self.runs if run.share < FULL)

    @cached_property
    def curves(self) -> tuple[CptRun, ...]:
        """Mixed runs with enough readings for a curve."""
        return tuple(run for run in self.mixed if run.readings >= ENOUGH_READINGS)

    @cached_property
    def has_domain(self) -> bool:
        """Whether domain loss and its base are known for every curve."""
        known = all(np.isfinite(run.domain).sum() >= ENOUGH_READINGS for run in self.curves)
        return bool(self.curves) and known and bool(np.isfinite(self.base_domain))

    @cached_property
    def knots(self) -> Floats:
        """Distinct domain shares of the curves, shape (n,), ascending."""
        return distinct(np.array([run.share for run in self.curves]))

    def knot(self, runs: tuple[CptRun, ...]) -> NDArray[np.intp]:
        """Index of each run's share in ``knots``."""
        return np.array([int(np.argmin(np.abs(self.knots - run.share))) for run in runs], dtype=np.intp)


def distinct(shares: Floats) -> Floats:
    """Shares ascending, nearly equal ones once."""
    ordered = np.sort(shares)
    return ordered[np.concatenate([[True], np.diff(ordered) > SAME_SHARE])] if len(ordered) else ordered


def without_spikes(loss: Floats) -> tuple[Floats, int]:
    """Losses with spikes set to NaN, shape (n,), and how many there were.

    A spike is 8 robust standard deviations and 0.002 nats off the median of itself and its four neighbours; the two
    readings at either end, whose neighbours lie on one side, are never one.
    """
    there = np.flatnonzero(np.isfinite(loss))
    if len(there) < _WINDOW + 2:
        return loss, 0
    own = loss[there]
    middle = np.median(np.lib.stride_tricks.sliding_window_view(own, _WINDOW), axis=1)
    off = np.abs(own[_WINDOW // 2 : -(_WINDOW // 2)] - middle)
    # Medians follow a steep smooth curve too well; second differences see its bends as noise, to be on the safe side.
    scale = 1.4826 * max(float(np.median(off)), float(np.median(np.abs(np.diff(own, 2)))) / math.sqrt(6))
    spike = off > max(_SPIKE * scale, _SPIKE_NATS)
    kept = loss.copy()
    kept[there[_WINDOW // 2 : -(_WINDOW // 2)][spike]] = np.nan
    return kept, int(spike.sum())


@dataclass(frozen=True)
class Readings:
    """Increments of one loss over the base model, padded to one array.

    Attributes:
        z: ln(tokens / longest run), shape (R, m).
        y: increments, shape (R, m); 0 where padded.
        weight: 1 where there is a reading, 0 where padded, shape (R, m).
        knot: index of each run's share, shape (R,).
        shares: distinct shares, shape (n,).
    """

    z: Floats
    y: Floats
    weight: Floats
    knot: NDArray[np.intp]
    shares: Floats

    @classmethod
    def of(cls, size: SizeData, *, domain: bool = False) -> Readings:
        """Readings of the general (or domain) loss of all curves of a size."""
        runs = size.curves
        base = size.base_domain if domain else size.base_general
        values = [run.domain if domain else run.general for run in runs]
        width = max(len(v) for v in values)
        z, y, weight = (np.zeros((len(runs), width)) for _ in range(3))
        for row, (run, value) in enumerate(zip(runs, values, strict=True)):
            there = np.isfinite(value)
            count = int(there.sum())
            z[row, :count] = np.log(run.tokens[there] / size.longest)
            y[row, :count] = value[there] - base
            weight[row, :count] = 1.0
        return cls(z, y, weight, size.knot(runs), size.knots)


Base = Mapping[str, float]
"""Losses of the base model: ``general`` and, where known, ``domain``."""
