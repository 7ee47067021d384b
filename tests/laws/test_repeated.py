"""Repetition: effective tokens per domain, inside any law."""

from __future__ import annotations

from dataclasses import replace
from math import exp

import numpy as np
import pytest

from mixlaw import fitfile
from mixlaw.dataset import Dataset
from mixlaw.fit import FitOptions, fit_law
from mixlaw.fits import FitSet
from mixlaw.laws import EXAMPLES, FORMS, LAWS
from mixlaw.laws.repeated import Repeated, effective, worth
from mixlaw.units import Unit

UNIQUE = (("code", 2e9), ("math", 1e9))


@pytest.mark.parametrize(("epochs", "expected"), [(0.5, 0.5), (1, 1.0), (2, 1.968), (4, 3.726), (1e6, 16.39)])
def test_effective_tokens_of_one_corpus(epochs: float, expected: float) -> None:
    """arXiv 2305.16264, equation 5, with R* = 15.39: four epochs are worth 3.7, endless repetition 16.4 epochs."""
    tokens, slope = worth(np.array(epochs * 3e9), np.array(3e9))
    assert tokens / 3e9 == pytest.approx(expected, abs=6e-4)
    by_hand = epochs if epochs <= 1 else 1 + 15.39 * (1 - exp(-(epochs - 1) / 15.39))
    assert tokens / 3e9 == pytest.approx(by_hand, rel=1e-12)
    assert slope == pytest.approx(1.0 if epochs <= 1 else exp(-(epochs - 1) / 15.39), rel=1e-12)


def test_only_domains_with_known_unique_tokens_fade(rng: np.random.Generator) -> None:
    inputs = EXAMPLES["capacity"].inputs(rng)
    seen = effective(inputs, UNIQUE)
    own, before = seen.tokens[:, None] * seen.shares, inputs.tokens[:, None] * inputs.shares
    np.testing.assert_allclose(own[:, 0], before[:, 0], rtol=1e-12)
    assert np.all(own[:, 1:] <= before[:, 1:] * (1 + 1e-12))
    assert own[:, 2].max() < before[:, 2].max() / 1.5


def test_without_repetition_nothing_changes(rng: np.random.Generator) -> None:
    inputs, theta = EXAMPLES["capacity"].inputs(rng), np.array(EXAMPLES["capacity"].theta)
    plenty = Repeated(FORMS["capacity"], (("code", 1e15),))
    np.testing.assert_allclose(plenty.predict(theta, inputs), FORMS["capacity"].predict(theta, inputs), rtol=1e-12)


@pytest.mark.parametrize("name", ["capacity", "additive", "modulated"])
def test_gradients_agree_with_finite_differences(name: str, rng: np.random.Generator) -> None:
    law = Repeated(FORMS[name], UNIQUE)
    inputs = EXAMPLES[name].inputs(rng).rows(np.arange(0, 300, 31))
    theta = np.array(EXAMPLES[name].theta)
    analytic = law.gradient(theta, inputs)
    steps = 1e-6 * np.eye(len(theta))
    numeric = (law.predict(theta + steps, inputs) - law.predict(theta - steps, inputs)) / 2e-6
    np.testing.assert_allclose(analytic.T, numeric, rtol=1e-6, atol=1e-8)
    by_share = law.share_gradient(theta, inputs)
    for entry in range(3):
        sides = []
        for by in (1e-6, -1e-6):
            mixtures = inputs.mixtures.copy()
            mixtures[:, entry] += by
            sides.append(law.predict(theta, replace(inputs, mixtures=mixtures)))
        np.testing.assert_allclose(by_share[:, entry], (sides[0] - sides[1]) / 2e-6, rtol=1e-4, atol=1e-6)


def test_fit_recovers_a_truth_with_repetition_and_keeps_it_in_the_file(rng: np.random.Generator) -> None:
    inputs, theta = EXAMPLES["capacity"].inputs(rng), np.array(EXAMPLES["capacity"].theta)
    truth = Repeated(FORMS["capacity"], UNIQUE).predict(theta, inputs)
    runs = tuple(f"r{i}" for i in range(len(inputs)))
    data = Dataset(inputs, ("x",), (Unit.named("nats/token"),), np.log(truth)[None], np.ones((1, len(inputs))),
                   np.arange(len(inputs)), runs, "example")  # fmt: skip
    blind, knowing = FitOptions(), FitOptions(unique=UNIQUE)
    errors = {}
    for options in (blind, knowing):
        fits = FitSet.single(fit_law(LAWS["capacity"], data, options), data, options)
        again = fitfile.loads(fitfile.dumps(fits))
        assert again.options == options
        np.testing.assert_array_equal(again.value("x", inputs), fits.value("x", inputs))
        errors[bool(options.unique)] = float(np.abs(fits.value("x", inputs) / truth - 1).max())
    assert errors[True] < 1e-4 < 1e-2 < errors[False]
