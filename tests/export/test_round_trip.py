"""Random mixtures: every format writes a file that means the same mixture, or refuses by name."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from mixlaw.domains import Domain, Domains
from mixlaw.errors import InputError
from mixlaw.export import EXPORTERS, ExportOptions, check, render
from mixlaw.export.base import Meaning
from mixlaw.mixture import Mixture, Recipe

TOKENS = 1e13
ROUNDED = {name for name, e in EXPORTERS.items() if e.about.meaning is Meaning.COUNT}
BOUNDED = {"gpt-neox", "levanter", "levanter-configs", *ROUNDED}
"""Formats with a largest number of domains or a smallest share."""

plain_names = st.from_regex(r"[a-z]{1,6}([./][a-z0-9_]{1,5}){0,2}", fullmatch=True).map("x".__add__)
odd_names = st.text(st.sampled_from("ab1.é/ -,#:'\"{}[]&*!|>%@`\\?=~+"), min_size=1, max_size=12)
sizes = st.one_of(st.integers(1, 12), st.integers(1, 300))


@st.composite
def mixtures(draw, names):
    """A mixture of 1 to 300 domains with zeros and shares of 1e-9, and facts of all of them."""
    stems = draw(st.lists(names.filter(str.strip), min_size=1, max_size=5, unique=True))
    keys = [*stems, *(f"{stems[i % len(stems)]}{i}" for i in range(draw(sizes)))]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    weights = rng.dirichlet(np.full(len(keys), 0.5)).clip(1e-6)
    weights[1::5], weights[2::7] = 0.0, 1e-9
    mixture = Mixture.from_vector(keys, weights / weights.sum())
    lengths, supply = 10 ** rng.uniform(0, 5, len(keys)), 10 ** rng.uniform(6, 13, len(keys))
    facts = {
        key: Domain(available_tokens=float(n), mean_tokens_per_document=float(m), max_epochs=1e9)
        for key, n, m in zip(keys, supply, lengths, strict=True)
    }
    return Recipe(mixture, tokens=TOKENS), Domains(facts)


def assert_same(form, recipe, domains):
    text = render(form, recipe, domains=domains).text
    audit = check(form, text, domains=domains, options=ExportOptions(tokens=TOKENS))
    expected = recipe.mixture.nonzero()
    assert audit.shares.keys() == expected.keys()
    tolerance = 1e-6 if form in ROUNDED else 1e-9
    assert max(abs(audit.shares[name] - share) for name, share in expected.items()) < tolerance
    return text


@pytest.mark.parametrize("form", sorted(EXPORTERS.keys() - BOUNDED))
@settings(derandomize=True, max_examples=8, deadline=None)
@given(case=mixtures(plain_names))
def test_plain_names_are_always_written(form, case):
    assert_same(form, *case)


@pytest.mark.parametrize("form", sorted(EXPORTERS))
@settings(derandomize=True, max_examples=8, deadline=None)
@given(case=mixtures(odd_names))
def test_odd_names_are_written_or_refused(form, case):
    recipe, domains = case
    try:
        assert_same(form, recipe, domains)
    except InputError as refusal:
        said = str(refusal)
        named = any(repr(name) in said or name in said for name in recipe.mixture.shares)
        assert named or (form in BOUNDED and "share" in said), said


@pytest.mark.parametrize("form", sorted(EXPORTERS))
def test_300_domains_with_zeros_and_tiny_shares(form, rng):
    names = [f"source-{i}/part.{i % 7}" for i in range(300)]
    weights = rng.dirichlet([0.3] * 300) + (1e-9 if form not in BOUNDED else 1e-4)
    weights[::10] = 0
    recipe = Recipe(Mixture({n: float(w) for n, w in zip(names, weights / weights.sum(), strict=True)}), tokens=TOKENS)
    facts = Domains(
        {
            n: Domain(None, float(a), 1e9, 0, 1, float(m))
            for n, a, m in zip(names, rng.uniform(1e9, 1e12, 300), rng.uniform(10, 5000, 300), strict=True)
        }
    )
    if form == "gpt-neox":
        with pytest.raises(InputError, match="at most 254"):
            render(form, recipe, domains=facts)
    else:
        assert_same(form, recipe, facts)


@settings(derandomize=True, max_examples=12, deadline=None)
@given(case=mixtures(plain_names))
def test_printed_digits_add_up(case):
    recipe, domains = case
    words = render("megatron", recipe, domains=domains).text.split()
    assert sum(map(Decimal, words[::2])) == 1
    text = render("hf", recipe, domains=domains).text
    digits = yaml.load(text, Loader=yaml.BaseLoader)["probabilities"]
    assert sum(map(Decimal, digits)) == 1
    assert not any("e" in number.lower() for number in (*words[::2], *digits))
