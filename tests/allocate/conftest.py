"""Small plans and tables that the tests of this part share."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mixlaw.allocate.accuracy import Accuracy
from mixlaw.allocate.menu import Menu
from mixlaw.allocate.plan import PlanRequest
from mixlaw.allocate.prior import default_prior
from mixlaw.allocate.sizes import Scale, Size
from mixlaw.domains import Domain, Domains
from mixlaw.laws import LAWS
from mixlaw.laws.base import Inputs
from mixlaw.mixture import Group
from mixlaw.runs import RunTable

DOMAINS = ("web", "code", "math")
SIZES = (Size(6e7, (6e8, 1.2e9)), Size(1.5e8, (1.5e9, 3e9)), Size(4e8, (4e9, 8e9)))


@pytest.fixture
def sizes() -> tuple[Size, ...]:
    return SIZES


@pytest.fixture
def facts() -> Domains:
    by_name = {
        "web": Domain(prior=0.7, available_tokens=1e12, max=0.8),
        "code": Domain(prior=0.2, available_tokens=1e11, min=0.05),
        "math": Domain(prior=0.1, available_tokens=5e9, max=0.4),
    }
    return Domains(by_name, (Group("technical", ("code", "math"), 0.15, 0.7),))


@pytest.fixture
def request_for(facts: Domains) -> PlanRequest:
    return PlanRequest(sizes=SIZES, target=Scale(2e9, 4e10), budget=3e20, names=DOMAINS, domains=facts)


@pytest.fixture
def menu() -> Menu:
    mixtures = np.random.default_rng(5).dirichlet(np.ones(3), 12)
    return Menu.product(SIZES, DOMAINS, mixtures)


@pytest.fixture
def accuracy(menu: Menu) -> Accuracy:
    prior = default_prior(DOMAINS, np.array([0.7, 0.2, 0.1]), params=1.5e8, tokens=2e9)
    goal = Inputs.build(DOMAINS, np.random.default_rng(6).dirichlet(np.ones(3), 8), 2e9, 4e10)
    return Accuracy(menu, prior, goal)


@pytest.fixture(scope="session")
def runs() -> RunTable:
    """Runs of four sizes, 12 mixtures each, whose losses follow ``capacity`` with a little noise."""
    rng = np.random.default_rng(7)
    theta = np.array(
        [[0.5, -1.1, -0.9, -0.6, -0.3, -2.0, -1.2, 0.4, -0.4, 1.0], [0.2, -1.0, -1.2, -0.5, -1.5, 0.0, -1.0, 0, 1.0, 0]]
    )
    mixtures = rng.dirichlet(np.ones(3), 12)
    frames = []
    for params in (6e7, 1.5e8, 4e8, 1e9):
        for number, mixture in enumerate(mixtures):
            tokens = 20 * params * np.array([0.25, 0.5, 0.75, 1.0])
            inputs = Inputs.build(DOMAINS, np.tile(mixture, (4, 1)), params, tokens)
            loss = LAWS["capacity"].predict(theta, inputs) * np.exp(0.002 * rng.standard_normal((2, 1)))
            frames.append(
                pd.DataFrame(
                    {
                        "run": f"{params:.0e}-{number}", "tokens": tokens, "params": params,
                        **{f"mix/{d}": mixture[i] for i, d in enumerate(DOMAINS)},
                        "loss/web": loss[0], "loss/code": loss[1],
                    }
                )
            )  # fmt: skip
    return RunTable.from_frame(pd.concat(frames, ignore_index=True))
