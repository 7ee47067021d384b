"""Choosing a few of many, and names beside lines."""

from __future__ import annotations

import numpy as np
import pytest

from mixlaw.render.pictures.panels import some, spread


def test_a_few_of_many_keep_both_ends() -> None:
    assert some(list(range(110)), 4) == [0, 36, 73, 109]
    assert some("abc", 4) == ["a", "b", "c"]


def test_names_move_apart_together_and_no_further_than_they_must() -> None:
    assert spread(np.array([0.1, 0.5, 0.9]), 0.05) == pytest.approx([0.1, 0.5, 0.9])
    assert spread(np.array([0.5, 0.5, 0.5]), 0.1) == pytest.approx([0.4, 0.5, 0.6])
    apart = spread(np.array([0.2, 0.21, 0.22, 0.8]), 0.05)
    assert (np.diff(apart) >= 0.05 - 1e-12).all()
    assert apart[:3].mean() == pytest.approx(0.21)
    assert apart[3] == 0.8
