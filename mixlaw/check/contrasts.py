"""How far differences between mixtures are off at a scale that the laws have not seen.

An error of extrapolation in size is mostly common to all mixtures and cancels between them. So the contrasts of the
held-out runs, each the log miss of a run minus the mean over runs of its size and token count, are calibrated apart.
With c a contrast, s its predicted standard deviation and e the noise of one run, which is no error of the law, the
interval of c just holds it when the law's part is widened by k,

    k^2 = ((c / z)^2 - e^2 (1 - 1 / n)) / s^2,    z = 1.645 for 90 %,

and the factor is the 90 % quantile of these k: over the contrasts of all targets, or over those of the mean of targets,
whose errors may move together more than the draws do; the larger of the two. Only repeats of a configuration tell e.
Without them the scatter round the fits is an upper bound, for the misfit of the law is in it, and 0 is a lower one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from mixlaw.check.holdout import SAME_SIZE
from mixlaw.check.noise import seed_noise
from mixlaw.dataset import inputs_of
from mixlaw.fits import Z90, FitSet
from mixlaw.runs import RunTable

Floats = NDArray[np.float64]

FEWEST = 4
"""Degrees of freedom (held-out mixtures minus the scales that they are at) below which contrasts are not judged."""
REPEATS = 4
"""Degrees of freedom of repeated runs below which they do not tell the noise."""


@dataclass(frozen=True)
class Squares:
    """Squares of m held-out contrasts.

    Attributes:
        measured: c^2, shape (m,).
        predicted: s^2, shape (m,).
        noise: e^2 (1 - 1 / n), shape (m,).
    """

    measured: Floats
    predicted: Floats
    noise: Floats

    def __len__(self) -> int:
        return len(self.measured)

    def covering(self, noise: float, *, raised: float = 1.0) -> float:
        """The factor by which 90 % are covered, ``noise`` times the noise added and contrasts ``raised``."""
        error = (raised / Z90) ** 2 * self.measured - noise * self.noise
        return float(np.sqrt(max(float(np.quantile(error / np.maximum(self.predicted, 1e-18), 0.9)), 0.0)))


@dataclass(frozen=True)
class Contrasts:
    """Held-out contrasts.

    Attributes:
        single: those of all targets one after the other.
        mean: those of the mean over targets; None where no two runs of a scale have all losses.
        freedom: distinct mixtures minus scales: how many independent contrasts a target has.
        repeated: whether the noise is known from repeats, or may be anything from 0 to what is given.
    """

    single: Squares
    mean: Squares | None
    freedom: int
    repeated: bool = True

    @classmethod
    def of(cls, fits: FitSet, held: RunTable, noise: Noise) -> Contrasts:
        """Contrasts of held-out runs, one row each, under fits that have not seen them.

        Args:
            fits: fitted without the held-out runs, with bootstrap draws.
            held: last checkpoints of the held-out runs.
            noise: of one run.
        """
        groups = [g for g in _scales(held) if len(np.unique(held.mixture_codes[g])) > 1]
        single = [p for t in fits.targets for g in groups if (p := _squares(fits, held, g, (t,), noise)) is not None]
        mean = [p for g in groups if (p := _squares(fits, held, g, fits.targets, noise)) is not None]
        freedom = sum(len(np.unique(held.mixture_codes[g])) - 1 for g in groups)
        return cls(_joined(single), _joined(mean) if mean else None, freedom, noise.repeated)

    def __len__(self) -> int:
        return len(self.single)

    @property
    def enough(self) -> bool:
        """Whether there are enough to be judged by."""
        return self.freedom >= FEWEST and len(self) > 0

    @property
    def achieved(self) -> float:
        """Share of single targets' contrasts inside their 90 % interval by the draws and known noise."""
        known = self.single.noise if self.repeated else 0.0
        return float(np.mean(self.single.measured <= Z90**2 * (self.single.predicted + known)))

    def factor(self, ceiling: float) -> float:
        """The factor k by which deviations of contrasts are widened, at least 1.

        Few contrasts may be small by chance, and what looks like noise may be error. So they are raised to the ratio
        of Student's t to the normal quantile, and noise that no repeats tell is taken as 0; as far as that does not
        lift the factor above ``ceiling``.
        """
        student = float(stdtrit(self.freedom, 0.95)) / Z90
        parts = [self.single] if self.mean is None else [self.single, self.mean]
        plain = max(part.covering(1.0) for part in parts)
        cautious = max(part.covering(float(self.repeated), raised=student) for part in parts)
        return max(1.0, plain, min(cautious, ceiling))


@dataclass(frozen=True)
class Noise:
    """Scatter of one run.

    Attributes:
        relative: by target, standard deviation of the log loss.
        source: where it is from, in words.
        repeated: whether it is from repeats, not from residuals of fits.
    """

    relative: Mapping[str, float]
    source: str
    repeated: bool

    @classmethod
    def of(cls, table: RunTable, fits: FitSet) -> Noise:
        """From repeats in the table where there are enough, else from residuals of the fits."""
        found = seed_noise(table)
        if found is not None and found.runs - found.configurations >= REPEATS:
            source = f"{found.runs} runs that repeat {found.configurations} configurations"
            return cls(found.relative, source, True)
        scatter = {t: 1.4826 * sum(m.weight * m.fit.residual for m in ms) for t, ms in fits.members.items()}
        return cls(scatter, "at most the residuals of the fits: too few repeats", False)


def _squares(
    fits: FitSet, held: RunTable, group: NDArray[np.intp], targets: tuple[str, ...], noise: Noise
) -> Squares | None:
    """Contrasts of the mean over some targets within one scale; None where fewer than two runs have all losses."""
    misses = np.array([np.log(held.loss(t)[group]) for t in targets])
    there = np.isfinite(misses).all(axis=0)
    if there.sum() < 2:
        return None
    inputs = inputs_of(held).rows(group[there])
    off = np.mean([m[there] - np.log(fits.value(t, inputs)) for t, m in zip(targets, misses, strict=True)], axis=0)
    sd = fits.contrast_error(targets, inputs)
    if sd is None:
        return None
    one = sum(noise.relative.get(t, 0.0) ** 2 for t in targets) / len(targets) ** 2
    return Squares((off - off.mean()) ** 2, sd**2, np.full(len(off), one * (1 - 1 / len(off))))


def _joined(parts: list[Squares]) -> Squares:
    columns = ([p.measured for p in parts], [p.predicted for p in parts], [p.noise for p in parts])
    return Squares(*(np.concatenate([np.zeros(0), *column]) for column in columns))


def _scales(held: RunTable) -> list[NDArray[np.intp]]:
    """Rows of each pair of size and token count, those within 2 % of the next as one."""
    keys = np.column_stack([_levels(held.column(c)) for c in ("params", "tokens")])
    _, group = np.unique(keys, axis=0, return_inverse=True)
    group = group.reshape(-1)
    return [np.flatnonzero(group == g) for g in range(int(group.max()) + 1)]


def _levels(values: Floats) -> NDArray[np.intp]:
    """Number of each value's level in rising order, shape (n,); unknown values are one level."""
    known = np.nan_to_num(values, nan=1.0)
    order = np.argsort(known, kind="stable")
    jumps = known[order][1:] > SAME_SIZE * known[order][:-1]
    levels = np.zeros(len(known), dtype=np.intp)
    levels[order] = np.concatenate([[0], np.cumsum(jumps)])
    return levels
