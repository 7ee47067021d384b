"""What the top of the page says to do, for every way that the mixtures can stand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mixlaw.fit import FitOptions
from mixlaw.fitting import Request as FitRequest
from mixlaw.fitting import fit_table
from mixlaw.logs import read_runs
from mixlaw.mixture import Mixture
from mixlaw.optimize import Choice, Request, Scale, choose
from mixlaw.optimize.evidence import Standing
from mixlaw.render.report import Report
from mixlaw.render.report.top import advice, answers

SURE, UNSURE, WORSE = (Standing(1.0, 0.9, 1.1, beaten, scenarios=999) for beaten in (0.99, 0.6, 0.01))


@pytest.fixture(scope="module")
def choice(known_law: Path) -> Choice:
    fits = fit_table(read_runs(known_law), FitRequest(("capacity",), FitOptions(starts=2)))
    natural = Mixture({"web": 0.7, "code": 0.15, "math": 0.05, "books": 0.1})
    return choose(fits, Request(Scale(1e9, 20e9), natural=natural))


def standing(choice: Choice, **found: Standing) -> Choice:
    return replace(choice, standings={**choice.standings, **found})


def test_what_is_beaten_is_said_to_be(choice: Choice) -> None:
    made = standing(choice, natural=SURE, uniform=SURE, best_observed=SURE)
    assert advice(made) == "Train with this mixture: it beats natural, uniform and best observed."


def test_a_tie_is_called_a_tie(choice: Choice) -> None:
    one = standing(choice, natural=SURE, uniform=UNSURE, best_observed=SURE)
    assert advice(one) == (
        "A tie: this mixture cannot be told from uniform; it beats natural and best observed. "
        "If uniform is in use, keep it."
    )
    two = standing(choice, natural=UNSURE, uniform=UNSURE, best_observed=SURE)
    assert advice(two).startswith(
        "A tie: this mixture cannot be told from natural and uniform; it beats best observed."
    )
    assert advice(two).endswith("If one of them is in use, keep it.")


def test_a_mixture_that_is_not_allowed_is_not_beaten(choice: Choice) -> None:
    made = standing(choice, natural=replace(SURE, allowed=False), uniform=SURE, best_observed=SURE)
    assert advice(made) == "Train with this mixture: it beats uniform and best observed."


def test_what_limits_hold_back_is_named(choice: Choice) -> None:
    made = standing(choice, natural=SURE, uniform=SURE, best_observed=replace(WORSE, allowed=False))
    assert advice(made) == (
        "This is the best mixture allowed; it beats natural and uniform. "
        "Better, but held back by limits: best observed."
    )


def test_an_incumbent_in_a_tie_stays(choice: Choice) -> None:
    shares = choice.baselines["uniform"]
    made = replace(choice, keep=True, baselines={**choice.baselines, "incumbent": shares})
    assert advice(standing(made, incumbent=UNSURE)) == "Keep the incumbent: the proposal is a tie with it."
    assert "it is better than the proposal" in advice(standing(made, incumbent=WORSE))


def test_without_evidence_it_says_that_nothing_is_known(choice: Choice) -> None:
    said = answers(Report(choice, no_comparison="no run table was given", no_helpful="no reason"))
    assert "Unknown, nothing was held out: no run table was given." in said
    assert "Which run would help most is not known: no reason" in said
    assert "90 % intervals come from parameter covariances alone" in said
