"""One contract over all laws: what DESIGN.md promises of each, for free."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mixlaw import fitfile
from mixlaw.dataset import Dataset
from mixlaw.fit import Fit, FitOptions, fit_law
from mixlaw.fits import FitSet
from mixlaw.laws import EXAMPLES, FORMS, LAWS, bound
from mixlaw.laws.base import DomainLaw, Inputs, Law, Regressor
from mixlaw.solver import SolverOptions
from mixlaw.units import Unit

CASES = sorted(EXAMPLES)
PARAMETRIC = sorted(name for name, form in FORMS.items() if not isinstance(form, Regressor))


def base_of(form: Law) -> str:
    return next(name for name, law in LAWS.items() if form in (law, *law.reduced))


def law_of(name: str) -> Law:
    """The form, bound to the first domain of its example where it must be."""
    return bound(name, EXAMPLES[base_of(FORMS[name])].domains[0])


def design(name: str, rng: np.random.Generator) -> Inputs:
    return EXAMPLES[base_of(FORMS[name])].inputs(rng)


def few(inputs: Inputs) -> Inputs:
    return inputs.rows(np.linspace(0, len(inputs) - 1, 9).astype(np.intp))


def example(name: str) -> tuple[Law, Inputs, np.ndarray]:
    given = EXAMPLES[name]
    return law_of(name), given.inputs(np.random.default_rng(7)), np.array(given.theta)


def observed(name: str, noise: float) -> Dataset:
    """The example as a data set: one target, or one per domain for a law that serves all domains at once."""
    law, inputs, theta = example(name)
    targets = inputs.domains if isinstance(LAWS[name], DomainLaw) and LAWS[name].joint else inputs.domains[:1]
    log_y = np.array([np.log(bound(law.name, t).predict(theta, inputs)) for t in targets])
    log_y += noise * np.random.default_rng(3).standard_normal(log_y.shape)
    rows = np.arange(len(inputs))
    return Dataset(
        inputs, targets, (Unit.named("nats/token"),) * len(targets), log_y, np.ones_like(log_y), rows,
        tuple(f"r{i}" for i in rows), "example",
    )  # fmt: skip


def refit(name: str, noise: float) -> tuple[Dataset, tuple[Fit, ...]]:
    data = observed(name, noise)
    options = FitOptions(starts=16, solver=SolverOptions(ridge=0.0, loss="l2", tolerance=1e-14, iterations=800))
    return data, fit_law(LAWS[name], data, options)


@pytest.mark.parametrize("name", CASES)
def test_example_has_the_shape_of_the_law(name: str) -> None:
    law, given = LAWS[name], EXAMPLES[name]
    parameters = law.parameters(given.domains)
    assert len(given.theta) == len(parameters)
    assert len({p.name for p in parameters}) == len(parameters)
    assert all(p.lower < t < p.upper for p, t in zip(parameters, given.theta, strict=True))


@pytest.mark.parametrize("name", CASES)
def test_fit_recovers_the_example_without_noise(name: str) -> None:
    data, fits = refit(name, 0.0)
    for index, fit in enumerate(fits):
        np.testing.assert_allclose(np.log(fit.predict(data.inputs)), data.log_y[index], rtol=0, atol=1e-6)
        if not fit.geometry.redundant and fit.geometry.condition < 1e4:
            np.testing.assert_allclose(fit.theta, EXAMPLES[name].theta, rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", CASES)
def test_fit_recovers_the_example_with_noise_within_three_errors(name: str) -> None:
    _, fits = refit(name, EXAMPLES[name].noise)
    for fit in fits:
        errors = np.sqrt(np.diag(fit.covariance))
        off = np.abs(fit.theta - EXAMPLES[name].theta)
        assert np.all(errors > 0)
        assert np.all(off <= 3 * errors), dict(zip(fit.values(), off / errors, strict=True))


@pytest.mark.parametrize("name", sorted(LAWS))
def test_fit_file_gives_the_same_predictions_back(name: str) -> None:
    data = observed(name if name in EXAMPLES else "exp", 1e-3)
    law = LAWS[name]
    if isinstance(law, Regressor):
        pytest.importorskip("lightgbm")
    options = FitOptions(starts=2, solver=SolverOptions(iterations=20))
    before = FitSet.single(fit_law(law, data, options), data, options)
    after = fitfile.loads(fitfile.dumps(before))
    assert fitfile.dumps(after) == fitfile.dumps(before)
    for target, prediction in before.predict(data.inputs).items():
        np.testing.assert_array_equal(after.predict(data.inputs)[target].value, prediction.value)
        np.testing.assert_array_equal(after.predict(data.inputs)[target].high, prediction.high)


@pytest.mark.parametrize("name", PARAMETRIC)
def test_gradients_agree_with_finite_differences(name: str, rng: np.random.Generator) -> None:
    law, inputs = law_of(name), few(design(name, rng))
    theta = law.starts(inputs, np.linspace(2, 4, len(inputs)), rng, 3)
    analytic = law.gradient(theta, inputs)
    assert analytic.shape == (3, len(inputs), theta.shape[1])
    for entry in range(theta.shape[1]):
        step = np.zeros(theta.shape[1])
        step[entry] = 1e-6
        numeric = (law.predict(theta + step, inputs) - law.predict(theta - step, inputs)) / 2e-6
        np.testing.assert_allclose(analytic[..., entry], numeric, rtol=2e-6, atol=2e-8)


@pytest.mark.parametrize("name", PARAMETRIC)
def test_share_gradients_agree_with_finite_differences(name: str, rng: np.random.Generator) -> None:
    law, inputs = law_of(name), few(design(name, rng))
    theta = law.starts(inputs, np.linspace(2, 4, len(inputs)), rng, 2)
    analytic = law.share_gradient(theta, inputs)

    def moved(by: float, entry: int) -> np.ndarray:
        mixtures = inputs.mixtures.copy()
        mixtures[:, entry] += by
        return law.predict(theta, replace(inputs, mixtures=mixtures))

    for entry in range(len(inputs.domains)):
        numeric = (moved(1e-6, entry) - moved(-1e-6, entry)) / 2e-6
        np.testing.assert_allclose(analytic[..., entry], numeric, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", PARAMETRIC)
def test_many_thetas_at_once_give_what_each_gives_alone(name: str, rng: np.random.Generator) -> None:
    law, inputs = law_of(name), few(design(name, rng))
    theta = law.starts(inputs, np.linspace(2, 4, len(inputs)), rng, 6)
    for method in (law.predict, law.gradient, law.share_gradient):
        alone = np.array([method(t, inputs) for t in theta])
        np.testing.assert_allclose(method(theta.reshape(2, 3, -1), inputs).reshape(alone.shape), alone, rtol=1e-12)


@pytest.mark.parametrize("name", PARAMETRIC)
def test_starts_lie_inside_the_bounds(name: str, rng: np.random.Generator) -> None:
    law, inputs = law_of(name), design(name, rng)
    parameters = law.parameters(inputs.domains)
    for y in (np.linspace(2, 4, len(inputs)), np.linspace(0.1, 0.101, len(inputs)), np.linspace(1, 12, len(inputs))):
        starts = law.starts(inputs, y, rng, 50)
        assert starts.shape == (50, len(parameters))
        assert np.all(starts >= [p.lower for p in parameters])
        assert np.all(starts <= [p.upper for p in parameters])
        assert np.isfinite(law.predict(starts, inputs)).all()


@pytest.mark.parametrize("name", CASES)
def test_order_of_the_domains_does_not_matter(name: str) -> None:
    law, inputs, theta = example(name)
    order = np.arange(len(inputs.domains))[::-1]
    domains = tuple(inputs.domains[i] for i in order)
    turned = Inputs(domains, inputs.mixtures[:, order], inputs.code, inputs.params, inputs.tokens)
    names = [p.name for p in law.parameters(inputs.domains)]
    moved = theta[[names.index(p.name) for p in law.parameters(domains)]]
    np.testing.assert_allclose(law.predict(moved, turned), law.predict(theta, inputs), rtol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_losses_are_finite_at_the_corners(name: str) -> None:
    law, _, theta = example(name)
    domains = EXAMPLES[name].domains
    inputs = Inputs.build(domains, np.eye(len(domains)), 1e9, 1e10)
    for values in (law.predict(theta, inputs), law.gradient(theta, inputs), law.share_gradient(theta, inputs)):
        assert np.isfinite(values).all()
    assert np.all(law.predict(theta, inputs) > 0)


@pytest.mark.parametrize("name", sorted(FORMS))
def test_reduced_forms_need_less_and_ignore_what_they_do_not_need(name: str, rng: np.random.Generator) -> None:
    law = FORMS[name]
    assert all(form.needs < law.needs for form in law.reduced)
    if isinstance(law, Regressor):
        return
    form, inputs = law_of(name), few(design(name, rng))
    theta = form.starts(inputs, np.linspace(2, 4, len(inputs)), rng, 2)
    unknown = np.full(len(inputs), np.nan)
    blind = replace(
        inputs,
        params=inputs.params if "params" in law.needs else unknown,
        tokens=inputs.tokens if "tokens" in law.needs else unknown,
    )
    np.testing.assert_array_equal(form.predict(theta, blind), form.predict(theta, inputs))
