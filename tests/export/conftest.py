"""The mixture of the issue: 60/30/10 in tokens, documents of 500/1500/200 tokens."""

from __future__ import annotations

import pytest

from mixlaw.domains import Domain, Domains
from mixlaw.mixture import Mixture, Recipe, Stage


@pytest.fixture
def recipe() -> Recipe:
    return Recipe(Mixture({"web": 0.6, "code": 0.3, "math": 0.1, "none": 0.0}), tokens=1e9)


@pytest.fixture
def domains() -> Domains:
    facts = {"web": (500, 2e9), "code": (1500, 1e8), "math": (200, 5e7)}
    return Domains(
        {
            name: Domain(mean_tokens_per_document=length, available_tokens=supply, paths=(f"/data/{name}",))
            for name, (length, supply) in facts.items()
        }
    )


@pytest.fixture
def curriculum() -> Recipe:
    """Half the run of web, half of code; 1024 steps of 1M tokens in all."""
    step = 256 * 4096
    first, second = Mixture({"web": 0.9, "code": 0.1}), Mixture({"web": 0.3, "code": 0.7})
    return Recipe.from_stages((Stage(512 * step, first), Stage(512 * step, second)))
