"""The tables of predict-cmr on hand-made good and bad results, against golden text."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from rich.console import Console

from mixlaw.cmr import Answer, CmrOptions, Names, Report, SizeData, SizeReport
from mixlaw.cmr.data import CptRun
from mixlaw.cmr.flags import Doubt, Flag
from mixlaw.cmr.forgetting import ShareAnswer
from mixlaw.cmr.model import CmrLaw
from mixlaw.cmr.result import NextRun, ShareRow
from mixlaw.render import cmr as render

NAN = float("nan")
INF = float("inf")


def answer(**others) -> Answer:
    good = {
        "params": 4.6e8, "label": "460M", "tokens": 2e10, "share": 0.2977, "low": 0.281, "high": 0.3149,
        "binding": "turning", "turning_share": 0.2977, "tolerance_share": 0.75, "extrapolated": NAN,
        "peaks": {0.25: 1.6e10, 0.5: 4.7e10}, "by_weight": {100.0: 0.337, INF: 0.2977},
        "by_form": {"surface": 0.2977, "reduced": 0.295, "paper": 0.3141}, "interpolated": 0.2988,
        "law": CmrLaw(0.22, 0.27, -0.48),
        "flags": (Flag(Doubt.TOLERANCE_IDLE), Flag(Doubt.T0_BEYOND_2X, "share 0.5")), "increment": 0.00925,
        "domain_loss": 1.5463, "domain_error": 0.0078, "back": 1.3e11,
        "forgetting": ShareAnswer(0.976, 0.006), "crossing": ShareAnswer(NAN, 1e-4, "above base at every share"),
        "next_run": NextRun(0.3, 2e10, 0.017, 0.012), "advice": "At 20B tokens use at most 29.8% finance.",
    }  # fmt: skip
    return Answer(**{**good, **others})


def bad() -> Answer:
    return answer(
        params=NAN, label="the model", tokens=6e10, share=NAN, low=NAN, high=NAN, binding="none", turning_share=NAN,
        tolerance_share=0.12, peaks={0.25: NAN}, by_weight={INF: 0.0}, by_form={"surface": 0.0},
        interpolated=NAN, law=None,
        flags=(Flag(Doubt.TOKENS_BEYOND_2X, "60B against 20B"),), increment=NAN, domain_loss=NAN, domain_error=NAN,
        back=NAN, forgetting=ShareAnswer(NAN, NAN, "too few shares"), crossing=ShareAnswer(0.1, 1e-4), next_run=None,
        advice="No answer at 60B tokens.",
    )  # fmt: skip


def runs() -> tuple[CptRun, ...]:
    t = np.linspace(1e9, 2e10, 10)
    return tuple(CptRun(f"r{s}", s, t, 2.86 + s * t / 1e12, 2.0 - t / 1e11, np.full(10, NAN)) for s in (0.25, 0.5))


def report() -> Report:
    rows = (
        ShareRow(0.25, 1, 1e9, 2e10, 1.6e10, 0.0078, 0.0077, -0.3629, 3.4e10),
        ShareRow(0.5, 3, 1e9, 2e10, 4.7e10, 0.0171, 0.0171, NAN, NAN),
        ShareRow(0.75, 1, 1e9, 2e10, 3e8, -0.001, -0.02, -0.41, 1e11),
        ShareRow(0.9, 1, 1e9, 2e10, NAN, 0.03, 0.03, -0.43, NAN),
    )
    first = SizeReport(SizeData(4.6e8, runs(), 2.86, 2.0, ("run x: left out",)), rows, 2e-4, "draws", (answer(),))
    second = SizeReport(SizeData(NAN, runs()[:1], 2.86, NAN), (), 3e-4, "draws", (bad(),))
    return Report(Names("general", "finance"), CmrOptions(), (first, second), "2 model sizes, each on its own.")


def text(parts) -> str:
    console = Console(width=100, highlight=False)
    with console.capture() as captured:
        for part in parts:
            console.print(part)
    return "\n".join(line.rstrip() for line in captured.get().splitlines()) + "\n"


def test_tables_and_recommendations_are_the_golden_text(checkout: Path) -> None:
    golden = checkout / "tests/golden/predict_cmr.txt"
    shown = text([*render.tables(report()), *render.recommendations(report())])
    if os.environ.get("MIXLAW_GOLDEN"):
        golden.write_text(shown, encoding="utf-8")
    assert shown == golden.read_text(encoding="utf-8")


def test_shares_beyond_those_tested_are_bounds() -> None:
    good = answer()  # tested 25 to 50 %
    shown = {s: render.bounded(s, good) for s in (0.0, 0.2499, 0.25, 0.4, 0.5, 0.51, 1.0)}
    assert shown == {0.0: "≤ 25.0%", 0.2499: "≤ 25.0%", 0.25: "25.0%", 0.4: "40.0%", 0.5: "50.0%", 0.51: "≥ 50.0%",
                     1.0: "≥ 50.0%"}  # fmt: skip
    assert render.bounded(NAN, good) == "-"
    far = answer(by_weight={100.0: 0.62, INF: 0.2977}, by_form={"surface": 0.2977, "reduced": 0.11, "paper": NAN})
    size = SizeReport(SizeData(4.6e8, runs(), 2.86, 2.0), (), 2e-4, "draws", (far,))
    row = text([render.sensitivity_table(Report(Names("general", "finance"), CmrOptions(), (size,), ""))]).split()
    assert " ".join(row).endswith("460M 20B ≥ 50.0% 29.8% ≤ 25.0% - 29.9%")


def test_budgets_without_an_answer_are_named_where_others_have_one() -> None:
    assert render.unanswered(report()) == ["no answer for the model at 60B: see its recommendation"]
    first, second = report().sizes
    names = Names("general", "finance")
    assert render.unanswered(Report(names, CmrOptions(), (first,), "")) == []
    assert render.unanswered(Report(names, CmrOptions(), (second,), "")) == []  # then the command fails


def test_flags_are_listed_once_with_where_they_hold() -> None:
    assert render.doubts(report()) == [
        f"tolerance-idle (460M): {Doubt.TOLERANCE_IDLE.value}",
        f"t0-beyond-2x (460M: share 0.5): {Doubt.T0_BEYOND_2X.value}",
        f"tokens-beyond-2x (the model: 60B against 20B): {Doubt.TOKENS_BEYOND_2X.value}",
    ]


def test_notes_and_basis() -> None:
    assert render.notes(report()) == ["460M: run x: left out"]
    assert render.basis_line(report()) == (
        "form surface; 460M 2 runs, 20 readings, noise 2.0e-04 nats; "
        "the model 1 runs, 10 readings, noise 3.0e-04 nats; interval: draws"
    )


def test_the_contract_of_json() -> None:
    found = answer().to_mapping()
    assert {k: found[k] for k in ("params", "tokens", "cmr", "low", "high", "binding", "tolerance_share", "t0")} == {
        "params": 4.6e8, "tokens": 2e10, "cmr": 0.2977, "low": 0.281, "high": 0.3149, "binding": "turning",
        "tolerance_share": 0.75, "t0": {"0.25": 1.6e10, "0.5": 4.7e10},
    }  # fmt: skip
    assert found["flags"] == ["tolerance-idle", "t0-beyond-2x"]
    assert report().to_mapping()["answers"][0] == found
