"""The batched solver against SciPy, one problem at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.optimize import least_squares, lsq_linear

from mixlaw.laws import EXAMPLES, LAWS
from mixlaw.problems import LogModel
from mixlaw.solver import Problems, SolverOptions, minimise, penalty, polish


@pytest.fixture
def problem() -> tuple[Problems, np.ndarray]:
    rng = np.random.default_rng(3)
    law, given = LAWS["chinchilla"], EXAMPLES["chinchilla"]
    inputs, theta = given.inputs(rng), np.array(given.theta)
    log_y = np.log(law.predict(theta, inputs)) + 0.01 * rng.standard_normal(len(inputs))
    log_y[::7] += 0.2
    parameters = law.parameters(given.domains)
    starts = law.starts(inputs, np.exp(log_y), rng, 6)
    zeros = np.zeros(6, dtype=np.intp)
    bounds = [np.array([getattr(p, side) for p in parameters]) for side in ("lower", "upper")]
    return Problems(
        LogModel(law, inputs), log_y[None], np.ones((1, len(inputs))), zeros, zeros, *bounds, np.zeros(5)
    ), starts


@pytest.mark.parametrize("loss", ["huber", "l2"])
def test_batch_finds_the_optimum_that_scipy_finds(problem: tuple[Problems, np.ndarray], loss: str) -> None:
    problems, starts = problem
    options = SolverOptions(loss=loss, ridge=0.0)
    found = minimise(problems, starts, options=options)
    model, y = problems.model, problems.log_y[0]
    kind = {"huber": "huber", "l2": "linear"}[loss]
    expected = [
        least_squares(
            lambda x: model.values(x[None])[0] - y, s, loss=kind, f_scale=0.01,
            bounds=(problems.lower, problems.upper), xtol=1e-12, ftol=1e-12, gtol=1e-12, max_nfev=2000,
        ).cost
        for s in starts
    ]  # fmt: skip
    assert found.objective.min() == pytest.approx(min(expected), rel=1e-6)
    assert found.converged[np.argmin(found.objective)]


def test_polish_never_makes_it_worse(problem: tuple[Problems, np.ndarray]) -> None:
    problems, starts = problem
    rough = minimise(problems, starts, options=SolverOptions(iterations=3))
    one = polish(problems.part(np.array([0])), rough.theta[0], options=SolverOptions())
    assert one.objective[0] < rough.objective[0]


def test_chunks_do_not_change_the_answer(problem: tuple[Problems, np.ndarray], monkeypatch: pytest.MonkeyPatch) -> None:
    problems, starts = problem
    whole = minimise(problems, starts, options=SolverOptions())
    monkeypatch.setattr("mixlaw.solver._CHUNK", 1)
    seen: list[float] = []
    parts = minimise(problems, starts, options=SolverOptions(), progress=seen.append)
    np.testing.assert_allclose(parts.theta, whole.theta, rtol=1e-9, atol=1e-9)
    assert seen == pytest.approx([1 / 6, 2 / 6, 3 / 6, 4 / 6, 5 / 6, 1.0])


def test_bounds_hold(problem: tuple[Problems, np.ndarray]) -> None:
    problems, starts = problem
    tight = replace(problems, upper=np.full(5, -0.4), lower=np.full(5, -2.0))
    found = minimise(tight, starts, options=SolverOptions())
    assert np.all(found.theta <= -0.4)
    assert np.all(found.theta >= -2.0)
    assert (found.theta == -0.4).any()


def test_a_row_of_weight_zero_does_not_count(problem: tuple[Problems, np.ndarray]) -> None:
    problems, starts = problem
    weights = problems.weights.copy()
    weights[0, 5] = 0
    spoilt = problems.log_y.copy()
    spoilt[0, 5] = 40.0
    options = SolverOptions()
    clean = minimise(replace(problems, weights=weights), starts, options=options)
    dirty = minimise(replace(problems, weights=weights, log_y=spoilt), starts, options=options)
    np.testing.assert_array_equal(clean.theta, dirty.theta)


def test_huber_is_quadratic_inside_and_linear_outside() -> None:
    value, weight = penalty(np.array([0.005, 0.03]), 0.01)
    np.testing.assert_allclose(value, [0.5 * 0.005**2, 0.01 * (0.03 - 0.005)])
    np.testing.assert_allclose(weight, [1.0, 1 / 3])


@dataclass(frozen=True)
class Line:
    """A linear model: its bounded least-squares problem has one optimum, which SciPy finds by another way."""

    design: np.ndarray

    def values(self, theta: np.ndarray) -> np.ndarray:
        return theta @ self.design.T

    def jacobian(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.values(theta), np.broadcast_to(self.design, (len(theta), *self.design.shape))


@pytest.mark.parametrize("seed", range(20))
def test_bounds_that_cut_a_step_do_not_stop_the_search(seed: int) -> None:
    rng = np.random.default_rng(seed)
    design = rng.standard_normal((30, 6)) @ (np.eye(6) + 0.95 * rng.standard_normal((6, 6)))
    y, zero = design @ rng.normal(0, 2, 6), np.zeros(1, dtype=np.intp)
    problems = Problems(Line(design), y[None], np.ones((1, 30)), zero, zero, -np.ones(6), np.ones(6), np.zeros(6))
    found = minimise(problems, np.zeros((1, 6)), options=SolverOptions(loss="l2", ridge=0.0))
    assert found.objective[0] == pytest.approx(lsq_linear(design, y, (-1, 1), tol=1e-12).cost, rel=1e-6)
    assert found.gradient[0] < 1e-6 * found.objective[0] + 1e-6
