"""Fits and comparisons as people read them: hand-made good and bad results against golden text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from mixlaw.check.compare import Comparison, Row
from mixlaw.check.noise import SeedNoise
from mixlaw.check.scores import Scores, score
from mixlaw.diagnose import Geometry
from mixlaw.fit import Fit, Status
from mixlaw.fits import FitSet, Member, Seen
from mixlaw.flags import Doubt, Flag
from mixlaw.render import compare as render_compare
from mixlaw.render import fit as render_fit
from mixlaw.units import Unit

GOLDEN = Path(__file__).resolve().parent.parent / "golden"


def text_of(*parts: object) -> str:
    console = Console(width=100, highlight=False, color_system=None)
    with console.capture() as captured:
        for part in parts:
            console.print(part)
    return "\n".join(line.rstrip() for line in captured.get().splitlines()) + "\n"


def one_fit(target: str, **changes: object) -> Fit:
    fit = Fit(
        target=target, form="chinchilla", domains=("web", "code"), theta=np.log([1.7, 1.2, 0.8, 0.34, 0.28]),
        covariance=np.diag([1e-4, 4e-4, 4e-4, 1e-2, 1e-2]), status=Status.CONVERGED, objective=0.0123, gradient=1e-9,
        points=48, runs=12, starts=12, agreeing=0.75, residual=0.0012, geometry=Geometry(5, 41.0),
    )  # fmt: skip
    return replace(fit, **changes)


@pytest.fixture
def fits() -> FitSet:
    few = Flag(Doubt.TOO_FEW_RUNS, "5 runs for 2 domains, 3 (K + 1) = 9")
    bad = one_fit(
        "code", status=Status.NOT_CONVERGED, agreeing=0.08, runs=5, geometry=Geometry(4, float("inf"), at_bound=("b",)),
        flags=(Flag(Doubt.AT_BOUND, "b"), few),
    )  # fmt: skip
    seen = Seen(
        "sha256:0", ("r1", "r2"), np.eye(2), np.full(2, 1e8), np.full(2, 1e9), {}, 96, {"first 25% of a run": 24}
    )
    evidence = {
        "choice": {
            "held_out": "largest size, 400M",
            "errors": {"exp": 0.2, "chinchilla": 0.01},
            "weights": {"chinchilla": 1.0},
        },
        "calibration": {"held_out": "largest size, 400M", "losses": 32, "achieved": 0.81, "widened_by": 1.3},
    }
    members = {"web": (Member(one_fit("web"), 0.7), Member(one_fit("web", agreeing=0.5), 0.3)), "code": (Member(bad),)}
    return FitSet(members, {"web": Unit.NATS, "code": Unit.NATS}, ("web", "code"), seen, evidence=evidence)


def test_a_fit(fits: FitSet) -> None:
    lines = [render_fit.data_line(fits), *render_fit.choice_lines(fits), *render_fit.doubts(fits)]
    shown = text_of(render_fit.fit_table(fits), render_fit.parameter_table(fits)) + "\n".join(lines) + "\n"
    assert shown == (GOLDEN / "fit.txt").read_text()


def test_a_flag_of_several_laws_names_a_target_once(fits: FitSet) -> None:
    alone = (Flag(Doubt.SINGLE_SCALE),)
    members = {"web": tuple(Member(one_fit("web", flags=alone), 0.5) for _ in range(3))}
    (line,) = render_fit.doubts(replace(fits, members=members))
    assert line.endswith("]: web")


@pytest.mark.parametrize(
    ("extra", "end"),
    [
        ({}, "widened by 1.30"),
        (
            {"contrasts": 30, "achieved_contrasts": 0.9, "contrasts_widened_by": 1.06},
            "widened by 1.30; intervals of differences between mixtures covered 90% of 30, widened by 1.06",
        ),
        (
            {"contrasts": 0, "contrasts_widened_by": 1.3},
            "widened by 1.30; differences between mixtures too, for too few mixtures of one scale were held out",
        ),
    ],
)
def test_one_sentence_for_levels_and_differences(fits: FitSet, extra: dict[str, float], end: str) -> None:
    entry = fits.evidence["calibration"]
    assert isinstance(entry, dict)
    line = render_fit.choice_lines(replace(fits, evidence={"calibration": entry | extra}))[0]
    assert line == f"90% intervals covered 81% of 32 losses of largest size, 400M, fitted without them; {end}"


def row(name: str, predicted: list[float], measured: list[float], **changes: object) -> Row:
    p, y = np.array(predicted), np.array(measured)
    one = score(p, y)
    return replace(Row(name, {"web": one, "code": one}, one, np.abs(p / y - 1), parameters=5, seconds=1.25), **changes)


def test_a_comparison() -> None:
    y = [2.0, 2.1, 2.2, 2.3]
    none = Scores(0, *[float("nan")] * 5)
    result = Comparison(
        "largest size, 400M",
        4,
        (
            row("auto", [2.01, 2.11, 2.19, 2.31], y),
            row("capacity", [2.02, 2.11, 2.19, 2.30], y),
            row("chinchilla", [2.5, 2.5, 2.5, 2.5], y),
            row("uniform", [0.3, 0.1, 0.2, 0.4], y, order_only=True, parameters=0, seconds=0.0),
            Row(
                "bimix",
                {"web": none, "code": none},
                none,
                np.full(4, np.nan),
                lacks="Expected losses on domains. Got none.",
            ),
        ),
        (),
        SeedNoise(2, 5, {"web": 0.004, "code": 0.006}, 0.0071),
    )
    parts = [render_compare.comparison_table(result), render_compare.target_table(result)]
    shown = text_of(*parts) + "\n".join(render_compare.verdict(result)) + "\n"
    assert shown == (GOLDEN / "compare.txt").read_text()
