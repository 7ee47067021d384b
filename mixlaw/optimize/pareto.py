"""The trade-off between two losses or accuracies: the mixtures of which neither gets better without the other worse."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from mixlaw.errors import InputError, UsageError
from mixlaw.fits import FitSet
from mixlaw.laws.base import Floats
from mixlaw.optimize.objective import Objective
from mixlaw.optimize.request import Request
from mixlaw.optimize.search import search, starts_of
from mixlaw.optimize.surface import Surface

POINTS = 21


@dataclass(frozen=True)
class Front:
    """Mixtures on the front, from the best for the first term to the best for the second.

    Attributes:
        terms: the two, as ``loss/<target>`` or ``bench/<task>``.
        weights: of the second term at each point, shape (n,).
        values: of both terms, shape (n, 2).
        mixtures: shape (n, K).
        domains: names of the domains.
    """

    terms: tuple[str, str]
    weights: Floats
    values: Floats
    mixtures: Floats
    domains: tuple[str, ...]


def parse_terms(text: str) -> tuple[str, str]:
    """Read ``a,b``; names without a prefix are losses.

    Raises:
        UsageError: for another number of names, or one twice.
    """
    names = [part.strip() for part in text.split(",") if part.strip()]
    terms = [name if name.startswith(("loss/", "bench/")) else f"loss/{name}" for name in names]
    if len(terms) != 2 or terms[0] == terms[1]:
        raise UsageError("--pareto with two names, such as web,bench/mmlu", repr(text))
    return terms[0], terms[1]


def check_terms(terms: tuple[str, str], targets: Iterable[str], tasks: Iterable[str]) -> None:
    """Hold the two names against those of the data.

    Raises:
        InputError: naming the one that the data lack.
    """
    known = [*(f"loss/{t}" for t in targets), *(f"bench/{t}" for t in tasks)]
    for term in terms:
        if term not in known:
            raise InputError(f"names among {', '.join(known)} in --pareto", repr(term))


def pareto(
    fits: FitSet, request: Request, terms: tuple[str, str], *, progress: Callable[[float], None] | None = None
) -> Front:
    """Minimise weighted sums of both terms, each scaled by its range over the front, for ``POINTS`` weights.

    Where the front is not convex, sums cannot reach its inner part; the points found are on the front all the same.
    """
    ends = [_best(fits, request, {term: 1.0}, terms, None) for term in terms]
    spans = [abs(ends[1][0] - ends[0][0]), abs(ends[1][1] - ends[0][1])]
    if min(spans) < 1e-12:
        spans = [1.0, 1.0]
    weights = 0.5 * (1 - np.cos(np.linspace(0, np.pi, POINTS)))
    found, near = [], ends[0][2]
    for number, weight in enumerate(weights):
        mix = {terms[0]: (1 - weight) / spans[0], terms[1]: weight / spans[1]}
        total = sum(mix.values())
        point = _best(fits, request, {name: w / total for name, w in mix.items() if w > 0}, terms, near)
        found.append(point)
        near = point[2]
        if progress:
            progress((number + 1) / POINTS)
    values = np.array([[a, b] for a, b, _ in found])
    return Front(terms, weights, values, np.array([share for _, _, share in found]), fits.domains)


def _best(
    fits: FitSet, request: Request, weights: dict[str, float], terms: tuple[str, str], near: Floats | None
) -> tuple[float, float, Floats]:
    asked = replace(request, objective=Objective(weights, request.objective.limits))
    surface = Surface.of(fits, asked.objective.over(fits.targets, fits.benchmarks), asked.scale)
    found = search(fits, asked, starts_of(fits, asked, surface)[1], start=near)
    share = found.optimum.mixture
    first, second = (float(surface.term(term, share[None])[0]) for term in terms)
    return first, second, share
