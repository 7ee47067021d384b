"""Joint scenarios of predictions: what the losses and accuracies of several mixtures could be, all at once.

Differences between mixtures are far better known than their levels; only scenarios in which all of them move together
show that. One scenario is one bootstrap draw (the same resampled runs for every target and law), or, without a
bootstrap, one draw from the covariance of the parameters: the same standard normals for every target of a law, so that
the errors of targets move together, as their runs do, and a mean over targets is not surer than they are. With several
laws a scenario leans on one of them in turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mixlaw.benchmark.curve import Curve
from mixlaw.fits import FitSet, Member
from mixlaw.laws.base import Floats, Inputs

WITHOUT_BOOTSTRAP = 200
"""Scenarios drawn from covariances where the fit has no bootstrap draws."""


def loss_scenarios(fits: FitSet, inputs: Inputs, *, seed: int = 0) -> dict[str, Floats]:
    """Losses of every target for n rows of inputs under S scenarios, each of shape (S, n)."""
    drawn = {target: fits.draws(target, inputs) for target in fits.targets}
    counts = [len(d) for d in drawn.values() if d is not None]
    number = min(counts) if len(counts) == len(drawn) else WITHOUT_BOOTSTRAP
    rng = np.random.default_rng([seed, 11])
    lean = rng.random(number)
    out, normals = {}, dict[str, Floats]()
    for target, draws in drawn.items():
        centre = np.log(fits.value(target, inputs))
        moved = np.log(draws[:number]) - centre if draws is not None and len(counts) == len(drawn) else None
        if moved is None:
            moved = _by_covariance(fits.members[target], inputs, number, normals, rng)
        moved = moved + _leaning(fits.members[target], inputs, centre, lean)
        out[target] = np.exp(centre + fits.widen.get(target, 1.0) * moved)
    return out


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
