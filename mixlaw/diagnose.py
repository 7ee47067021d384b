"""What the Jacobian at the optimum says: rank, condition, redundant directions, parameter errors, and flags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from mixlaw.dataset import Dataset
from mixlaw.flags import Doubt, Flag
from mixlaw.solver import Floats, Model, SolverOptions, penalty

RANK_TOLERANCE = 1e-8
ILL_CONDITIONED = 1e6
MISFIT = 0.05
"""Median absolute log residual on the training data above which a law does not describe them."""
LARGEST_OFF, LARGEST_SURE = 0.01, 3.0
"""Mean log residual at the ends of the runs of the largest size above which it is missed; also in standard errors."""
ASSUMED_NOISE = 5e-3
"""Scatter of log losses where a law has as many parameters as there are rows, which then cannot show any."""


@dataclass(frozen=True)
class Geometry:
    """Local shape of a fit.

    Attributes:
        rank: independent directions among P.
        condition: ratio of the largest to the smallest singular value, columns scaled to length 1.
        at_bound: names of parameters on a bound.
        redundant: for each direction that the data do not see, the parameters that it moves.
        jacobian: of the log predictions, shape (n, P); not kept in files.
    """

    rank: int
    condition: float
    at_bound: tuple[str, ...] = ()
    redundant: tuple[tuple[str, ...], ...] = ()
    jacobian: Floats = field(default_factory=lambda: np.zeros((0, 0)), repr=False)
    held: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool), repr=False)
    directions: tuple[Floats, ...] = field(default=(), repr=False)

    def named(self, names: Sequence[str]) -> Geometry:
        """The same with parameter names put to positions."""
        redundant = tuple(tuple(names[int(i)] for i in np.flatnonzero(np.abs(d) > 0.2)) for d in self.directions)
        return replace(self, at_bound=tuple(names[int(i)] for i in np.flatnonzero(self.held)), redundant=redundant)

    def covariance(
        self, residuals: Floats, run: NDArray[np.intp], options: SolverOptions, *, pull: Floats | None = None
    ) -> Floats:
        """Covariance of theta, shape (P, P): sandwich clustered by run, or plain where runs are few.

        Parameters on a bound count as fixed; with no more rows than parameters the noise is ``ASSUMED_NOISE``, and
        directions that the data do not see have the variance of the ridge: intervals are then as wide as our ignorance.
        ``pull``, shape (P,), is the strength of the priors in units of the ridge.
        """
        count, width = self.jacobian.shape
        free = ~self.held
        _, weight = penalty(residuals, options.width)
        scaled = self.jacobian[:, free] * weight[:, None]
        strength = options.ridge * (np.ones(width) if pull is None else pull)
        hessian = self.jacobian[:, free].T @ scaled + np.diag(strength[free])
        inverse = np.linalg.pinv(hessian, rcond=1e-14, hermitian=True)
        runs = len(np.unique(run))
        out = np.zeros((width, width))
        if runs > width:
            scores = np.zeros((int(run.max()) + 1, int(free.sum())))
            np.add.at(scores, run, scaled * residuals[:, None])
            middle = scores.T @ scores * runs / (runs - 1) * (count - 1) / max(1, count - width)
        else:
            noise = (weight * residuals**2).sum() / (count - width) if count > width else ASSUMED_NOISE**2
            middle = hessian * noise
        out[np.ix_(free, free)] = inverse @ middle @ inverse
        return out


def geometry(model: Model, theta: Floats, lower: Floats, upper: Floats) -> Geometry:
    """Look at the Jacobian of the log predictions at ``theta``, shape (P,)."""
    _, jacobian = model.jacobian(theta[None])
    jacobian = jacobian[0]
    held = (theta <= lower + 1e-9) | (theta >= upper - 1e-9)
    length = np.linalg.norm(jacobian, axis=0)
    free = np.flatnonzero(~held)
    if not len(free) or not np.isfinite(jacobian).all():
        return Geometry(0, np.inf, jacobian=np.nan_to_num(jacobian), held=held)
    _, singular, vectors = np.linalg.svd(jacobian[:, free] / np.maximum(length[free], 1e-300), full_matrices=True)
    singular = np.pad(singular, (0, len(free) - len(singular)))
    unseen = singular <= RANK_TOLERANCE * singular[0]
    directions = []
    for row in vectors[unseen]:
        direction = np.zeros(len(theta))
        direction[free] = row
        directions.append(direction)
    condition = float(singular[0] / singular[-1]) if singular[-1] > 0 else float("inf")
    return Geometry(
        int((~unseen).sum()) + int(held.sum()), condition, jacobian=jacobian, held=held, directions=tuple(directions)
    )


def flags_of(
    shape: Geometry, dataset: Dataset, *, runs: int, agreeing: float, parameters: int, residual: float
) -> tuple[Flag, ...]:
    """The doubts that hold for one fit."""
    flags = []
    domains = len(dataset.inputs.domains)
    if not residual <= MISFIT:
        flags.append(Flag(Doubt.MISFIT, f"{residual:.0%}"))
    if shape.at_bound:
        flags.append(Flag(Doubt.AT_BOUND, ", ".join(shape.at_bound)))
    if shape.redundant:
        flags.append(Flag(Doubt.REDUNDANT, "; ".join(" with ".join(names) for names in shape.redundant[:3])))
    elif shape.condition > ILL_CONDITIONED:
        flags.append(Flag(Doubt.ILL_CONDITIONED, f"condition number {shape.condition:.0e}"))
    if agreeing < 0.1:
        flags.append(Flag(Doubt.STARTS_DISAGREE, f"{agreeing:.0%} agree"))
    if runs < 3 * (domains + 1):
        flags.append(Flag(Doubt.TOO_FEW_RUNS, f"{runs} runs for {domains} domains, 3 (K + 1) = {3 * (domains + 1)}"))
    if runs < parameters:
        flags.append(Flag(Doubt.FEWER_RUNS_THAN_PARAMETERS, f"{runs} runs, {parameters} parameters"))
    return (*flags, *scale_flags(dataset))


def scale_flags(dataset: Dataset) -> tuple[Flag, ...]:
    """Doubts about what the sizes and token counts of the data can tell."""
    if not {"params", "tokens"} & dataset.varies:
        return (Flag(Doubt.SINGLE_SCALE),)
    ratio = dataset.inputs.tokens / dataset.inputs.params
    if {"params", "tokens"} <= dataset.varies and np.ptp(ratio) <= 0.02 * np.median(ratio):
        return (Flag(Doubt.ONE_RATIO, f"{np.median(ratio):.3g} tokens per parameter"),)
    return ()


def largest_size_flags(residuals: Floats, dataset: Dataset, present: NDArray[np.bool_]) -> tuple[Flag, ...]:
    """The doubt of a fit whose predictions for the ends of the runs of the largest size are off to one side.

    Args:
        residuals: log prediction minus log measured, shape (n,).
        dataset: with rows of at least two sizes, else nothing is said.
        present: rows of the fit, shape (n,).
    """
    params = dataset.inputs.params
    top = present & (params >= 0.98 * np.max(params, initial=-np.inf, where=present))
    if "params" not in dataset.varies or top.sum() == present.sum():
        return ()
    ends = np.array([residuals[top & (dataset.run == run)][-1] for run in np.unique(dataset.run[top])])
    if len(ends) < 3:
        return ()
    off, error = float(ends.mean()), float(ends.std(ddof=1) / np.sqrt(len(ends)))
    if abs(off) <= max(LARGEST_OFF, LARGEST_SURE * error):
        return ()
    side = "high" if off > 0 else "low"
    return (Flag(Doubt.MISSES_LARGEST_SIZE, f"{abs(off):.1%} too {side} on average over {len(ends)} runs"),)
