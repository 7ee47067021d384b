"""The D-CPT law against the paper's own table, and as it behaves on the box it is used on."""

from __future__ import annotations

import numpy as np
import pytest

from mixlaw.laws import bound
from mixlaw.laws.base import Inputs
from mixlaw.laws.dcpt import EXAMPLE, LAW


def shares(domain: np.ndarray) -> np.ndarray:
    return np.stack([1 - domain, domain], axis=-1)


def test_a_hand_computed_value() -> None:
    inputs = Inputs.build(("general", "code"), shares(np.array([0.5])), 1e8, 1e9)
    theta = np.log([2.0, 0.3, 0.5, 0.4, 0.3, 1.0, 0.2, 1.0, 0.25])
    # E + A + B (r + 1e-4) + C / (r + e) at N = 1e8, D = 1e9 and r = 0.5.
    expected = 2.0 + 0.3 + 0.4 * 0.5001 + 0.2 / 0.75
    assert bound("dcpt", "code").predict(theta, inputs)[0] == pytest.approx(expected, rel=1e-12)


def test_general_and_domain_loss_use_their_own_share() -> None:
    inputs = Inputs.build(("general", "code"), shares(np.array([0.2, 0.9])), 1e9, 1e10)
    mirrored = Inputs.build(("general", "code"), shares(np.array([0.8, 0.1])), 1e9, 1e10)
    theta = np.array(EXAMPLE.theta)
    np.testing.assert_allclose(
        bound("dcpt", "general").predict(theta, inputs), bound("dcpt", "code").predict(theta, mirrored), rtol=1e-12
    )


def test_the_example_falls_with_the_share_as_the_paper_asks() -> None:
    inputs = Inputs.build(("general", "code"), shares(np.linspace(0.05, 0.95, 19)), 1e9, 1e10)
    slope = LAW.about("code").share_gradient(np.array(EXAMPLE.theta), inputs)
    assert np.all(slope[:, 1] < 0)
    assert np.all(slope[:, 0] == 0)


def test_reduced_forms_drop_size_and_tokens() -> None:
    names = {form.name: [p.name for p in form.parameters(("general", "code"))] for form in LAW.reduced}
    assert names["dcpt-params"] == ["E", "A", "a", "B", "eta", "C", "g", "e"]
    assert names["dcpt-tokens"] == ["E", "B", "b", "eta", "C", "g", "e"]
    assert names["dcpt-mix"] == ["E", "B", "eta", "C", "g", "e"]
