"""The expected error against its definition by simulation, and against textbook I-optimality."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mixlaw.allocate.accuracy import RIDGE, Accuracy, Misfit
from mixlaw.allocate.menu import Menu

RUNS = np.array([0, 3, 5, 8, 11, 14, 17, 20, 22, 26, 29, 31, 34])


def test_variance_is_the_mean_squared_error_of_the_fit(accuracy: Accuracy) -> None:
    """Draw parameters, misfit and noise; estimate by ridge least squares; compare at the target."""
    rng = np.random.default_rng(0)
    menu, misfit = accuracy.menu, Misfit()
    rows = menu.rows(RUNS)
    jacobian, goal = accuracy.jacobian[0][rows], accuracy.at_goal[0]
    both = misfit.covariance(menu.inputs.rows(rows), menu.inputs.rows(rows))
    cross = misfit.covariance(menu.inputs.rows(rows), accuracy.goal)
    joint = np.block([[both, cross], [cross.T, misfit.covariance(accuracy.goal, accuracy.goal)]])
    root = np.linalg.cholesky(joint + 1e-12 * np.eye(len(joint)))
    draws = 40_000
    theta = rng.standard_normal((draws, jacobian.shape[1])) * accuracy.prior.spread
    error = rng.standard_normal((draws, len(joint))) @ root.T
    noise = misfit.checkpoint * rng.standard_normal((draws, len(rows)))
    noise += misfit.run * rng.standard_normal((draws, len(menu.size)))[:, menu.run[rows]]
    seen = theta @ jacobian.T + error[:, : len(rows)] + noise
    normal = jacobian.T @ jacobian + RIDGE * np.eye(jacobian.shape[1])
    estimate = seen @ np.linalg.solve(normal, jacobian.T).T
    off = estimate @ goal.T - theta @ goal.T - error[:, len(rows) :]
    assert accuracy.variance(RUNS)[0] == pytest.approx((off**2).mean(axis=0), rel=0.04)
    assert accuracy.covariance(RUNS)[0] == pytest.approx(off.T @ off / draws, abs=0.05 * (off**2).mean())


def test_criterion_is_the_mean_variance(accuracy: Accuracy) -> None:
    assert accuracy.criterion(RUNS) == pytest.approx(accuracy.variance(RUNS).mean(), rel=1e-9)


def test_covariance_has_the_variance_on_its_diagonal(accuracy: Accuracy) -> None:
    diagonal = np.einsum("smm->sm", accuracy.covariance(RUNS))
    assert accuracy.variance(RUNS) == pytest.approx(diagonal, rel=1e-6)


def test_without_misfit_more_runs_never_hurt_and_with_it_they_can(menu: Menu, accuracy: Accuracy) -> None:
    noisy = Accuracy(menu, accuracy.prior, accuracy.goal, Misfit(common=0, mixture=0, run=0, checkpoint=3.5e-3))
    few, many = np.r_[0:4, 24:30], np.r_[0:12, 24:30]
    assert noisy.criterion(many) < noisy.criterion(few)
    crowd = np.r_[0:12, 24:28]  # a crowd of the smallest runs pulls the fit away from the target
    assert accuracy.criterion(crowd) > accuracy.criterion(np.r_[0:4, 24:28]) * 0.8


def test_runs_that_are_done_count(menu: Menu, accuracy: Accuracy) -> None:
    rows = menu.rows(np.arange(24, 36))
    more = menu.after(menu.inputs.rows(rows), np.repeat(np.arange(12), 2))
    after = Accuracy(more, accuracy.prior, accuracy.goal)
    assert after.error(np.arange(6)) == pytest.approx(accuracy.error(np.r_[0:6, 24:36]), rel=1e-9)


def test_regret_is_zero_without_error_and_falls_with_runs(accuracy: Accuracy) -> None:
    rng = np.random.default_rng(1)
    few, many = accuracy.regret(np.array([0, 12, 24]), rng), accuracy.regret(np.arange(36), rng)
    assert 0 <= many < few
    accuracy.covariance = lambda runs: np.zeros((3, 8, 8))  # type: ignore[method-assign, assignment]
    assert accuracy.regret(RUNS, rng) == 0.0


def test_error_is_the_mean_absolute_value_of_a_normal_error(accuracy: Accuracy) -> None:
    expected = np.sqrt(2 / np.pi) * np.sqrt(accuracy.variance(RUNS)).mean()
    assert accuracy.error(RUNS) == pytest.approx(expected)


def test_draws_leave_open_what_the_runs_done_leave_open(menu: Menu, accuracy: Accuracy) -> None:
    """Before any run the losses of draws scatter widely, afterwards by no more than misfit and noise at those runs."""
    done = replace(menu, done=np.isin(np.arange(36), RUNS))
    after = Accuracy(done, accuracy.prior, accuracy.goal)
    rows = done.done_rows
    scatter = []
    for known in (accuracy, after):
        wide = known.averaged(np.random.default_rng(0), done=len(RUNS)).prior
        turn = np.arange(len(wide.theta)) % 3
        centre = np.log(wide.law.predict(accuracy.prior.theta, menu.inputs))[turn]
        moved = np.log(wide.law.predict(wide.theta, menu.inputs)) - centre
        scatter.append(float(np.sqrt((moved[:, rows] ** 2).mean())))
    assert scatter[0] > 0.1
    assert scatter[1] < 0.03
