"""The picture of predictions: which laws, which points, and what lies beyond a frame."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mixlaw.check.compare import Comparison, Row
from mixlaw.check.scores import score
from mixlaw.errors import InputError
from mixlaw.fits import FitSet
from mixlaw.mixture import Mixture
from mixlaw.predicting import predict_table
from mixlaw.render.pictures import canvas
from mixlaw.render.pictures.predicted import TARGETS, chosen_laws, draw, draw_intervals, draw_table, in_words
from mixlaw.runs import RunTable
from mixlaw.units import Unit

pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")

MEASURED = {"web": np.array([2.0, 2.1, 2.2, 2.3]), "code": np.array([1.0, 1.1, np.nan, 1.3])}


def row(name: str, factor: float, targets: dict[str, np.ndarray] = MEASURED, **changes: object) -> Row:
    predicted = {t: factor * np.nan_to_num(y, nan=1.2) for t, y in targets.items()}
    scores = {t: score(predicted[t], y) for t, y in targets.items()}
    off = np.full(4, abs(factor - 1))
    return replace(Row(name, scores, next(iter(scores.values())), off, predicted=predicted), **changes)


def comparison(*rows: Row, measured: dict[str, np.ndarray] = MEASURED) -> Comparison:
    units = dict.fromkeys(measured, Unit.NATS)
    return Comparison("largest size, 400M", 4, rows, (), measured=measured, units=units)


def test_auto_leads_and_equal_laws_are_drawn_once() -> None:
    best, same, auto = row("best", 1.001), row("same", 1.001), row("auto", 1.01)
    chooser = row("uniform", 1.0, order_only=True, predicted={})
    shown = chosen_laws(comparison(best, same, auto, row("c", 1.02), row("d", 1.03), chooser))
    assert [r.name for r in shown] == ["auto", "best", "c", "d"]


def test_points_stand_at_measured_and_predicted() -> None:
    figure = draw(comparison(row("capacity", 1.001), row("auto", 1.01)))
    code, web = figure.axes  # both 1 % off: by name
    assert web.get_title(loc="left").split() == ["web", "1.00%"]
    points = {line.get_label(): np.asarray(line.get_xydata()) for line in web.lines}
    assert points["auto"] == pytest.approx(np.column_stack([MEASURED["web"], 1.01 * MEASURED["web"]]))
    low, high = web.get_xlim()
    assert points["exact"] == pytest.approx(np.array([[low, low], [high, high]]))
    assert (low, high) == web.get_ylim()
    assert np.isfinite([*code.get_xlim()]).all()
    assert (web.get_xlabel(), code.get_ylabel()) == ("measured, nats/token", "predicted, nats/token")
    looks = {(line.get_marker(), line.get_color()) for line in web.lines if line.get_label() in ("auto", "capacity")}
    assert len({m for m, _ in looks}) == len({c for _, c in looks}) == 2
    assert [t.get_text() for t in figure.legends[0].get_texts()] == ["auto 1.00%", "capacity 0.10%"]
    assert "auto is 1.00% off on 4 runs" in figure.get_suptitle().replace("\n", " ")


def test_far_predictions_stand_at_the_edge_and_are_counted() -> None:
    figure = draw(comparison(row("auto", 1.001), row("linear", 3.0)))
    web = next(a for a in figure.axes if a.get_title(loc="left").startswith("web"))
    beyond = next(line for line in web.lines if line.get_label() == "_beyond")
    assert set(beyond.get_ydata()) == {web.get_ylim()[1]}
    assert len(beyond.get_xdata()) == 4
    assert web.get_ylim()[1] < 3
    assert "points lie beyond their frames" in figure.texts[-1].get_text().replace("\n", " ")


def test_of_many_targets_a_few_from_best_to_worst() -> None:
    many = {f"t{i:03}": np.array([2.0, 2.1, 2.2, 2.3]) for i in range(110)}
    auto = row("auto", 1.0, many)
    predicted = {t: y * (1 + i / 1000) for i, (t, y) in enumerate(many.items())}
    auto = replace(auto, predicted=predicted, scores={t: score(predicted[t], y) for t, y in many.items()})
    figure = draw(comparison(auto, measured=many))
    titles = [axes.get_title(loc="left").split()[0] for axes in figure.axes]
    assert (len(titles), titles[0], titles[-1]) == (TARGETS, "t000", "t109")
    assert "12 of 110 targets, from the best to the worst predicted by auto." in figure.texts[-1].get_text().replace(
        "\n", " "
    )


def test_nothing_fitted_is_nothing_to_draw() -> None:
    with pytest.raises(InputError, match="a law that could be fitted"):
        draw(comparison(row("uniform", 1.0, order_only=True, predicted={})))


def test_runs_that_the_fit_has_seen_look_different(three: FitSet) -> None:
    seen = three.seen
    old = {"run": list(seen.runs), **{f"mix/{d}": seen.mixtures[:, k] for k, d in enumerate(three.domains)},
           **{f"loss/{t}": seen.losses[t] for t in three.targets}}  # fmt: skip
    new = {"run": ["new", "r0x"], "mix/d0": [0.2, 0.4], "mix/d1": [0.3, 0.4], "mix/d2": [0.5, 0.2],
           "loss/d0": [1.7, 1.6], "loss/d1": [1.6, np.nan]}  # fmt: skip
    table = RunTable.from_frame(pd.concat([pd.DataFrame(old), pd.DataFrame(new)], ignore_index=True))
    result = predict_table(three, table)
    assert result.fitted.tolist() == [True] * len(seen.runs) + [False] * 2
    figure = draw_table(result)
    panel = next(a for a in figure.axes if a.get_title(loc="left").startswith("d0"))
    lines = {line.get_label(): line for line in panel.lines}
    assert (len(lines["not fitted"].get_xdata()), len(lines["fitted"].get_xdata())) == (2, len(seen.runs))
    assert lines["not fitted"].get_marker() != lines["fitted"].get_marker()
    assert lines["not fitted"].get_color() != lines["fitted"].get_color()
    assert list(lines["not fitted"].get_ydata()) == pytest.approx(result.frame["pred/d0"].to_numpy()[-2:])
    bars = panel.collections[-1].get_segments()
    assert {"d0", "d1"} == {a.get_title(loc="left").split()[0] for a in figure.axes}
    assert len(bars) in (2, len(seen.runs))
    assert [t.get_text() for t in figure.legends[0].get_texts()] == ["not fitted", "fitted"]
    assert "26 runs, 2 of them not fitted" in figure.get_suptitle().replace("\n", " ")


def test_a_run_of_the_same_name_at_another_mixture_is_new(three: FitSet) -> None:
    frame = pd.DataFrame({"run": ["r0"], "mix/d0": [0.2], "mix/d1": [0.3], "mix/d2": [0.5], "loss/d0": [1.7]})
    result = predict_table(three, RunTable.from_frame(frame, units={"d0": Unit.BITS_PER_BYTE}))
    assert result.fitted.tolist() == [False]
    assert "1 runs that the fit has not seen" in draw_table(result).get_suptitle().replace("\n", " ")


def test_without_losses_there_is_nothing_to_compare(three: FitSet) -> None:
    frame = pd.DataFrame({"run": ["x"], "mix/d0": [0.2], "mix/d1": [0.3], "mix/d2": [0.5]})
    with pytest.raises(InputError, match="measured losses of the fit's targets"):
        draw_table(predict_table(three, RunTable.from_frame(frame)))


def test_one_mixture_is_a_line_per_target(three: FitSet) -> None:
    predictions = three.predict(three.inputs(np.array([[0.2, 0.3, 0.5]]), None, None))
    figure = draw_intervals(predictions, three.units, in_words(Mixture({"d0": 0.2, "d1": 0.8}), 7e9, 1.5e11))
    (axes,) = figure.axes
    assert [t.get_text() for t in axes.get_yticklabels()] == ["d0", "d1"]
    assert axes.get_xlabel() == "predicted loss, bits/byte"
    bar, value, *_ = axes.lines
    first = predictions["d0"]
    assert list(bar.get_xdata()) == [first.low[0], first.high[0]]
    assert list(value.get_xdata()) == [first.value[0]]
    assert "7B parameters, 150B tokens; d1 80%, d0 20%" in figure.get_suptitle().replace("\n", " ")
    assert canvas.svg(figure).count("<text") > 4
