"""Candidate mixtures: named ones, one domain out, Dirichlet draws, thinned so that they fill the space."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from mixlaw.errors import UsageError
from mixlaw.laws.base import Floats
from mixlaw.optimize.region import Region

STRENGTH = (0.1, 5.0)
"""Range of Dirichlet strengths, drawn log-uniformly: parameters are strength x K x prior."""
KEEP_DOMAIN = 0.5
"""Chance that a sparse draw keeps a domain."""
OVERSAMPLED = 6
SMALLEST_SHARE = 1e-3
"""Shares below are set to 0 where that is allowed: too few sequences for a loss to notice."""
NATURAL, UNIFORM, INCUMBENT = "natural", "uniform", "incumbent"


@dataclass(frozen=True)
class Candidates:
    """Mixtures that runs may have.

    Attributes:
        domains: names of K domains.
        names: where each comes from, M of them.
        shares: mixtures, shape (M, K).
    """

    domains: tuple[str, ...]
    names: tuple[str, ...]
    shares: Floats

    def anchors(self) -> tuple[int, ...]:
        """Positions of the natural, uniform and incumbent mixtures: the first that a plan runs at its largest size."""
        return tuple(i for i, name in enumerate(self.names) if name in (NATURAL, UNIFORM, INCUMBENT))


@dataclass(frozen=True)
class DesignOptions:
    """Which mixtures to draw.

    Attributes:
        count: candidates to keep.
        kind: ``dense``, ``sparse`` (half of the domains left out at random), or ``both`` in turn.
    """

    count: int = 160
    kind: str = "both"

    def __post_init__(self) -> None:
        if self.kind not in ("dense", "sparse", "both"):
            raise UsageError("--design dense, sparse or both", repr(self.kind))


def moved_inside(region: Region, mixture: Floats) -> Floats:
    """The mixture itself where it is allowed, else the allowed one nearest to it on the way to the centre, (K,)."""
    if region.contains(mixture):
        return mixture
    inside = region.inside(mixture, keep=0.0)
    inside = np.clip(inside, region.constraints.lower, region.constraints.upper)
    return np.asarray(inside if region.contains(inside) else region.inside(mixture, keep=1e-9))


def candidates(
    region: Region,
    natural: Floats,
    rng: np.random.Generator,
    *,
    incumbent: Floats | None = None,
    options: DesignOptions | None = None,
    centre: str = NATURAL,
) -> Candidates:
    """Named mixtures first, then the Dirichlet draws that are farthest from all before them.

    Args:
        region: the mixtures that are allowed.
        natural: natural shares, shape (K,): centre of the draws; equal ones where there are no priors.
        rng: randomness.
        incumbent: mixture in use, shape (K,).
        options: how many, and of which kind.
        centre: name of the centre: ``natural``, or ``uniform`` where there are no priors.
    """
    options = options or DesignOptions()
    fixed = list(_named(region, natural, incumbent, centre))
    want = max(0, options.count - len(fixed))
    drawn = np.array([_draw(region, natural, rng, options.kind, i) for i in range(OVERSAMPLED * want)])
    shares = np.array([mixture for _, mixture in fixed])
    order = farthest(shares, drawn, want) if want else []
    names = [name for name, _ in fixed] + [f"dirichlet-{i + 1}" for i in range(len(order))]
    return Candidates(region.domains, tuple(names), np.vstack([shares, drawn[order]]) if len(order) else shares)


def _named(region: Region, natural: Floats, incumbent: Floats | None, centre: str) -> Iterable[tuple[str, Floats]]:
    """The centre, uniform, incumbent and one domain out, each moved into the region; doubles are left out."""
    count = len(natural)
    wanted = [(centre, natural)] + ([] if incumbent is None else [(INCUMBENT, incumbent)])
    wanted.append((UNIFORM, np.full(count, 1 / count)))
    for index, domain in enumerate(region.domains):
        rest = np.where(np.arange(count) == index, 0.0, natural)
        if rest.sum() > 0:
            wanted.append((f"without {domain}", rest / rest.sum()))
    seen: list[Floats] = []
    for name, mixture in wanted:
        inside = moved_inside(region, mixture)
        if all(np.abs(inside - other).max() > 1e-6 for other in seen):
            seen.append(inside)
            yield name, inside


def _draw(region: Region, natural: Floats, rng: np.random.Generator, kind: str, index: int) -> Floats:
    """One Dirichlet mixture round the natural one, shape (K,)."""
    count = len(natural)
    strength = np.exp(rng.uniform(*np.log(STRENGTH)))
    weights = np.maximum(strength * count * natural, 1e-3)
    kept = np.ones(count, dtype=bool)
    if kind == "sparse" or (kind == "both" and index % 2):
        kept = rng.random(count) < KEEP_DOMAIN
        kept[rng.choice(count, 2, replace=False)] |= kept.sum() < 2
    drawn = np.zeros(count)
    drawn[kept] = rng.dirichlet(weights[kept])
    tiny = (drawn < SMALLEST_SHARE) & (drawn < drawn.max())
    drawn[tiny] = 0.0
    return moved_inside(region, drawn / drawn.sum())


def farthest(before: Floats, pool: Floats, count: int) -> list[int]:
    """Positions in a pool (M, K), each the farthest from ``before`` (n, K) and those already taken.

    Distances are between square roots of shares, so that small shares count.
    """
    roots = np.sqrt(pool)
    nearest = np.full(len(pool), np.inf)
    for mixture in np.sqrt(before):
        nearest = np.minimum(nearest, ((roots - mixture) ** 2).sum(axis=1))
    order: list[int] = []
    for _ in range(min(count, len(pool))):
        place = int(np.argmax(nearest))
        order.append(place)
        nearest = np.minimum(nearest, ((roots - roots[place]) ** 2).sum(axis=1))
        nearest[place] = -np.inf
    return order
