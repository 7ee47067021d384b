"""The picture of critical mixture ratios, on sampled runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mixlaw import cmr
from mixlaw.logs import IngestOptions, read_runs
from mixlaw.render.pictures import canvas
from mixlaw.render.pictures.cmr import draw

pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")


@pytest.fixture(scope="module")
def report(checkout: Path) -> cmr.Report:
    table = read_runs(checkout / "sample_runs/cmr/runs_noisy.csv.gz", options=IngestOptions(keep_start=True))
    names = cmr.Names("general", "finance")
    sizes = cmr.read_sizes(table, names, params=3.1e9)
    return cmr.predict_cmr(sizes, names, [2e10], options=cmr.CmrOptions(draws=30, curves=True))


def test_what_is_drawn_is_what_was_answered(report: cmr.Report) -> None:
    figure = draw(report)
    general, domain, turning = figure.axes
    (size,) = report.sizes
    assert size.curves is not None
    fitted = [line for line in general.lines if line.get_label().endswith("%")]
    assert [line.get_label() for line in fitted] == [f"{s:.1%}" for s in size.curves.shares]
    assert np.array_equal(fitted[0].get_ydata(), size.curves.general[0])
    assert "finance loss" in domain.get_title(loc="left")
    assert "tokens" in turning.get_xlabel()
    texts = [t.get_text() for t in turning.texts]
    assert any(text.startswith(f"{100 * size.answers[0].share:.1f}%") for text in texts)
    ticks = [label.get_text() for label in general.get_xticklabels()]
    assert "10B" in ticks
    assert "10^" not in "".join(ticks)


def test_the_picture_is_the_same_twice(report: cmr.Report) -> None:
    assert canvas.svg(draw(report)) == canvas.svg(draw(report))
