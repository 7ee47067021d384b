"""How far repeats of one configuration scatter: no smaller difference between laws or mixtures means anything."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixlaw.check.holdout import SAME_SIZE, last_rows
from mixlaw.check.trial import measured
from mixlaw.runs import RunTable

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SeedNoise:
    """Scatter of runs that differ in their seed alone, pooled over the configurations that were repeated.

    Attributes:
        configurations: that were run more than once.
        runs: of them together.
        relative: by target, standard deviation of one run's log loss.
        mean_loss: standard deviation of one run's mean loss over targets, in the unit of the losses; NaN where no
            configuration has two runs with all targets.
    """

    configurations: int
    runs: int
    relative: dict[str, float]
    mean_loss: float

    @property
    def floor(self) -> float:
        """Mean absolute relative error of predictions that are right but for the noise, mean over targets."""
        return float(np.sqrt(2 / np.pi) * np.mean(list(self.relative.values())))


def seed_noise(table: RunTable) -> SeedNoise | None:
    """Pool the scatter of last checkpoints of one mixture, size and token count; None without any repeat."""
    last = table.select(last_rows(table))
    groups = [g for g in _configurations(last) if len(g) > 1]
    losses = measured(last)
    with np.errstate(invalid="ignore"):
        relative = {t: _pooled([np.log(losses[i, g]) for g in groups]) for i, t in enumerate(last.targets)}
    known = {t: sd for t, sd in relative.items() if np.isfinite(sd)}
    if not known:
        return None
    mean_loss = _pooled([losses[:, g].mean(axis=0) for g in groups])
    return SeedNoise(len(groups), sum(map(len, groups)), known, mean_loss)


def _configurations(last: RunTable) -> list[NDArray[np.intp]]:
    """Rows of each configuration: one mixture, one size, one token count (within 2 %); unknown sizes are one size."""
    scale = np.column_stack([np.nan_to_num(last.column(c), nan=1.0) for c in ("params", "tokens")])
    levels = np.round(np.log(np.maximum(scale, 1.0)) / np.log(SAME_SIZE))
    keys = np.column_stack([last.mixture_codes, levels])
    _, group = np.unique(keys, axis=0, return_inverse=True)
    group = group.reshape(-1)
    return [np.flatnonzero(group == g) for g in range(int(group.max()) + 1)]


def _pooled(groups: list[Floats]) -> float:
    """Pooled standard deviation within groups; NaN where no group has two values."""
    present = [g[np.isfinite(g)] for g in groups]
    present = [g for g in present if len(g) > 1]
    if not present:
        return float("nan")
    squares = sum(float(np.sum((g - g.mean()) ** 2)) for g in present)
    return float(np.sqrt(squares / sum(len(g) - 1 for g in present)))
