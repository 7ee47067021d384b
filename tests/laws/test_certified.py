"""Each law against a second implementation, written from its paper's equation with plain numbers, or printed values.

Units here are the papers': N in parameters and D in tokens, one by one. Tolerance 1e-12 relative: both sides are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import exp, log

import numpy as np
import pytest
from scipy.optimize import brentq, minimize

from mixlaw.laws import FORMS, bound
from mixlaw.laws.base import Inputs

DOMAINS = ("web", "code", "math")
SHARES = np.array([[0.5, 0.3, 0.2], [0.05, 0.9, 0.05], [0.0, 0.4, 0.6]])
SIZES = np.array([4.1e8, 1.0e9, 7.0e9])
TOKENS = np.array([2.0e10, 3.0e9, 1.5e11])
FLOOR = 1e-4

Numbers = Mapping[str, float]


def power_sum(p: Numbers, weight: str, power: str, h: np.ndarray) -> float:
    return sum(p[f"{weight}[{d}]"] * (h[j] + FLOOR) ** p.get(f"{power}[{d}]", p.get(power, 1.0)) for j, d in
               enumerate(DOMAINS))  # fmt: skip


def plain_sum(p: Numbers, weight: str, h: np.ndarray) -> float:
    return sum(p[f"{weight}[{d}]"] * h[j] for j, d in enumerate(DOMAINS))


def additive(p: Numbers, n: float, d: float, h: np.ndarray) -> float:
    return p["E"] + 1 / power_sum(p, "C", "g", h) + p["A"] * n ** -p["a"] + p["B"] * d ** -p["b"]


def joint(p: Numbers, n: float, d: float, h: np.ndarray) -> float:
    size, data = plain_sum(p, "P", h) ** p["p"], plain_sum(p, "Q", h) ** p["q"]
    return p["E"] + 1 / power_sum(p, "C", "g", h) + size * n ** -p["a"] + data * d ** -p["b"]


def product(p: Numbers, n: float, d: float, h: np.ndarray) -> float:
    return p["E"] + (1 + p["A"] * n ** -p["a"] + p["B"] * d ** -p["b"]) / power_sum(p, "C", "g", h)


def modulated(p: Numbers, n: float, d: float, h: np.ndarray) -> float:
    scale = p["A"] * n ** -p["a"] + p["B"] * d ** -p["b"]
    return p["E"] + n ** p["u"] * d ** p["v"] / power_sum(p, "C", "g", h) + scale


def datashare(p: Numbers, n: float, d: float, h: np.ndarray) -> float:
    return p["E"] + p["A"] * n ** -p["a"] + (d * power_sum(p, "c", "g", h)) ** -p["b"]


def capacity(p: Numbers, n: float, d: float, h: np.ndarray) -> float:
    return p["E"] + (n * plain_sum(p, "v", h)) ** -p["a"] + (d * power_sum(p, "c", "g", h)) ** -p["b"]


def exponential(p: Numbers, n: float, d: float, h: np.ndarray) -> float:
    return p.get("c", 0.0) + exp(plain_sum(p, "t", h))


def linear(p: Numbers, n: float, d: float, h: np.ndarray) -> float:
    return plain_sum(p, "t", h) + p["n"] * log(n) + p["d"] * log(d)


def bimix(p: Numbers, n: float, d: float, h: np.ndarray) -> float:
    return (h[1] + FLOOR) ** -p["a"] * (p["B"] * d ** -p["b"] + p["C"])


SECOND: dict[str, Callable[[Numbers, float, float, np.ndarray], float]] = {
    "additive": additive,
    "joint": joint,
    "product": product,
    "modulated": modulated,
    "datashare": datashare,
    "capacity": capacity,
    "capacity-powers": capacity,
    "exp": exponential,
    "loglinear": exponential,
    "linear": linear,
    "bimix": bimix,
}


@pytest.mark.parametrize("name", sorted(SECOND))
def test_law_is_its_equation(name: str) -> None:
    law = bound(name, "code")
    inputs = Inputs.build(DOMAINS, SHARES, SIZES, TOKENS)
    rng = np.random.default_rng(5)
    parameters = law.parameters(DOMAINS)
    theta = rng.uniform(-0.9, 0.4, len(parameters)) + (6.0 if name == "linear" else 0.0)
    values = {p.name: p.value(t) for p, t in zip(parameters, theta, strict=True)}
    found = [
        SECOND[name](values, n / 1e8, d / 1e9, h)
        for n, d, h in zip(inputs.params, inputs.tokens, inputs.shares, strict=True)
    ]
    np.testing.assert_allclose(law.predict(theta, inputs), found, rtol=1e-12)


def test_chinchilla_with_the_printed_coefficients() -> None:
    """arXiv 2203.15556, equation 10: E 1.69, A 406.4, B 410.7, a 0.34, b 0.28 for N and D one by one."""
    theta = np.log([1.69, 406.4 * 1e8**-0.34, 410.7 * 1e9**-0.28, 0.34, 0.28])
    inputs = Inputs.build(("all",), np.ones((2, 1)), np.array([70e9, 280e9]), np.array([1.4e12, 300e9]))
    found = dict(zip(inputs.params, FORMS["chinchilla"].predict(theta, inputs), strict=True))
    for n, d in ((70e9, 1.4e12), (280e9, 300e9)):
        assert found[n] == pytest.approx(1.69 + 406.4 / n**0.34 + 410.7 / d**0.28, rel=1e-12)
    # The better use of Gopher's compute, which is what that paper is known for: 70B on 1.4T beats 280B on 300B.
    assert found[70e9] == pytest.approx(1.936, abs=1e-3)
    assert found[280e9] == pytest.approx(1.993, abs=1e-3)


def competition(p: Numbers, n: float, d: float, h: np.ndarray) -> np.ndarray:
    """arXiv 2606.08167 by a bracketed root for mu, in the units of the parameters."""
    weight, c, b = h + FLOOR, *(np.array([p[f"{s}[{name}]"] for name in DOMAINS]) for s in "cb")
    spare, floor = n + (len(h) - 1) * p["H"], p["H"]

    def capacities(log_mu: float) -> np.ndarray:
        return np.maximum(floor, (weight * b * c / exp(log_mu)) ** (1 / (b + 1)))

    x = capacities(brentq(lambda m: capacities(m).sum() - spare, -80, 80, xtol=1e-13, rtol=1e-14))
    a, height, least = (np.array([p[f"{s}[{name}]"] for name in DOMAINS]) for s in "aAE")
    return c * x**-b + height * (d * weight) ** -a + least


@pytest.mark.parametrize("floor", [0.02, 0.5, 3.0])
def test_competition_divides_capacity_as_a_root_finder_does(floor: float) -> None:
    law = FORMS["competition"]
    rng = np.random.default_rng(5)
    parameters = law.parameters(DOMAINS)
    theta = rng.uniform(-1.5, 0.4, len(parameters))
    theta[0] = log(floor)
    values = {p.name: p.value(t) for p, t in zip(parameters, theta, strict=True)}
    inputs = Inputs.build(DOMAINS, SHARES, SIZES, TOKENS)
    rows = zip(inputs.params, inputs.tokens, inputs.shares, strict=True)
    expected = np.array([competition(values, n / 1e8, d / 1e9, h) for n, d, h in rows])
    for index, domain in enumerate(DOMAINS):
        found = bound("competition", domain).predict(theta, inputs)
        np.testing.assert_allclose(found, expected[:, index], rtol=1e-10)


def test_competition_is_the_constrained_minimum() -> None:
    """The closed form against SLSQP on the constrained problem itself."""
    from mixlaw.laws.competition import Division

    weight, c, b = np.array([0.6, 0.3, 0.1]), np.array([1.2, 0.8, 2.0]), np.array([0.3, 0.5, 0.2])
    size, floor = 5.0, 0.4
    found = minimize(
        lambda x: (weight * c * x**-b).sum(),
        np.full(3, size / 3),
        jac=lambda x: -weight * c * b * x ** (-b - 1),
        bounds=[(floor, None)] * 3,
        constraints={"type": "eq", "fun": lambda x: x.sum() - size - 2 * floor, "jac": lambda x: np.ones(3)},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    division = Division.of(np.log(weight * b * c)[None], b[None], np.log([floor]), np.log([size]))
    np.testing.assert_allclose(np.exp(division.log_x[0]), found.x, rtol=1e-5)
    assert np.exp(division.log_x).sum() == pytest.approx(size + 2 * floor, rel=1e-12)
