from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixlaw.allocate.designs import DesignOptions, candidates, farthest, moved_inside
from mixlaw.domains import Domains
from mixlaw.errors import InfeasibleError
from mixlaw.mixture import Constraints, Group
from mixlaw.optimize.region import Region

NAMES = ("web", "code", "math")


def test_named_mixtures_come_first(rng: np.random.Generator) -> None:
    natural = np.array([0.7, 0.2, 0.1])
    made = candidates(Region.of(Constraints.free(NAMES)), natural, rng, incumbent=np.array([0.5, 0.5, 0.0]))
    assert made.names[:6] == ("natural", "incumbent", "uniform", "without web", "without code", "without math")
    assert made.shares[0] == pytest.approx(natural)
    assert made.shares[3] == pytest.approx([0, 2 / 3, 1 / 3])
    assert made.anchors() == (0, 1, 2)
    assert len(made.names) == len(made.shares) == DesignOptions().count


def test_sparse_draws_have_zeros_and_dense_ones_have_not(rng: np.random.Generator) -> None:
    natural = np.full(10, 0.1)
    region = Region.of(Constraints.free([f"d{i}" for i in range(10)]))
    zeros = {}
    for kind in ("sparse", "dense"):
        made = candidates(region, natural, rng, options=DesignOptions(count=60, kind=kind))
        drawn = made.shares[[n.startswith("dirichlet") for n in made.names]]
        zeros[kind] = (drawn == 0).mean()
    assert zeros["sparse"] > 0.5 > zeros["dense"]


def test_limits_groups_and_supply_hold_exactly(facts: Domains, rng: np.random.Generator) -> None:
    region = Region.of(facts.constraints(NAMES, tokens=1e11))  # math: 4 epochs of 5B are 0.2 of 100B
    made = candidates(region, np.array([0.7, 0.2, 0.1]), rng)
    assert np.abs(made.shares.sum(axis=1) - 1).max() <= 1e-12
    assert made.shares[:, 0].max() <= 0.8 + 1e-12 and made.shares[:, 1].min() >= 0.05 - 1e-12
    assert made.shares[:, 2].max() <= 0.2 + 1e-12
    technical = made.shares[:, 1:].sum(axis=1)
    assert technical.min() >= 0.15 - 1e-12 and technical.max() <= 0.7 + 1e-12
    assert max(region.violation(m) for m in made.shares) <= 1e-12


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_moved_mixtures_obey_any_limits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 8))
    point = rng.dirichlet(np.ones(count))
    lower, upper = point * rng.uniform(0, 1, count), np.minimum(1, point + rng.uniform(0, 0.5, count))
    names = tuple(f"d{i}" for i in range(count))
    group = Group("pair", names[:2], float(point[:2].sum() * 0.9), float(min(1, point[:2].sum() * 1.05)))
    region = Region.of(Constraints(names, lower, upper, (group,)))
    for mixture in rng.dirichlet(np.full(count, 0.3), 20):
        assert region.violation(moved_inside(region, mixture)) <= 1e-9


def test_pinned_domain_stays_pinned(rng: np.random.Generator) -> None:
    constraints = Constraints(NAMES, np.array([0.3, 0.0, 0.0]), np.array([0.3, 1.0, 1.0]))
    made = candidates(Region.of(constraints), np.array([0.7, 0.2, 0.1]), rng)
    assert np.abs(made.shares[:, 0] - 0.3).max() <= 1e-9


def test_limits_that_collide_are_refused() -> None:
    constraints = Constraints(NAMES, np.array([0.6, 0.6, 0.0]), np.ones(3))
    with pytest.raises(InfeasibleError):
        Region.of(constraints)


def test_farthest_fills_the_space() -> None:
    pool = np.array([[1.0, 0.0], [0.99, 0.01], [0.0, 1.0], [0.5, 0.5]])
    assert farthest(np.array([[1.0, 0.0]]), pool, 2) == [2, 3]
    assert farthest(np.array([[1.0, 0.0]]), pool, 9) == [2, 3, 1, 0]
