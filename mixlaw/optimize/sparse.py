"""At most m active domains: all subsets where they are few, else dropping and swapping."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from math import comb

import numpy as np

from mixlaw.errors import InfeasibleError
from mixlaw.mixture import Constraints
from mixlaw.optimize.interior import Optimum
from mixlaw.optimize.region import Region

ENUMERATED = 200
"""Subsets tried one by one before dropping and swapping takes over."""
ACTIVE = 1e-9
_NEIGHBOURS = 4

Solve = Callable[[Region], Optimum]


def restrict(constraints: Constraints, keep: frozenset[int]) -> Constraints:
    """The constraints with every other domain held at 0."""
    mask = np.array([i in keep for i in range(len(constraints.domains))])
    reasons = {**constraints.reasons, **{d: "dropped" for d, k in zip(constraints.domains, mask, strict=True) if not k}}
    return replace(constraints, upper=np.where(mask, constraints.upper, 0.0), reasons=reasons)


def fewest(constraints: Constraints, most: int, start: Optimum, solve: Solve) -> tuple[Region, Optimum]:
    """The best mixture with at most ``most`` active domains.

    Args:
        constraints: without the limit on their number.
        most: number of domains allowed.
        start: the best mixture without that limit.
        solve: minimises over a region.

    Raises:
        InfeasibleError: when floors or groups need more domains.
    """
    width = len(constraints.domains)
    forced = frozenset(int(i) for i in np.flatnonzero(constraints.lower > 0))
    if len(forced) > most:
        names = ", ".join(constraints.domains[i] for i in sorted(forced))
        raise InfeasibleError(f"floors on at most {most} domains (--max-active)", f"{len(forced)}: {names}")
    search = _Search(constraints, solve, most)
    if comb(width - len(forced), most - len(forced)) <= ENUMERATED:
        others = [i for i in range(width) if i not in forced]
        for chosen in combinations(others, most - len(forced)):
            search.look(forced | set(chosen))
    else:
        search.drop(frozenset(int(i) for i in np.flatnonzero(start.mixture > ACTIVE)), forced, start)
        search.swap(forced)
    if search.best is None:
        raise InfeasibleError(f"constraints that {most} active domains can satisfy", "none of the subsets tried does")
    region, found, _ = search.best
    return region, found


class _Search:
    """Remembers every subset tried and the best of them."""

    def __init__(self, constraints: Constraints, solve: Solve, most: int) -> None:
        self.constraints, self.solve, self.most = constraints, solve, most
        self.seen: dict[frozenset[int], Optimum | None] = {}
        self.best: tuple[Region, Optimum, frozenset[int]] | None = None

    def look(self, keep: frozenset[int]) -> Optimum | None:
        """Solve with these domains; None when they cannot satisfy the constraints."""
        if keep not in self.seen:
            try:
                region = Region.of(restrict(self.constraints, keep))
            except InfeasibleError:
                self.seen[keep] = None
                return None
            found = self.solve(region)
            self.seen[keep] = found
            if len(keep) <= self.most and (self.best is None or found.value < self.best[1].value):
                self.best = region, found, keep
        return self.seen[keep]

    def drop(self, active: frozenset[int], forced: frozenset[int], start: Optimum) -> None:
        """Take out, one after the other, the domain that costs least of those with the smallest shares."""
        mixture = start.mixture
        self.look(active)
        while len(active) > self.most:
            order = sorted(active - forced, key=lambda i: (mixture[i], i))[:_NEIGHBOURS]
            tried = {i: found for i in order if (found := self.look(active - {i})) is not None}
            if not tried:
                return
            cheapest = min(tried, key=lambda i: (tried[i].value, i))
            active, mixture = active - {cheapest}, tried[cheapest].mixture

    def swap(self, forced: frozenset[int]) -> None:
        """Exchange one domain inside against one outside for as long as that helps."""
        improved = self.best is not None
        while improved and self.best is not None:
            _, found, keep = self.best
            inside = sorted(keep - forced, key=lambda i: (found.mixture[i], i))[:_NEIGHBOURS]
            outside = [i for i in range(len(self.constraints.domains)) if i not in keep]
            for out in inside:
                for new in outside:
                    self.look((keep - {out}) | {new})
            improved = self.best[2] != keep
