"""Regions: feasibility, implied equalities, and collisions explained."""

from __future__ import annotations

import numpy as np
import pytest

from mixlaw.errors import InfeasibleError
from mixlaw.mixture import Constraints, Group
from mixlaw.optimize import Region

ABC = ("a", "b", "c")


def bounds(lower: list[float], upper: list[float], *groups: Group) -> Constraints:
    return Constraints(ABC, np.array(lower), np.array(upper), groups)


def test_centre_lies_inside() -> None:
    region = Region.of(bounds([0.1, 0, 0], [1, 0.3, 1]))
    matrix, limit = region.free
    assert (limit - matrix @ region.centre).min() > 0.05
    assert region.centre.sum() == pytest.approx(1, abs=1e-14)


def test_pinned_domain_and_tight_group_become_equalities() -> None:
    region = Region.of(bounds([0.2, 0, 0], [0.2, 1, 1], Group("g", ("a", "b"), minimum=0.5, maximum=0.5)))
    assert region.basis.shape[1] == 0
    assert region.centre == pytest.approx([0.2, 0.3, 0.5], abs=1e-9)


def test_ceilings_that_sum_to_one_leave_one_point() -> None:
    region = Region.of(bounds([0, 0, 0], [0.2, 0.3, 0.5]))
    assert region.centre == pytest.approx([0.2, 0.3, 0.5], abs=1e-9)


def test_violation_counts_the_sum_and_every_row() -> None:
    region = Region.of(bounds([0.1, 0, 0], [1, 0.3, 1]))
    assert region.violation(np.array([0.05, 0.35, 0.6])) == pytest.approx(0.05)
    assert region.violation(np.array([0.5, 0.2, 0.2])) == pytest.approx(0.1)
    assert region.contains(np.array([0.5, 0.2, 0.3]))


def test_collision_names_only_those_who_collide() -> None:
    with pytest.raises(InfeasibleError) as caught:
        Region.of(bounds([0.6, 0.5, 0], [1, 1, 0.9]))
    assert str(caught.value).count("'c'") == 0
    assert "at least 0.6 of 'a' with at least 0.5 of 'b': they miss each other by 0.1 of the mixture" in str(
        caught.value
    )


def test_collision_of_group_and_ceilings() -> None:
    with pytest.raises(InfeasibleError) as caught:
        Region.of(bounds([0, 0, 0], [0.2, 0.1, 1], Group("code_like", ("a", "b"), minimum=0.5)))
    words = str(caught.value)
    assert "at least 0.5 of group 'code_like' with at most 0.2 of 'a' with at most 0.1 of 'b'" in words
    assert "by 0.2 of the mixture" in words


def test_supply_is_named_as_the_reason() -> None:
    upper = np.array([0.1, 0.2, 0.3])
    reasons = dict.fromkeys(ABC, "4 epochs of 1B tokens")
    with pytest.raises(InfeasibleError, match=r"at most 0.1 of 'a' \(4 epochs of 1B tokens\).*miss each other by 0.4"):
        Region.of(Constraints(ABC, np.zeros(3), upper, (), reasons))


def test_too_many_floors_are_summed_up() -> None:
    names = tuple(f"d{i}" for i in range(20))
    with pytest.raises(InfeasibleError, match=r"floors of all domains \(sum 1.2; .*\.\.\.\).*by 0.2"):
        Region.of(Constraints(names, np.full(20, 0.06), np.ones(20)))
