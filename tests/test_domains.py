"""The domains file."""

from __future__ import annotations

import pytest

from mixlaw.domains import Domain, Domains
from mixlaw.errors import InputError, MissingFactError

TEXT = """
domains:
  web: {prior: 0.75, available_tokens: 1.2T, mean_tokens_per_document: 640, paths: [data/web, data/more]}
  code: {prior: 0.25, available_tokens: 30B, max_epochs: 2, max: 0.5, paths: data/code}
  rare:
groups:
  code_like: {members: [code, rare], min: 0.1}
"""


@pytest.fixture
def load(tmp_path):
    def load(text):
        path = tmp_path / "domains.yaml"
        path.write_text(text)
        return Domains.load(path)

    return load


def test_human_numbers_and_single_paths(load):
    domains = load(TEXT)
    assert domains.get("web") == Domain(0.75, 1.2e12, 4, 0, 1, 640, ("data/web", "data/more"))
    assert domains.get("code").paths == ("data/code",)
    assert domains.get("rare") == domains.get("nowhere") == Domain()
    assert domains.groups[0].members == ("code", "rare") and domains.groups[0].minimum == 0.1


def test_supply_bounds_a_share_and_says_why(load):
    constraints = load(TEXT).constraints(["web", "code", "rare"], tokens=1e12)
    assert constraints.upper.tolist() == pytest.approx([1, 0.06, 1])
    assert constraints.reasons == {"code": "2 epochs of 30B tokens"}
    assert load(TEXT).constraints(["code", "rare"]).reasons == {"code": "max 0.5"}


def test_the_natural_mixture_needs_every_prior(load):
    assert load(TEXT).natural() is None
    assert load("domains: {a: {prior: 3}, b: {prior: 1}}").natural().shares == {"a": 0.75, "b": 0.25}
    with pytest.raises(InputError, match="only zeros"):
        load("domains: {a: {prior: 0}}").natural()


def test_a_missing_fact_names_the_domains_and_the_file(load):
    with pytest.raises(MissingFactError) as refusal:
        load(TEXT).need(["web", "code", "rare"], "mean_tokens_per_document", "a reason")
    assert "none for code, rare" in str(refusal.value) and "domains.yaml" in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("domains: []", "a mapping domains:"),
        ("web: {prior: 1}", "a mapping domains:"),
        ("domains: {web: 3}", "a mapping of facts"),
        ("domains: {no: {prior: 1}}", "names of domains as text"),
        ("domains: {web: {priors: 1}}", "priors"),
        ("domains: {web: {prior: -1}}", "prior of at least 0"),
        ("domains: {web: {prior: high}}", "prior to be a number"),
        ("domains: {web: {available_tokens: 0}}", "available_tokens above zero"),
        ("domains: {web: {available_tokens: 1e30}}", "domain 'web': Expected available_tokens between 1 and 1e+18"),
        ("domains: {web: {mean_tokens_per_document: 0.5}}", "mean_tokens_per_document between 1"),
        ("domains: {web: {mean_tokens_per_document: [1]}}", "mean_tokens_per_document to be a number"),
        ("domains: {web: {paths: {a: b}}}", "paths: Expected a list of names"),
        ("domains: {web: {paths: ['']}}", "paths: Expected a list of names"),
        ("{domains: {web: {}}, groups: [web]}", "a mapping groups:"),
        ("{domains: {web: {}}, groups: {g: {min: 1}}}", "group 'g'"),
        ("{domains: {web: {}}, groups: {g: {members: {web: 1}}}}", "members: Expected a list of names"),
    ],
)
def test_broken_files_are_refused_by_place(load, text, said):
    with pytest.raises(InputError) as refusal:
        load(text)
    assert said in str(refusal.value) and "domains.yaml" in str(refusal.value)


def test_one_member_needs_no_list(load):
    assert load("{domains: {web: {}}, groups: {g: {members: web}}}").groups[0].members == ("web",)
