"""What else the curves could be: draws that carry the noise, and refits that show what the law's shape leaves open.

Noise: draws from the posterior of the surface, or fits to runs resampled within shares. Shape: the same fit with a
fifth of every run left out, each fifth in turn (a jackknife over blocks of neighbouring readings, the same block of
every run at a time, so that what the law misses at all shares alike does not average out). The same is done to made-up
readings, the fitted curves with white noise: so far refits would move if noise were all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from mixlaw.cmr.data import Readings
from mixlaw.cmr.perrun import RunCurves, fit_runs
from mixlaw.cmr.shapes import curve
from mixlaw.cmr.surface import SurfaceFit, fit_surface, refit_surface, resampled_runs

Floats = NDArray[np.float64]

ENOUGH_RUNS = 3
"""Runs at every share from which runs, not readings, are resampled."""
BLOCKS = 5
"""Parts that a run falls into, each left out once."""
SYNTHETIC = 16
"""Sets of made-up readings whose refits say how far noise alone moves them."""


@dataclass(frozen=True)
class Samples:
    """B surfaces: the estimate first, then draws or refits.

    Attributes:
        theta: of the tested shares, shape (B, n, 3).
        level: increment of each run at the longest run's tokens, shape (B, R).
        times: how much each run counts in the mean of its share, shape (B, R).
    """

    theta: Floats
    level: Floats
    times: Floats

    @classmethod
    def of(cls, fit: SurfaceFit) -> Samples:
        """The fits of a batch, every run counted once."""
        return cls(fit.theta, fit.level, np.ones_like(fit.level))

    def increments(self, knot: NDArray[np.intp], z: Floats) -> Floats:
        """General loss above the base model's at each tested share, shape (B, n, m).

        Args:
            knot: index of each run's share, shape (R,).
            z: ln(tokens / longest run), shape (m,).
        """
        values = self.level[..., None] + curve(self.theta[:, knot], z)
        counts = np.equal.outer(np.arange(self.theta.shape[1]), knot) * self.times[:, None, :]
        return np.asarray(np.einsum("bkr,brm->bkm", counts / counts.sum(axis=2, keepdims=True), values))


def joined(parts: Sequence[Samples]) -> Samples:
    """All surfaces of several, in order."""
    return Samples(*(np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(Samples)))


def joined_curves(parts: Sequence[RunCurves]) -> RunCurves:
    """All data sets of several, in order."""
    return RunCurves(*(np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(RunCurves)))


def drawn_surfaces(readings: Readings, fit: SurfaceFit, draws: int, rng: np.random.Generator) -> tuple[Samples, str]:
    """Surfaces as noise allows them, and how they were made."""
    runs = np.bincount(readings.knot, minlength=len(readings.shares))
    if runs.min() >= ENOUGH_RUNS:
        times = resampled_runs(readings, rng, draws)
        refits = fit_surface(readings, multiplicity=times)
        return replace(Samples.of(refits), times=times), "bootstrap over runs within each share"
    theta = fit.draws(rng, draws)[:, 0]
    rest = (readings.y - curve(theta[:, readings.knot], readings.z)) * readings.weight
    count = readings.weight.sum(axis=-1)
    noise = rng.standard_normal((draws, len(count))) * fit.noise[0] / np.sqrt(count)
    level = rest.sum(axis=-1) / count + noise
    return Samples(theta, level, np.ones_like(level)), "draws from the posterior of the surface (noise of readings)"


def drawn_curves(
    readings: Readings, curves: RunCurves, draws: int, rng: np.random.Generator, *, paper: bool
) -> RunCurves:
    """Curves refitted to the curves plus noise like their residuals' (AR(1) where those correlate)."""
    noise = rng.standard_normal((draws, *readings.y.shape))
    rho = float(np.clip(curves.correlation[0], 0, 0.95)) if curves.correlation[0] > 0.2 else 0.0
    for column in range(1, noise.shape[-1] if rho else 1):
        noise[..., column] = rho * noise[..., column - 1] + math.sqrt(1 - rho**2) * noise[..., column]
    fitted = curves.value(readings.z)[0]
    return fit_runs(readings, paper=paper, y=(fitted + curves.noise[0] * noise) * readings.weight)


def without_blocks(readings: Readings) -> Iterator[Readings]:
    """The readings without the first, second, ... fifth of every run."""
    rank = np.cumsum(readings.weight, axis=1) - 1
    block = np.floor(rank * BLOCKS / readings.weight.sum(axis=1, keepdims=True))
    for left_out in range(BLOCKS):
        yield replace(readings, weight=readings.weight * (block != left_out))


def refitted_surfaces(readings: Readings, fit: SurfaceFit, rng: np.random.Generator) -> Samples:
    """For each block left out a surface through the readings, then ``SYNTHETIC`` through noise about the surface.

    Smoothness and noise are held at those of the whole fit. Shape (BLOCKS (1 + SYNTHETIC), ...), blocks in order.
    """
    clean = fit.level[0][:, None] + curve(fit.theta[0, readings.knot], readings.z)
    y = _with_noise(readings, clean, float(fit.white[0]), rng)
    return joined([Samples.of(refit_surface(part, fit, y=y)) for part in without_blocks(readings)])


def refitted_curves(readings: Readings, curves: RunCurves, rng: np.random.Generator, *, paper: bool) -> RunCurves:
    """The same run by run."""
    y = _with_noise(readings, curves.value(readings.z)[0], float(curves.noise[0]), rng)
    return joined_curves([fit_runs(part, paper=paper, y=y) for part in without_blocks(readings)])


def _with_noise(readings: Readings, clean: Floats, noise: float, rng: np.random.Generator) -> Floats:
    """The readings, then fitted curves with white noise, shape (1 + SYNTHETIC, R, m)."""
    drawn = clean + noise * rng.standard_normal((SYNTHETIC, *readings.y.shape))
    return np.concatenate([readings.y[None], drawn * readings.weight])
