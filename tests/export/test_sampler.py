"""The conversion end to end: a sampler of documents, as HF, Lingua and ms-swift have it, and the tokens it draws."""

from __future__ import annotations

import numpy as np
import pytest
import yaml

from mixlaw.domains import Domain, Domains
from mixlaw.export import check, render
from mixlaw.mixture import Mixture, Recipe

SHARES = {"web": 0.6, "code": 0.3, "math": 0.1}
LENGTHS = {"web": 500, "code": 1500, "math": 200}
PASSED_AS_THEY_ARE = {"web": 300 / 770, "code": 450 / 770, "math": 20 / 770}
DOCUMENTS = 200_000


def draw_tokens(weights, rng):
    """Draw whole documents, their source by weight, and count the tokens of each source."""
    p = np.array([weights[name] for name in SHARES])
    source = rng.choice(len(p), size=DOCUMENTS, p=p / p.sum())
    lengths = rng.geometric(1 / np.array(list(LENGTHS.values()))[source])
    tokens = np.bincount(source, weights=lengths)
    return dict(zip(SHARES, tokens / tokens.sum(), strict=True))


@pytest.fixture
def facts():
    return Domains({name: Domain(mean_tokens_per_document=length) for name, length in LENGTHS.items()})


@pytest.fixture
def asked():
    return Recipe(Mixture(SHARES))


def test_written_by_mixlaw_the_tokens_are_60_30_10(asked, facts, rng):
    weights = yaml.safe_load(render("lingua", asked, domains=facts).text)["data"]["sources"]
    assert draw_tokens(weights, rng) == pytest.approx(SHARES, abs=0.005)


def test_shares_passed_as_they_are_give_another_mixture(rng):
    drawn = draw_tokens(SHARES, rng)
    assert drawn == pytest.approx(PASSED_AS_THEY_ARE, abs=0.005)
    measured = {"web": 0.385, "code": 0.590, "math": 0.025}  # one run of Lingua's own sampler
    assert drawn == pytest.approx(measured, abs=0.01)


def test_the_audit_says_so_beforehand(facts):
    by_hand = "data:\n  sources: {web: 60, code: 30, math: 10}\n"
    audit = check("lingua", by_hand, domains=facts)
    assert audit.shares == pytest.approx(PASSED_AS_THEY_ARE, abs=1e-12)
