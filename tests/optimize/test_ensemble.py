"""Scenarios and members whose levels and differences between mixtures are widened by factors of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from mixlaw.benchmark import loss_scenarios
from mixlaw.fits import FitSet
from mixlaw.laws.base import Inputs
from mixlaw.optimize import Objective, Request, Scale, choose
from mixlaw.optimize.ensemble import CURVATURE_MEMBERS, Ensemble
from mixlaw.optimize.surface import Surface

ABC = ("a", "b", "c")
HERE = Scale(1e9, 2e10)
SEEN = np.array([[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6], [0.2, 0.2, 0.6]])
Make = Callable[..., FitSet]


def fitted(make_fits: Make, sd: float = 0.1, draws: int = 40) -> FitSet:
    theta = {"x": np.array([-0.5, -2.0, 1.0, 0.2]), "y": np.array([-0.5, 1.0, -2.0, 0.2])}
    return make_fits("exp", theta, ABC, sd=sd, draws=draws, mixtures=SEEN)


def factors(fits: FitSet, level: float, contrast: float) -> FitSet:
    return replace(fits, widen=dict.fromkeys(fits.targets, level), widen_contrast=dict.fromkeys(fits.targets, contrast))


def moves(fits: FitSet, inputs: Inputs, target: str = "x") -> np.ndarray:
    return np.log(loss_scenarios(fits, inputs)[target]) - np.log(fits.value(target, inputs))


def ensemble(fits: FitSet, risk: str) -> Ensemble:
    return Ensemble.of(Surface.of(fits, Objective({}).over(fits.targets, {}), HERE), risk)


@pytest.mark.parametrize("draws", [0, 40])
def test_levels_and_contrasts_are_widened_apart(make_fits: Make, rng: np.random.Generator, draws: int) -> None:
    fits = fitted(make_fits, draws=draws)
    asked = fits.inputs(np.vstack([SEEN[:3], rng.dirichlet(np.ones(3), 4)]), 1e9, 2e10)
    plain, wide = moves(fits, asked), moves(factors(fits, 3.0, 1.5), asked)
    level = plain[:, :3].mean(axis=1, keepdims=True)
    assert wide == pytest.approx(3.0 * level + 1.5 * (plain - level), abs=1e-12)


def test_every_scale_has_its_own_level(make_fits: Make) -> None:
    theta = np.array([0.5, -1.1, -0.9, -0.6, -0.3, -2.0, -1.2, 0.4, -0.4, 1.0])
    fits = factors(make_fits("capacity", {"x": theta}, ABC, sd=0.1, draws=20, mixtures=SEEN), 3.0, 1.0)
    mixed = Inputs.build(ABC, SEEN[[0, 0, 1]], np.array([1e9, 8e9, 1e9]), np.array([2e10, 2e11, 2e10]))
    apart = [moves(fits, mixed.rows(np.array(rows))) for rows in ([0, 2], [1])]
    assert moves(fits, mixed) == pytest.approx(np.insert(apart[0], [1], apart[1], axis=1), abs=1e-12)
    assert apart[0][:, 0].std() != pytest.approx(apart[1].std(), rel=0.05)


def test_without_a_factor_of_contrasts_that_of_levels_serves_both(make_fits: Make) -> None:
    fits = fitted(make_fits)
    asked = fits.inputs(SEEN, 1e9, 2e10)
    old = replace(fits, widen=dict.fromkeys(fits.targets, 3.0))
    assert old.factors("x") == (3.0, 3.0)
    assert moves(old, asked) == pytest.approx(3.0 * moves(fits, asked), abs=1e-12)


def test_gains_follow_contrasts_and_intervals_of_losses_follow_levels(make_fits: Make) -> None:
    fits = fitted(make_fits, sd=0.01, draws=200)
    plain, both, levels = (
        choose(given, Request(HERE)) for given in (fits, factors(fits, 4.0, 4.0), factors(fits, 4.0, 1.0))
    )
    regret = [np.ptp(found.standings["uniform"].regret) for found in (plain, both, levels)]
    assert regret[1] / regret[0] == pytest.approx(4, rel=0.1)
    assert regret[2] < 0.5 * regret[1]
    width = [found.standings["uniform"].high - found.standings["uniform"].low for found in (plain, both, levels)]
    assert width[2] == pytest.approx(width[1], rel=0.2)
    assert width[2] > 3 * width[0]
    losses = [found.predicted["x"] for found in (both, levels)]
    assert losses[0].low == pytest.approx(losses[1].low, rel=1e-3)


@pytest.mark.parametrize("risk", ["mean", "0.9"])
@pytest.mark.parametrize(("level", "contrast"), [(3.0, 1.2), (1.0, 2.5)])
def test_gradients_agree_with_differences(
    make_fits: Make, rng: np.random.Generator, risk: str, level: float, contrast: float
) -> None:
    function = ensemble(factors(fitted(make_fits, sd=0.3), level, contrast), risk)
    share, steps = rng.dirichlet(np.ones(3)), 1e-6 * np.eye(3)
    value, slope = function.gradient(share[None])
    assert value[0] == pytest.approx(function.value(share[None])[0], rel=1e-12)
    differences = (function.value(share + steps) - function.value(share - steps)) / 2e-6
    assert slope[0] == pytest.approx(differences, rel=1e-5)


def test_second_derivatives_are_those_of_the_first_members(make_fits: Make, rng: np.random.Generator) -> None:
    function = ensemble(factors(fitted(make_fits, sd=0.3, draws=CURVATURE_MEMBERS), 3.0, 1.2), "0.9")
    share, steps = rng.dirichlet(np.ones(3)), 1e-5 * np.eye(3)
    differences = (function.gradient(share + steps)[1] - function.gradient(share - steps)[1]) / 2e-5
    assert function.hessian(share) == pytest.approx(differences, rel=1e-3)


def test_members_are_the_scenarios_of_one_law(make_fits: Make, rng: np.random.Generator) -> None:
    fits = factors(fitted(make_fits), 3.0, 1.5)
    shares = rng.dirichlet(np.ones(3), 4)
    drawn = loss_scenarios(fits, fits.inputs(shares, 1e9, 2e10))
    assert ensemble(fits, "mean").value(shares) == pytest.approx((drawn["x"] + drawn["y"]).mean(axis=0) / 2)


def test_errors_of_contrasts_are_the_spread_of_the_scenarios(make_fits: Make, rng: np.random.Generator) -> None:
    one, two = fitted(make_fits, draws=4000), fitted(make_fits, draws=4000, sd=0.05)
    shifted = [replace(m, fit=replace(m.fit, theta=m.fit.theta + np.array([0, 0.3, 0, 0]))) for m in two.members["x"]]
    members = {
        "x": (replace(one.members["x"][0], weight=0.3), replace(shifted[0], weight=0.7)),
        "y": one.members["y"],
    }
    fits = replace(one, members=members)
    asked = fits.inputs(rng.dirichlet(np.ones(3), 5), 1e9, 2e10)
    drawn = {target: moves(fits, asked, target) for target in fits.targets}
    for targets in (("x",), ("y",), ("x", "y")):
        mean = np.mean([drawn[t] for t in targets], axis=0)
        spread = (mean - mean.mean(axis=1, keepdims=True)).std(axis=0)
        assert fits.contrast_error(targets, asked) == pytest.approx(spread, rel=0.05)
    assert fitted(make_fits, draws=0).contrast_error(("x",), asked) is None
