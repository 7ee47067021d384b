"""One contract over all laws: what DESIGN.md promises of each, for free."""

from __future__ import annotations

import numpy as np
import pytest

from mixlaw.laws import EXAMPLES, FORMS, LAWS
from mixlaw.laws.base import Inputs, Law

CASES = sorted(LAWS)


def example(law: Law) -> tuple[Inputs, np.ndarray]:
    given = EXAMPLES[law.name]
    return given.inputs(np.random.default_rng(7)), np.array(given.theta)


def few(inputs: Inputs) -> Inputs:
    return inputs.rows(np.linspace(0, len(inputs) - 1, 9).astype(np.intp))


@pytest.mark.parametrize("name", CASES)
def test_example_has_the_shape_of_the_law(name: str) -> None:
    law, given = LAWS[name], EXAMPLES[name]
    parameters = law.parameters(given.domains)
    assert len(given.theta) == len(parameters)
    assert len({p.name for p in parameters}) == len(parameters)
    assert all(p.lower < t < p.upper for p, t in zip(parameters, given.theta, strict=True))


@pytest.mark.parametrize("name", sorted(FORMS))
def test_gradients_agree_with_finite_differences(name: str, rng: np.random.Generator) -> None:
    law = FORMS[name]
    given = next(EXAMPLES[base] for base, whole in LAWS.items() if law in (whole, *whole.reduced))
    inputs = few(given.inputs(rng))
    theta = law.starts(inputs, np.linspace(2, 4, len(inputs)), rng, 3)
    analytic = law.gradient(theta, inputs)
    assert analytic.shape == (3, len(inputs), theta.shape[1])
    for entry in range(theta.shape[1]):
        step = np.zeros(theta.shape[1])
        step[entry] = 1e-6
        numeric = (law.predict(theta + step, inputs) - law.predict(theta - step, inputs)) / 2e-6
        np.testing.assert_allclose(analytic[..., entry], numeric, rtol=2e-6, atol=2e-8)


@pytest.mark.parametrize("name", sorted(FORMS))
def test_share_gradients_agree_with_finite_differences(name: str, rng: np.random.Generator) -> None:
    law = FORMS[name]
    given = next(EXAMPLES[base] for base, whole in LAWS.items() if law in (whole, *whole.reduced))
    inputs = few(given.inputs(rng))
    theta = law.starts(inputs, np.linspace(2, 4, len(inputs)), rng, 2)
    analytic = law.share_gradient(theta, inputs)

    def moved(by: float, entry: int) -> np.ndarray:
        mixtures = inputs.mixtures.copy()
        mixtures[:, entry] += by
        return law.predict(theta, Inputs(inputs.domains, mixtures, inputs.code, inputs.params, inputs.tokens))

    for entry in range(len(inputs.domains)):
        numeric = (moved(1e-6, entry) - moved(-1e-6, entry)) / 2e-6
        np.testing.assert_allclose(analytic[..., entry], numeric, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_starts_lie_inside_the_bounds(name: str, rng: np.random.Generator) -> None:
    law = LAWS[name]
    inputs, theta = example(law)
    starts = law.starts(inputs, law.predict(theta, inputs), rng, 50)
    parameters = law.parameters(inputs.domains)
    assert starts.shape == (50, len(parameters))
    assert np.all(starts >= [p.lower for p in parameters])
    assert np.all(starts <= [p.upper for p in parameters])


@pytest.mark.parametrize("name", CASES)
def test_order_of_the_domains_does_not_matter(name: str) -> None:
    law = LAWS[name]
    inputs, theta = example(law)
    order = np.arange(len(inputs.domains))[::-1]
    domains = tuple(inputs.domains[i] for i in order)
    turned = Inputs(domains, inputs.mixtures[:, order], inputs.code, inputs.params, inputs.tokens)
    names = [p.name for p in law.parameters(inputs.domains)]
    moved = theta[[names.index(p.name) for p in law.parameters(domains)]]
    np.testing.assert_allclose(law.predict(moved, turned), law.predict(theta, inputs), rtol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_losses_are_finite_at_the_corners(name: str) -> None:
    law = LAWS[name]
    _, theta = example(law)
    domains = EXAMPLES[name].domains
    inputs = Inputs.build(domains, np.eye(len(domains)), 1e9, 1e10)
    assert np.isfinite(law.predict(theta, inputs)).all()
    assert np.isfinite(law.gradient(theta, inputs)).all()
    assert np.isfinite(law.share_gradient(theta, inputs)).all()
