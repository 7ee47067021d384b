"""What a law looks like before there are runs: the default prior, or the fits of earlier runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mixlaw.errors import InputError
from mixlaw.fits import FitSet
from mixlaw.laws import LAWS
from mixlaw.laws.base import PARAMS_UNIT, TOKENS_UNIT, Floats, Law

MOST_TARGETS = 6
"""Targets that a design is judged on; more would cost time and change little."""
FLOOR_LOSS, POWER_DATA, POWER_SIZE, RETURNS = 0.8, 0.35, 0.2, 0.6
CAPACITY_LOSS, DATA_LOSS = 1.0, 0.8
OWN_TOKEN, OWN_PARAMETER = 5.0, 2.0
SPREAD_SCALARS, SPREAD_DOMAINS = 0.4, 1.0
DRAWS = 16
"""Parameter vectors over which a plan without runs or fits is averaged."""


@dataclass(frozen=True)
class Prior:
    """Where the Jacobian of a law is taken.

    Attributes:
        law: the functional form.
        targets: names of the targets.
        theta: S parameter vectors, one per target or several in turn, shape (S, P).
        spread: standard deviation of each entry before any run, shape (P,).
        text: what it is, for people.
    """

    law: Law
    targets: tuple[str, ...]
    theta: Floats
    spread: Floats
    text: str


def default_prior(domains: Sequence[str], natural: Floats, *, params: float, tokens: float) -> Prior:
    """One target per domain, for the domains with the largest natural shares, shape (K,).

    Args:
        domains: names.
        natural: natural shares.
        params: size of the middle of the plan: there the terms have the losses that the text states.
        tokens: tokens of the middle of the plan.
    """
    law = LAWS["capacity"]
    count = len(domains)
    chosen = np.sort(np.argsort(-natural, kind="stable")[:MOST_TARGETS])
    theta = np.array([_theta(int(i), count, params, tokens) for i in chosen])
    text = (
        f"default prior of the law capacity: targets {', '.join(domains[i] for i in chosen)}; "
        f"E = {FLOOR_LOSS:g}, a = {POWER_SIZE:g}, b = {POWER_DATA:g}, g = {RETURNS:g}; at the middle of the plan and "
        f"equal shares the capacity term is {CAPACITY_LOSS:g} and the data term {DATA_LOSS:g} nats; a target's own "
        f"domain is worth {OWN_TOKEN:g} tokens of another and {OWN_PARAMETER:g} of its parameters"
    )
    return Prior(law, tuple(domains[i] for i in chosen), theta, spread_of(law, domains), text)


def _theta(own: int, count: int, params: float, tokens: float) -> Floats:
    """Parameters of ``capacity`` for the target of one domain, shape (4 + 2 K,)."""
    worth, use = np.zeros(count), np.zeros(count)
    worth[own], use[own] = np.log(OWN_TOKEN), np.log(OWN_PARAMETER)
    share = 1 / count
    worth -= np.log((np.exp(worth) * share**RETURNS).sum()) + np.log(tokens / TOKENS_UNIT)
    worth -= np.log(DATA_LOSS) / POWER_DATA
    use -= np.log((np.exp(use) * share).sum()) + np.log(params / PARAMS_UNIT)
    use -= np.log(CAPACITY_LOSS) / POWER_SIZE
    return np.concatenate([np.log([FLOOR_LOSS, POWER_DATA, POWER_SIZE, RETURNS]), worth, use])


def drawn(
    prior: Prior, rng: np.random.Generator, *, count: int = DRAWS, covariance: Floats | None = None, done: int = 0
) -> Prior:
    """Parameter vectors round those of a prior: worlds over which a plan is averaged.

    A plan that is best at one vector alone exploits what the law's tangent there happens to leave out, and a fit to its
    runs does worse than promised. The targets take turns; steps are a Latin hypercube of normal values.

    Args:
        prior: its vectors are the centres.
        rng: randomness.
        count: how many vectors; one per target at least.
        covariance: of each target's parameters, shape (S, P, P); by the prior's spread if left out.
        done: number of runs that the covariance knows of.
    """
    from scipy.special import ndtri

    count = max(count, len(prior.theta))
    turn = np.arange(count) % len(prior.theta)
    steps = np.array([rng.permutation(ndtri((np.arange(count) + 0.5) / count)) for _ in prior.spread]).T
    if covariance is None:
        covariance = np.broadcast_to(np.diag(prior.spread**2), (len(prior.theta), *2 * prior.spread.shape))
    root = np.linalg.cholesky(covariance)
    theta = prior.theta[turn] + np.matmul(root[turn], steps[..., None])[..., 0]
    left = f", as far as the {done} runs leave that open" if done else ""
    text = (
        f"{prior.text}; averaged over {count} draws round that, standard deviation {SPREAD_SCALARS:g} "
        f"({SPREAD_DOMAINS:g} of the logs of single domains){left}"
    )
    return replace(prior, theta=theta, text=text)


def spread_of(law: Law, domains: Sequence[str]) -> Floats:
    """Standard deviation of each parameter before any run, shape (P,): wider for those of single domains."""
    names = [p.name for p in law.parameters(domains)]
    return np.array([SPREAD_DOMAINS if "[" in name else SPREAD_SCALARS for name in names])


def prior_of_fits(fits: FitSet, domains: Sequence[str]) -> Prior:
    """The fits of earlier runs as a prior; every target is answered by its heaviest member of one law.

    Raises:
        InputError: when no law of the fits depends on size, tokens and mixture, or the domains differ.
    """
    if set(fits.domains) != set(domains):
        only = sorted(set(fits.domains) ^ set(domains))
        raise InputError("the same domains in the fits and in the plan", f"{', '.join(only)} in one of them only")
    forms = [{m.fit.form: m for m in members} for members in fits.members.values()]
    common = set.intersection(*(set(f) for f in forms)) if forms else set()
    usable = sorted(n for n in common if {"params", "tokens", "mix"} <= forms[0][n].fit.law.needs)
    if not usable:
        raise InputError(
            "fits of a law of size, tokens and mixture, such as capacity",
            ", ".join(sorted(common)) or "a different law for every target",
            hint="Runs of two sizes or more are needed; leave them out to plan from the default prior.",
        )
    weight = {n: sum(f[n].weight for f in forms) for n in usable}
    form = max(usable, key=lambda n: weight[n])
    members = [f[form].fit for f in forms]
    theta = np.array([_reordered(m.law, m.theta, fits.domains, domains) for m in members])
    text = f"fits of the law {form} to {len(fits.seen.runs)} runs, {len(members)} targets"
    return Prior(members[0].law, fits.targets, theta, spread_of(members[0].law, domains), text)


def _reordered(law: Law, theta: Floats, old: Sequence[str], new: Sequence[str]) -> Floats:
    place = {p.name: i for i, p in enumerate(law.parameters(old))}
    return theta[[place[p.name] for p in law.parameters(new)]]
