"""A domain that the domains file does not name is a slip, not a dataset."""

from __future__ import annotations

import pytest

from mixlaw.domains import Domain, Domains
from mixlaw.errors import InputError
from mixlaw.export import render
from mixlaw.mixture import Mixture, Recipe

FILE = Domains({"web": Domain(), "code": Domain()}, source="d.yaml")


def test_a_misspelt_domain_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(
        InputError, match=r"d\.yaml: Expected domains among web, code\. Got cod\. Did you mean 'code'\?"
    ):
        render("megatron", Recipe(Mixture({"web": 0.5, "cod": 0.5})), domains=FILE)


def test_a_domain_with_share_0_may_be_unknown() -> None:
    assert render("megatron", Recipe(Mixture({"web": 1.0, "cod": 0.0})), domains=FILE).text == "1.0 web\n"


def test_without_a_file_any_name_goes() -> None:
    assert "cod" in render("megatron", Recipe(Mixture({"web": 0.5, "cod": 0.5}))).text
