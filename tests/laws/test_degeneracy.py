"""Directions that the data cannot see are found by the rank of the Jacobian, in forms that carry them on purpose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from mixlaw.diagnose import Geometry, geometry
from mixlaw.laws import EXAMPLES, bound
from mixlaw.laws.base import Floats, Inputs, Law, Parameter
from mixlaw.problems import LogModel, bounds


@dataclass(frozen=True)
class Scaled:
    """A law with one factor more in front of some of its parameters: theta = (log factor, theta of the law)."""

    inner: Law
    symbol: str
    shifted: tuple[str, ...]
    """Parameters that the factor is added to, in logarithms: k enters exp through t, A enters BiMix through B and C."""

    def parameters(self, domains: Sequence[str]) -> tuple[Parameter, ...]:
        return (Parameter(self.symbol, lower=-9.0, upper=9.0), *self.inner.parameters(domains))

    def _inner(self, theta: Floats, inputs: Inputs) -> tuple[Floats, np.ndarray]:
        names = [p.name for p in self.inner.parameters(inputs.domains)]
        moved = np.array([name.startswith(self.shifted) for name in names], dtype=float)
        return theta[..., 1:] + theta[..., :1] * moved, moved

    def predict(self, theta: Floats, inputs: Inputs) -> Floats:
        return self.inner.predict(self._inner(theta, inputs)[0], inputs)

    def gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        shifted, moved = self._inner(theta, inputs)
        own = self.inner.gradient(shifted, inputs)
        return np.concatenate([own @ moved[:, None], own], axis=-1)


def look(law: Law, theta: Sequence[float], inputs: Inputs) -> Geometry:
    lower, upper, _ = bounds(law, inputs.domains)
    found = geometry(LogModel(law, inputs), np.array(theta), lower, upper)
    return found.named([p.name for p in law.parameters(inputs.domains)])


def grid(name: str, sizes: int, ratio: float | None) -> Inputs:
    """Thirty mixtures at several sizes; one ratio of tokens to parameters, or tokens of their own."""
    rng, domains = np.random.default_rng(0), EXAMPLES[name].domains
    shares = rng.dirichlet(np.ones(len(domains)), 30)
    which, size = (a.ravel() for a in np.meshgrid(np.arange(30), np.geomspace(5e7, 2e9, sizes), indexing="ij"))
    tokens = ratio * size if ratio else size * rng.uniform(5, 60, len(size))
    return Inputs.build(domains, shares[which], size, tokens)


def test_free_k_of_exp_is_redundant_with_the_slopes() -> None:
    law = Scaled(bound("exp", "web"), "k", ("t[",))
    inputs = grid("exp", 1, None)
    plain = look(law.inner, EXAMPLES["exp"].theta, inputs)
    found = look(law, (0.3, *EXAMPLES["exp"].theta), inputs)
    assert (plain.rank, plain.redundant) == (4, ())
    assert (found.rank, len(found.redundant)) == (4, 1)
    assert set(found.redundant[0]) == {"k", "t[web]", "t[code]", "t[math]"}


def test_free_a_of_bimix_is_redundant_with_b_and_c() -> None:
    law = Scaled(bound("bimix", "code"), "A", ("B", "C"))
    inputs = grid("bimix", 4, None)
    plain = look(law.inner, EXAMPLES["bimix"].theta, inputs)
    found = look(law, (0.3, *EXAMPLES["bimix"].theta), inputs)
    assert (plain.rank, plain.redundant) == (4, ())
    assert (found.rank, len(found.redundant)) == (4, 1)
    assert {"A", "C"} <= set(found.redundant[0]) <= {"A", "B", "C"}
    along = np.array([1.0, *(-1.0 if n in "BC" else 0.0 for n in ("a", "C", "B", "b"))])
    theta = np.array([0.3, *EXAMPLES["bimix"].theta])
    np.testing.assert_allclose(law.predict(theta + along, inputs), law.predict(theta, inputs), rtol=1e-12)


@pytest.mark.parametrize("sizes", [4, 8])
def test_one_ratio_makes_the_drifts_of_modulated_redundant(sizes: int) -> None:
    """D = r N: N^u D^v sees only u + v, at any number of sizes."""
    free = look(bound("modulated", "web"), EXAMPLES["modulated"].theta, grid("modulated", sizes, None))
    tied = look(bound("modulated", "web"), EXAMPLES["modulated"].theta, grid("modulated", sizes, 20.0))
    assert (free.rank, free.redundant) == (13, ())
    assert tied.rank < 13
    assert any({"u", "v"} <= set(names) for names in tied.redundant)


@pytest.mark.parametrize("name", ["chinchilla", "additive", "product"])
def test_one_ratio_at_four_sizes_makes_the_scale_terms_redundant(name: str) -> None:
    """D = r N at four sizes leaves four values of E + A N^-a + B D^-b for five parameters."""
    width = len(EXAMPLES[name].theta)
    free = look(bound(name, "web"), EXAMPLES[name].theta, grid(name, 4, None))
    tied = look(bound(name, "web"), EXAMPLES[name].theta, grid(name, 4, 20.0))
    assert (free.rank, free.redundant) == (width, ())
    assert tied.rank == width - 1
    assert {"A", "B"} <= set(tied.redundant[0])


@pytest.mark.parametrize("name", ["chinchilla", "additive", "product"])
def test_one_ratio_at_many_sizes_is_ill_conditioned(name: str) -> None:
    """With more sizes than parameters the two power laws differ in principle, by 1e-5 of what a column moves."""
    free = look(bound(name, "web"), EXAMPLES[name].theta, grid(name, 8, None))
    tied = look(bound(name, "web"), EXAMPLES[name].theta, grid(name, 8, 20.0))
    assert free.condition < 1e3
    assert tied.condition > 5e5


def test_a_domain_that_never_varies_is_redundant_in_the_additive_law() -> None:
    inputs = grid("additive", 4, None)
    shares = np.column_stack([inputs.shares[:, :2] * 0.8 / inputs.shares[:, :2].sum(axis=1, keepdims=True),
                              np.full(len(inputs), 0.2)])  # fmt: skip
    fixed = Inputs.build(inputs.domains, shares, inputs.params, inputs.tokens)
    found = look(bound("additive", "web"), EXAMPLES["additive"].theta, fixed)
    assert found.rank == len(EXAMPLES["additive"].theta) - 1
    assert {"C[math]", "g[math]"} == set(found.redundant[0])
