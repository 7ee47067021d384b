"""The picture of slices: the grid, what is allowed, the marks, and which domains are drawn."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pandas as pd
import pytest

from mixlaw.errors import InputError
from mixlaw.fits import FitSet
from mixlaw.fitting import Request as FitRequest
from mixlaw.fitting import fit_table
from mixlaw.mixture import Mixture
from mixlaw.optimize import Choice, Objective, Request, Scale, choose
from mixlaw.render.pictures import canvas
from mixlaw.render.pictures.slices import draw, excess, leading, slice_of
from mixlaw.runs import RunTable

pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")


@pytest.fixture(scope="module")
def choice(three: FitSet) -> Choice:
    return choose(three, Request(maximum={"d1": 0.3}, incumbent=Mixture({"d0": 0.5, "d1": 0.2, "d2": 0.3})))


def test_three_domains_are_the_whole_simplex(choice: Choice) -> None:
    figure = draw(choice)
    axes = figure.axes[0]
    assert {t.get_text() for t in axes.texts} >= {"all d0", "all d1", "all d2", "25%", "50%", "75%"}
    marks = {line.get_label(): line.get_xydata() for line in axes.lines}
    assert set(marks) >= {"proposal", "uniform", "incumbent", "best_observed", "runs"}
    _, second, third = choice.proposal
    assert marks["proposal"][0] == pytest.approx([second + third / 2, third * np.sqrt(3) / 2])
    assert len(marks["runs"]) == len(choice.fits.seen.runs)
    entries = [t.get_text() for t in figure.legends[0].get_texts()]
    assert f"proposal {choice.standings['proposal'].value:.4f}" in entries
    assert "within the noise of one run" in entries
    assert "Hatched: not allowed." in figure.texts[-1].get_text()


def test_the_grid_holds_the_objective_and_what_is_allowed(choice: Choice) -> None:
    one = slice_of(choice, (0, 1), whole=True)
    shares = np.column_stack([one.x.ravel(), one.y.ravel(), 1 - one.x.ravel() - one.y.ravel()])
    assert shares.min() > -1e-12
    assert one.value.ravel() == pytest.approx(choice.surface.value(np.maximum(shares, 0)))
    assert ((one.excess <= 1e-9) == (one.y <= 0.3 + 1e-9)).all()
    assert excess(choice, np.array([[0.2, 0.5, 0.3]])) == pytest.approx([0.2])


def test_limits_on_losses_shade_too(three: FitSet) -> None:
    level = float(three.value("d0", three.inputs(np.full((1, 3), 1 / 3), None, None))[0])
    choice = choose(three, Request(objective=Objective.parse("d1=1", limits=[f"loss/d0 <= {level}"])))
    uniform = np.full((1, 3), 1 / 3)
    assert excess(choice, uniform) == pytest.approx([0], abs=1e-9)
    assert excess(choice, np.array([[0.0, 0.5, 0.5]]))[0] > 0.01


def test_of_many_domains_pairs_of_four_are_drawn(many: FitSet) -> None:
    choice = choose(many, Request())
    figure = draw(choice)
    four = leading(choice)
    names = [f"{many.domains[k]} share" for k in four]
    panels = [(a.get_xlabel(), a.get_ylabel()) for a in figure.axes[:6]]
    assert panels == [(names[i], names[j]) for i in range(4) for j in range(i + 1, 4)]
    assert int(np.argmax(choice.proposal)) in four
    assert "4 of 24 domains" in figure.texts[-1].get_text()


def test_two_domains_are_a_curve(two: FitSet) -> None:
    choice = choose(two, Request())
    axes = draw(choice).axes[0]
    curve = next(line for line in axes.lines if line.get_label() == "objective")
    x, y = (np.asarray(v, dtype=float) for v in curve.get_data())
    assert y == pytest.approx(choice.surface.value(np.column_stack([x, 1 - x])))
    assert axes.get_xlabel() == "d0 share (the rest is d1)"


def test_one_domain_leaves_nothing_to_draw() -> None:
    scale = {"params": [1e6, 2e6, 4e6], "tokens": [1e8, 3e8, 5e8]}
    frame = pd.DataFrame({"run": ["a", "b", "c"], **scale, "mix/d0": [1.0] * 3, "loss/d0": [3.0, 2.8, 2.6]})
    fits = fit_table(RunTable.from_frame(frame), FitRequest(("chinchilla",), shrink=0.0))
    with pytest.raises(InputError, match="at least two domains"):
        draw(choose(fits, Request(Scale(4e6, 5e8))))


def test_the_fragment_has_the_labels_as_text_and_fixed_bytes(choice: Choice) -> None:
    text = canvas.svg(draw(choice), "slices")
    root = ElementTree.fromstring(text)
    assert "all d0" in [e.text for e in root.iter("text")]
    assert root.attrib["aria-label"].startswith("Proposal: ")
    assert not re.search(r"http|data:|url\((?!#slices-)", text)
    assert text == canvas.svg(draw(choice), "slices")


def test_a_proposal_beyond_the_runs_is_said_to_be_there(three: FitSet) -> None:
    seen = three.seen.mixtures
    choice = choose(three, Request(minimum={"d0": float(seen[:, 0].max()) + 0.1}))
    said = draw(choice).texts[-1].get_text().replace("\n", " ")
    assert "The proposal lies beyond the shares of the runs: d0" in said
