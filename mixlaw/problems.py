"""A law and a data set as problems for the solver: model, bounds, starting points, and where parameters are pulled."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mixlaw.dataset import Dataset
from mixlaw.errors import InputError
from mixlaw.laws.base import Floats, Inputs, Law
from mixlaw.solver import Problems


@dataclass(frozen=True)
class LogModel:
    """A law on rows, in logarithms, as the solver wants it."""

    law: Law
    inputs: Inputs

    def values(self, theta: Floats) -> Floats:
        """Log predictions, shape (B, n)."""
        return np.log(self.law.predict(theta, self.inputs))

    def jacobian(self, theta: Floats) -> tuple[Floats, Floats]:
        """Log predictions (B, n) and their derivatives (B, n, P)."""
        predicted = self.law.predict(theta, self.inputs)
        gradient = self.law.gradient(theta, self.inputs)
        gradient /= predicted[..., None]
        return np.log(predicted), gradient


def bounds(form: Law, domains: Sequence[str]) -> tuple[Floats, Floats, Floats]:
    """Lower bounds, upper bounds and priors of a parameter vector, each of shape (P,)."""
    parameters = form.parameters(domains)
    return (
        np.array([p.lower for p in parameters]),
        np.array([p.upper for p in parameters]),
        np.array([p.prior for p in parameters]),
    )


def regulariser(form: Law, domains: Sequence[str], centre: Floats) -> tuple[Floats, Floats]:
    """Where each entry is pulled, of the shape of ``centre`` (..., P), and how strongly in units of the ridge (P,).

    Entries with a prior of their own go there; the others go to ``centre``.
    """
    parameters = form.parameters(domains)
    pull = np.array([p.pull for p in parameters])
    return np.where(pull > 0, [p.prior for p in parameters], centre), np.where(pull > 0, pull, 1.0)


def problems_for(form: Law, dataset: Dataset, *, starts: int, seed: int) -> tuple[Problems, Floats]:
    """One problem per target and start, and where each starts, shape (T * starts, P).

    Raises:
        InputError: for a target without a single loss.
    """
    lower, upper, _ = bounds(form, dataset.inputs.domains)
    first = []
    for index, target in enumerate(dataset.targets):
        present = dataset.weights[index] > 0
        if not present.any():
            raise InputError("at least one loss for every target", f"none for {target!r} in the rows used")
        rng = np.random.default_rng([seed, zlib.crc32(target.encode())])
        rows, y = dataset.inputs.rows(present), np.exp(dataset.log_y[index, present])
        first.append(np.clip(form.starts(rows, y, rng, starts), lower, upper))
    start = np.concatenate(first)
    # The ridge pulls towards the mean start of the target, which is where a look at the data alone would put theta.
    centre = np.repeat([s.mean(axis=0) for s in first], starts, axis=0)
    prior, pull = regulariser(form, dataset.inputs.domains, centre)
    which = np.repeat(np.arange(len(dataset.targets)), starts)
    model = LogModel(form, dataset.inputs)
    return Problems(model, dataset.log_y, dataset.weights, which, which, lower, upper, prior, pull), start


def shared_pattern(best: Floats, form: Law, domains: Sequence[str]) -> Floats:
    """What each domain is above or below the mean of its symbol: the median over targets, shape (P,).

    Args:
        best: the best parameter vector of each target, shape (T, P).
        form: the law.
        domains: training domains.

    Returns:
        For a coefficient such as ``c[web]`` its place in the pattern that targets share; 0 for the others.
    """
    pattern = np.zeros(best.shape[1])
    for mine in _symbols(form, domains):
        pattern[mine] = np.median(best[:, mine] - best[:, mine].mean(axis=1, keepdims=True), axis=0)
    return pattern


def shrunk(
    problems: Problems, best: Floats, pattern: Floats, form: Law, domains: Sequence[str], *, strength: float
) -> Problems:
    """The same problems with coefficients of domains pulled towards those that all targets share.

    Args:
        problems: as made by ``problems_for``.
        best: the best parameter vector of each target so far, shape (T, P).
        pattern: what ``shared_pattern`` found over all targets, these among them, shape (P,).
        form: the law.
        domains: training domains.
        strength: of the pull, in units of the ridge.

    A coefficient such as ``c[web]`` goes to the mean of its symbol for the target plus its place in the pattern:
    targets keep their level and share the pattern over domains.
    """
    prior = np.broadcast_to(problems.prior, (len(problems.target), len(pattern))).copy()
    pull = np.ones(len(pattern)) if problems.pull is None else problems.pull.copy()
    for mine in _symbols(form, domains):
        centre = best[:, mine].mean(axis=1, keepdims=True) + pattern[mine]
        prior[:, mine] = centre[problems.target]
        pull[mine] = strength
    return replace(problems, prior=prior, pull=pull)


def _symbols(form: Law, domains: Sequence[str]) -> list[NDArray[np.bool_]]:
    """Which parameters belong to each symbol that has one per domain, each of shape (P,)."""
    names = [p.name for p in form.parameters(domains)]
    symbols = dict.fromkeys(name.partition("[")[0] for name in names if "[" in name)
    return [np.array([name.startswith(f"{symbol}[") for name in names]) for symbol in symbols]
