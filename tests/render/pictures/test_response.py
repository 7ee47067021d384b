"""The picture of responses: curves, partial residuals, and what is left out of a large fit."""

from __future__ import annotations

import numpy as np
import pytest

from mixlaw.fits import FitSet
from mixlaw.render.pictures import canvas
from mixlaw.render.pictures.response import MOST, Slices, draw, partial_residuals, toward

pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")


def test_a_panel_per_target_and_domain_with_the_fit_along_the_line(three: FitSet) -> None:
    figure = draw(three)
    assert len(figure.axes) == 6
    axes = figure.axes[1]  # target d0, domain d1
    curve, runs, middle = axes.lines
    x, y = np.asarray(curve.get_xdata(), dtype=float), np.asarray(curve.get_ydata(), dtype=float)
    centre = three.seen.mixtures.mean(axis=0)
    shares = toward(centre, 1, x)
    assert shares.sum(axis=1) == pytest.approx(1)
    assert shares[:, 0] / shares[:, 2] == pytest.approx(centre[0] / centre[2])
    assert y == pytest.approx(three.value("d0", three.inputs(shares, None, None)))
    assert len(runs.get_xdata()) == len(three.seen.runs)
    assert middle.get_xdata()[0] == pytest.approx(centre[1])
    assert figure.axes[0].get_ylabel() == "d0\nbits/byte"
    assert [a.get_xlabel() for a in figure.axes[3:]] == ["d0 share", "d1 share", "d2 share"]


def test_runs_are_off_the_curve_by_their_own_residual(three: FitSet) -> None:
    slices = Slices.of(three, None)
    x, y = partial_residuals(slices, "d0", 2)
    seen = three.seen
    assert x == pytest.approx(seen.mixtures[:, 2])
    curve = three.value("d0", three.inputs(slices.line(2, x), None, None))
    own = three.value("d0", three.inputs(seen.mixtures, None, None))
    assert y / curve == pytest.approx(seen.losses["d0"] / own)


def test_the_centre_may_be_a_proposal(three: FitSet) -> None:
    centre = np.array([0.2, 0.7, 0.1])
    assert "d0 20%, d1 70%, d2 10%" in draw(three, centre=centre).texts[-1].get_text().replace("\n", " ")


def test_of_many_a_few_are_drawn_and_it_is_said_which(many: FitSet) -> None:
    figure = draw(many)
    assert len(figure.axes) == MOST * MOST
    said = figure.texts[-1].get_text().replace("\n", " ")
    assert "6 of 24 domains, those that move the losses most." in said
    assert "6 of 110 targets, those of these domains." in said
    rows = [axes.get_ylabel().split("\n")[0] for axes in figure.axes[::MOST]]
    columns = [axes.get_xlabel().removesuffix(" share") for axes in figure.axes[-MOST:]]
    assert rows == columns


def test_twice_the_same(three: FitSet) -> None:
    assert canvas.svg(draw(three)) == canvas.svg(draw(three))
