"""The best mixture of a region: several starts, the best of them to the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mixlaw.laws.base import Floats
from mixlaw.optimize.interior import Function, Optimum, minimise
from mixlaw.optimize.region import Region


@dataclass(frozen=True)
class SolveOptions:
    """How to search.

    Attributes:
        starts: random starting mixtures beside the reference mixtures.
        seed: of the random ones.
    """

    starts: int = 4
    seed: int = 0


def solve(
    function: Function,
    region: Region,
    references: Sequence[Floats] = (),
    *,
    options: SolveOptions | None = None,
    progress: Callable[[float], None] | None = None,
) -> Optimum:
    """Minimise over the region from reference mixtures, Dirichlet draws and the centre.

    Args:
        function: what to minimise.
        region: where.
        references: mixtures to start from, each of shape (K,); they need not be allowed.
        options: how to search.
        progress: told the share of the starts that are done.
    """
    options = options or SolveOptions()
    rng = np.random.default_rng(options.seed)
    width = len(region.domains)
    starts = [region.centre, *references, *rng.dirichlet(np.full(width, 0.5), size=options.starts)]
    rough = []
    for number, start in enumerate(starts):
        rough.append(minimise(function, region, region.inside(start), rough=True))
        if progress:
            progress((number + 1) / (len(starts) + 1))
    best = min(rough, key=lambda found: found.value)
    return finish(function, region, best.mixture)


def finish(function: Function, region: Region, start: Floats) -> Optimum:
    """Minimise to the last digit from one mixture, shape (K,)."""
    return minimise(function, region, region.inside(start, keep=0.1))
