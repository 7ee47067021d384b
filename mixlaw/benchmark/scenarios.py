"""Joint scenarios of predictions: what the losses and accuracies of several mixtures could be, all at once.

Differences between mixtures are far better known than their levels; only scenarios in which all of them move together
show that. One scenario is one bootstrap draw (the same resampled runs for every target and law), or, without a
bootstrap, one draw from the covariance of the parameters: the same standard normals for every target of a law, so that
the errors of targets move together, as their runs do, and a mean over targets is not surer than they are. With several
laws a scenario leans on one of them in turn.

The deviation of a scenario from the fit has a level, its mean over the mixtures of the data at the same scale, and a
contrast, the rest. Each is widened by the factor that covers held-out data: the level by that of losses, the contrast
by that of differences between mixtures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mixlaw.benchmark.curve import Curve
from mixlaw.fits import FitSet, Member
from mixlaw.laws.base import Floats, Inputs

WITHOUT_BOOTSTRAP = 200
"""Scenarios drawn from covariances where the fit has no bootstrap draws."""


def loss_scenarios(fits: FitSet, inputs: Inputs, *, seed: int = 0) -> dict[str, Floats]:
    """Losses of every target for n rows of inputs under S scenarios, each of shape (S, n)."""
    every, scale = _with_seen(fits, inputs)
    drawn = {target: fits.draws(target, every) for target in fits.targets}
    counts = [len(d) for d in drawn.values() if d is not None]
    number = min(counts) if len(counts) == len(drawn) else WITHOUT_BOOTSTRAP
    rng = np.random.default_rng([seed, 11])
    lean = rng.random(number)
    out, normals = {}, dict[str, Floats]()
    for target, draws in drawn.items():
        centre = np.log(fits.value(target, every))
        moved = np.log(draws[:number]) - centre if draws is not None and len(counts) == len(drawn) else None
        if moved is None:
            moved = _by_covariance(fits.members[target], every, number, normals, rng)
        moved = moved + _leaning(fits.members[target], every, centre, lean)
        out[target] = np.exp(centre[: len(inputs)] + _widened(moved, scale, fits.factors(target)))
    return out


def _with_seen(fits: FitSet, inputs: Inputs) -> tuple[Inputs, NDArray[np.intp]]:
    """The n rows, then the m mixtures of the data at each of their scales; and each row's scale, shape (n,)."""
    scales = np.nan_to_num(np.column_stack([inputs.params, inputs.tokens]))
    _, first, scale = np.unique(scales, axis=0, return_index=True, return_inverse=True)
    seen = fits.seen.distinct
    shares = np.vstack([inputs.shares, np.tile(seen, (len(first), 1))])
    row = np.concatenate([np.arange(len(inputs)), np.repeat(first, len(seen))])
    every = Inputs.build(inputs.domains, shares, inputs.params[row], inputs.tokens[row])
    return every, scale.reshape(-1).astype(np.intp)


def _widened(moved: Floats, scale: NDArray[np.intp], factors: tuple[float, float]) -> Floats:
    """Widen the moves of the first n columns, shape (S, n); the columns after them give the level of each scale."""
    number, (level, contrast) = len(scale), factors
    if level == contrast:
        return level * moved[:, :number]
    levels = moved[:, number:].reshape(len(moved), int(scale.max()) + 1, -1).mean(axis=2)
    return np.asarray(contrast * moved[:, :number] + (level - contrast) * levels[:, scale])


def accuracy_scenarios(curves: Mapping[str, Curve], losses: Mapping[str, Floats]) -> dict[str, Floats]:
    """Accuracies of the predictable tasks under scenarios of losses, each of shape (S, n)."""
    return {
        task: curve.scenarios(np.stack([losses[target] for target in curve.inputs], axis=-1))
        for task, curve in curves.items()
        if curve.predictable
    }


def _by_covariance(
    members: Sequence[Member], inputs: Inputs, number: int, normals: dict[str, Floats], rng: np.random.Generator
) -> Floats:
    """Moves of a log loss, shape (S, n), linear in draws from the parameters' covariances.

    ``normals``, shape (S, P) by form, is filled at the first target of each form and serves all of them.
    """
    moved = np.zeros((number, len(inputs)))
    for member in members:
        fit = member.fit
        values, vectors = np.linalg.eigh(fit.covariance)
        if fit.form not in normals:
            normals[fit.form] = rng.standard_normal((number, len(values)))
        steps = normals[fit.form] @ (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
        slope = fit.law.gradient(fit.theta, inputs) / fit.predict(inputs)[:, None]
        moved += member.weight * steps @ slope.T
    return moved


def _leaning(members: Sequence[Member], inputs: Inputs, centre: Floats, lean: Floats) -> Floats:
    """What each scenario's own law says beyond the mean of the laws, shape (S, n)."""
    off = np.array([np.log(m.fit.predict(inputs)) - centre for m in members])
    ends = np.cumsum([m.weight for m in members])
    return np.asarray(off[np.minimum(np.searchsorted(ends, lean, side="right"), len(members) - 1)])
