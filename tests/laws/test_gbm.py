"""Trees: a law without parameters that is fitted, kept and asked like any other."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from mixlaw.dataset import Dataset
from mixlaw.errors import MissingExtraError
from mixlaw.fit import FitOptions, Status, fit_law
from mixlaw.laws import EXAMPLES, FORMS, LAWS
from mixlaw.laws.base import Inputs
from mixlaw.units import Unit


def swarm(count: int, rng: np.random.Generator) -> Dataset:
    """Mixtures at one scale, with the exponential law as truth."""
    shares = rng.dirichlet(np.ones(3), count)
    inputs = Inputs.build(("web", "code", "math"), shares, 1e8, 1e9)
    log_y = np.log(FORMS["exp"].predict(np.array(EXAMPLES["exp"].theta), inputs))[None]
    runs = tuple(f"r{i}" for i in range(count))
    return Dataset(inputs, ("x",), (Unit.named("nats/token"),), log_y, np.ones_like(log_y), np.arange(count), runs, "s")


def test_trees_rank_unseen_mixtures(rng: np.random.Generator) -> None:
    pytest.importorskip("lightgbm")
    train, test = swarm(400, rng), swarm(100, rng)
    (fit,) = fit_law(LAWS["gbm"], train, FitOptions())
    assert (fit.form, fit.status, fit.theta.shape) == ("gbm-mix", Status.CONVERGED, (0,))
    found = fit.predict(test.inputs)
    assert np.corrcoef(np.argsort(np.argsort(found)), np.argsort(np.argsort(test.log_y[0])))[0, 1] > 0.97
    assert np.abs(found / np.exp(test.log_y[0]) - 1).mean() < 0.02


def test_same_seed_gives_the_same_state_and_columns_go_by_name(rng: np.random.Generator) -> None:
    pytest.importorskip("lightgbm")
    train = swarm(100, rng)
    (fit,), (again,) = (fit_law(LAWS["gbm"], train, FitOptions(seed=3)) for _ in range(2))
    assert fit.state == again.state
    turned = Inputs(train.inputs.domains[::-1], train.inputs.mixtures[:, ::-1], train.inputs.code,
                    train.inputs.params, train.inputs.tokens)  # fmt: skip
    np.testing.assert_array_equal(fit.predict(turned), fit.predict(train.inputs))


def test_without_lightgbm_the_error_says_what_to_install(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'mixlaw\[gbm\]'"):
        fit_law(LAWS["gbm"], swarm(30, rng))
