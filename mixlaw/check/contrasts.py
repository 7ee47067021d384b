"""How far differences between mixtures are off at a scale that the laws have not seen.

An error of extrapolation in size is mostly common to all mixtures and cancels between them. So the contrasts of the
held-out runs, each the log miss of a run minus the mean over runs of its size and token count, are calibrated apart:

    k^2 = sum_t w_t sum_i (c_ti^2 - e_t^2 (1 - 1 / n)) / sum_t w_t sum_i s_ti^2,    w_t = 1 / (mean s_t^2 + e_t^2)

with c the contrasts of target t, s their predicted standard deviations, e the noise of one run, which is no error of
the law, and w_t so that targets count alike whatever their scale. Only repeats of a configuration tell e. Without them
the scatter round the fits is an upper bound, for the misfit of the law is in it, and 0 is a lower one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
class Contrasts:
    """Squares of the held-out contrasts, entries of all targets and scales one after the other, m of them.

    Attributes:
        measured: c^2, shape (m,).
        predicted: s^2, shape (m,).
        noise: e^2 (1 - 1 / n), shape (m,).
        weight: w of the target, shape (m,).
        freedom: distinct mixtures minus scales: how many independent contrasts a target has.
        repeated: whether the noise is known from repeats, or may be anything from 0 to what is given.
    """

    measured: Floats
    predicted: Floats
    noise: Floats
    weight: Floats
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
        parts = [part for t in fits.targets for part in _of_target(fits, held, groups, t, noise.relative.get(t, 0.0))]
        freedom = sum(len(np.unique(held.mixture_codes[g])) - 1 for g in groups)
        measured, predicted, runs, weight = np.concatenate([np.zeros((4, 0)), *parts], axis=1)
        return cls(measured, predicted, runs, weight, freedom, noise.repeated)

    def __len__(self) -> int:
        return len(self.measured)

    @property
    def enough(self) -> bool:
        """Whether there are enough to be judged by."""
        return self.freedom >= FEWEST and float(self.weight @ self.predicted) > 0

    @property
    def achieved(self) -> float:
        """Share of the contrasts inside their 90 % interval by the draws and known noise; NaN without any."""
        inside = self.measured <= Z90**2 * (self.predicted + self._known)
        return float(np.mean(inside)) if len(self) else float("nan")

    def factor(self, ceiling: float) -> float:
        """The factor k by which deviations of contrasts are widened, at least 1.

        Few contrasts may be small by chance, and what looks like noise may be error. So they are raised to the ratio
        of Student's t to the normal quantile, and noise that no repeats tell is taken as 0; as far as that does not
        lift the factor above ``ceiling``.
        """
        student = float(stdtrit(self.freedom, 0.95)) / Z90
        cautious = self._moment(student**2 * self.measured - self._known)
        return max(1.0, self._moment(self.measured - self.noise), min(cautious, ceiling))

    @property
    def _known(self) -> Floats:
        return self.noise if self.repeated else np.zeros(len(self))

    def _moment(self, error: Floats) -> float:
        return float(np.sqrt(max(float(self.weight @ error), 0.0) / (self.weight @ self.predicted)))


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


def _of_target(
    fits: FitSet, held: RunTable, groups: list[NDArray[np.intp]], target: str, noise: float
) -> Iterator[Floats]:
    """c^2, s^2, noise and weight of one target's contrasts, shape (4, n) for each scale."""
    found = []
    for group in groups:
        loss = held.loss(target)[group]
        rows = group[np.isfinite(loss)]
        if len(rows) < 2:
            continue
        inputs = inputs_of(held).rows(rows)
        off = np.log(held.loss(target)[rows]) - np.log(fits.value(target, inputs))
        sd = fits.log_error(target, inputs, contrast=True)
        found.append(np.array([(off - off.mean()) ** 2, sd**2, np.full(len(rows), noise**2 * (1 - 1 / len(rows)))]))
    usual = noise**2 + (float(np.mean(np.concatenate([f[1] for f in found]))) if found else 0.0)
    for part in found:
        yield np.vstack([part, np.full(part.shape[1], 1 / max(usual, 1e-18))])


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
