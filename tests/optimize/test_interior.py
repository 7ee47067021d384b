"""The solver against problems with known answers, and on random regions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from mixlaw.mixture import Constraints, Group
from mixlaw.optimize import Region
from mixlaw.optimize.functions import Divergence, Sum, differences
from mixlaw.optimize.interior import minimise


@dataclass(frozen=True)
class Quadratic:
    """``|h - centre|^2 / 2``."""

    centre: np.ndarray

    def value(self, shares: np.ndarray) -> np.ndarray:
        return 0.5 * ((shares - self.centre) ** 2).sum(axis=1)

    def gradient(self, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.value(shares), shares - self.centre

    def hessian(self, share: np.ndarray) -> np.ndarray:
        return np.eye(len(share))


@dataclass(frozen=True)
class Exponentials:
    """``sum_i exp(t_i . h)``."""

    slopes: np.ndarray

    def value(self, shares: np.ndarray) -> np.ndarray:
        return np.exp(shares @ self.slopes.T).sum(axis=1)

    def gradient(self, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        terms = np.exp(shares @ self.slopes.T)
        return terms.sum(axis=1), terms @ self.slopes

    def hessian(self, share: np.ndarray) -> np.ndarray:
        return differences(self, share)


def random_problem(rng: np.random.Generator) -> tuple[Constraints, Exponentials]:
    """A feasible region of up to 100 domains, often degenerate, and a convex function."""
    width = int(rng.integers(2, 101))
    names = tuple(f"d{i}" for i in range(width))
    inside = rng.dirichlet(np.full(width, rng.choice([0.1, 1.0, 5.0])))
    lower = np.where(rng.random(width) < 0.3, inside * rng.random(width), 0)
    room = rng.random(width) * 0.2 * (rng.random(width) < 0.8)
    upper = np.where(rng.random(width) < 0.5, np.minimum(1, inside + room), 1)
    groups = []
    for number in range(int(rng.integers(0, 4))):
        members = rng.choice(width, size=int(rng.integers(1, width + 1)), replace=False)
        total = inside[members].sum()
        low, high = total - rng.random(2) * [0.3, -0.3] * (rng.random(2) < 0.7)
        groups.append(Group(f"g{number}", tuple(names[i] for i in members), max(0, low), min(1, high)))
    return Constraints(names, lower, upper, tuple(groups)), Exponentials(rng.normal(size=(5, width)))


def test_projection_onto_the_simplex_is_exact() -> None:
    region = Region.of(Constraints.free(("a", "b", "c")))
    found = minimise(Quadratic(np.array([0.9, 0.4, -1.0])), region, region.centre)
    assert found.mixture == pytest.approx([0.75, 0.25, 0], abs=1e-12)
    assert found.mixture[2] == 0.0


def test_price_of_a_ceiling_is_the_slope_it_holds_back() -> None:
    region = Region.of(Constraints(("a", "b"), np.zeros(2), np.array([0.3, 1.0])))
    found = minimise(Quadratic(np.array([1.0, 0.0])), region, region.centre)
    assert found.mixture == pytest.approx([0.3, 0.7], abs=1e-12)
    # f(u) = ((u - 1)^2 + (1 - u)^2) / 2 = (1 - u)^2, so one unit of ceiling is worth 2 (1 - u).
    assert max(found.prices) == pytest.approx(1.4, abs=1e-8)


def test_divergence_alone_returns_its_reference() -> None:
    reference = np.array([0.7, 0.299, 0.001])
    region = Region.of(Constraints.free(("a", "b", "c")))
    found = minimise(Divergence(reference, 0.05), region, region.centre)
    assert found.mixture == pytest.approx(reference, abs=1e-9)


def test_random_regions_hold_exactly_and_are_solved(rng: np.random.Generator) -> None:
    for _ in range(15):
        constraints, function = random_problem(rng)
        region = Region.of(constraints)
        found = minimise(function, region, region.inside(np.ones(len(constraints.domains))))
        assert region.violation(found.mixture) <= 1e-9
        assert found.residual < 1e-4
        others = region.centre + 0.5 * (region.inside(rng.dirichlet(np.ones(len(region.centre)))) - region.centre)
        assert found.value <= function.value(others[None])[0] + 1e-9


def test_convex_cases_agree_with_an_independent_solver(rng: np.random.Generator) -> None:
    cvxpy = pytest.importorskip("cvxpy", reason="the independent convex solver (extra 'dev') is not installed")
    for width in (3, 7, 17, 40):
        slopes, reference = rng.normal(size=(4, width)), rng.dirichlet(np.ones(width))
        upper = np.minimum(1, reference + 0.1)
        region = Region.of(Constraints(tuple(map(str, range(width))), np.zeros(width), upper))
        function = Sum([Exponentials(slopes), Divergence(reference, 0.05)])
        found = minimise(function, region, region.centre)
        h = cvxpy.Variable(width)
        objective = cvxpy.sum(cvxpy.exp(slopes @ h)) + 0.05 * cvxpy.sum(cvxpy.rel_entr(h, reference))
        problem = cvxpy.Problem(cvxpy.Minimize(objective), [cvxpy.sum(h) == 1, h >= 0, h <= upper])
        problem.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
        theirs = np.maximum(h.value, 0) / np.maximum(h.value, 0).sum()
        assert found.value == pytest.approx(function.value(theirs[None])[0], abs=1e-6)
        assert found.mixture == pytest.approx(theirs, abs=1e-6)
