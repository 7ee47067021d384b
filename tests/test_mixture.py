"""Mixtures, recipes and constraints."""

from __future__ import annotations

import numpy as np
import pytest

from mixlaw.errors import InputError
from mixlaw.files import to_yaml
from mixlaw.mixture import Constraints, Group, Mixture, Recipe, Stage


def test_shares_off_by_rounding_are_rescaled_and_say_so():
    mixture = Mixture({"web": 0.602, "code": 0.4})
    assert mixture.rescaled
    assert sum(mixture.shares.values()) == pytest.approx(1, abs=1e-15)
    assert not Mixture({"web": 0.6, "code": 0.4}).rescaled
    assert not Mixture(dict.fromkeys("abc", 1 / 3)).rescaled


@pytest.mark.parametrize(
    ("shares", "said"),
    [
        ({}, "an empty mixture"),
        ({"web": 0.5}, "a sum of 0.5"),
        ({"web": 60, "code": 40}, "write 0.6, not 60"),
        ({"web": 1.1, "code": -0.1}, "domain 'code'"),
        ({"web": float("nan")}, "domain 'web'"),
    ],
)
def test_what_is_no_mixture_is_refused(shares, said):
    with pytest.raises(InputError, match=said):
        Mixture(shares)


def test_vectors_go_by_name():
    mixture = Mixture({"web": 0.6, "code": 0.4, "old": 0.0})
    assert mixture.vector(["code", "math", "web"]).tolist() == [0.4, 0, 0.6]
    with pytest.raises(InputError, match=r"web, math.*code"):
        mixture.vector(["web", "math"])
    assert Mixture.from_vector(["a", "b"], np.array([0.25, 0.75])).shares == {"a": 0.25, "b": 0.75}
    assert Mixture.uniform("ab").shares == {"a": 0.5, "b": 0.5}
    assert mixture.nonzero() == {"web": 0.6, "code": 0.4}


def test_mixtures_on_the_command_line(tmp_path):
    assert Mixture.parse("web=0.6, code=0.4").shares == {"web": 0.6, "code": 0.4}
    path = tmp_path / "a=b.yaml"
    path.write_text("web: 1\n")
    assert Mixture.parse(str(path)).shares == {"web": 1.0}
    with pytest.raises(InputError, match="share of 'code'"):
        Mixture.parse("web=0.6,code=lots")


@pytest.mark.parametrize("text", ["no: 1", "mixture: {off: 1}", "1.5: 1", "null: 1", "'': 1", "' ': 1", '"a\\nb": 1'])
def test_names_that_yaml_reads_as_something_else_are_refused(tmp_path, text):
    path = tmp_path / "m.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=r"m\.yaml.*Expected names"):
        Recipe.load(path)


def test_quoted_and_whole_number_names_are_text(tmp_path):
    path = tmp_path / "m.yaml"
    path.write_text("{'no': 0.5, 2024: 0.5}")
    assert Recipe.load(path).mixture.shares == {"no": 0.5, "2024": 0.5}


def test_a_recipe_comes_back_from_its_file(tmp_path):
    recipe = Recipe(Mixture({"web": 0.6, "code": 0.4}), 1.5e11, 7e9, evidence={"law": "exponential"})
    path = tmp_path / "m.yaml"
    path.write_text(to_yaml(recipe.to_mapping()))
    assert Recipe.load(path) == recipe


def test_stages_come_back_and_their_mean_is_the_mixture(tmp_path):
    stages = (Stage(3e9, Mixture({"web": 1.0})), Stage(1e9, Mixture({"web": 0.2, "code": 0.8})))
    recipe = Recipe.from_stages(stages, params=1e9)
    assert recipe.tokens == 4e9
    assert recipe.mixture.shares == pytest.approx({"web": 0.8, "code": 0.2})
    path = tmp_path / "m.yaml"
    path.write_text(to_yaml(recipe.to_mapping()))
    assert Recipe.load(path) == recipe


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mixture: [web, code]", "a mapping of names to shares"),
        ("mixture: {web: much}", "share of 'web'"),
        ("mixture: {web: [1]}", "share of 'web'"),
        ("{mixture: {web: 1}, tokens: -1}", "tokens above zero"),
        ("{mixture: {web: 1}, evidence: 3}", "a mapping under evidence"),
        ("stages: 3", "a list of at least one stage"),
        ("stages: {tokens: 1}", "a list of at least one stage"),
        ("stages: []", "at least one stage"),
        ("stages: [{tokens: 1}]", "stage 1: Expected a stage with tokens: and mixture:"),
        ("stages: [{tokens: 1, mixture: 5}]", "stage 1: Expected a mapping of names"),
        ("{tokens: 5, stages: [{tokens: 1, mixture: {web: 1}}]}", "stages that add up to tokens: 5"),
    ],
)
def test_broken_files_are_refused_by_place(tmp_path, text, said):
    path = tmp_path / "m.yaml"
    path.write_text(text)
    with pytest.raises(InputError) as refusal:
        Recipe.load(path)
    assert said in str(refusal.value) and "m.yaml" in str(refusal.value)


def test_constraints_check_bounds_and_members():
    free = Constraints.free("ab")
    assert free.upper.tolist() == [1, 1]
    assert free.members(Group("g", ("b",))).tolist() == [0, 1]
    with pytest.raises(InputError, match="domain 'b'"):
        Constraints(("a", "b"), np.zeros(2), np.array([1, 1.5]))
    with pytest.raises(InputError, match="c"):
        Constraints(("a", "b"), np.zeros(2), np.ones(2), (Group("g", ("c",)),))


def test_a_mixture_of_many_domains_is_longer_than_any_file_name() -> None:
    names = [f"a_long_name_of_a_domain_{i}" for i in range(20)]
    mixture = Mixture.parse(",".join(f"{name}=0.05" for name in names))
    assert list(mixture.shares) == names
