"""What the top of the page says to do, for every way that the mixtures can stand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mixlaw.allocate.helpful import Helpful
from mixlaw.allocate.manifest import PlannedRun
from mixlaw.allocate.sizes import Size
from mixlaw.fit import FitOptions
from mixlaw.fitting import Request as FitRequest
from mixlaw.fitting import fit_table
from mixlaw.flags import Doubt, Flag
from mixlaw.logs import read_runs
from mixlaw.mixture import Mixture
from mixlaw.optimize import Choice, Request, Scale, choose
from mixlaw.optimize.evidence import Epochs, Standing
from mixlaw.render.advice import advice
from mixlaw.render.report import Report
from mixlaw.render.report.top import answers, helpful_line

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


def test_supply_that_nobody_gave_is_not_said_to_hold_nothing_back(choice: Choice) -> None:
    said = answers(Report(choice, no_comparison="-", no_helpful="-"))
    assert "neither supply nor bounds" not in said
    assert "whether there is enough data was not looked at: that takes --domains with available_tokens of web" in said
    plenty = replace(choice, epochs=dict.fromkeys(choice.epochs, Epochs(0.1, 0.1)))
    assert "neither supply nor bounds hold the mixture back" in answers(Report(plenty, no_comparison="-"))


def test_a_size_beyond_the_step_that_was_tested_is_a_doubt(choice: Choice) -> None:
    assert "No flag on size, tokens or mixture is raised." in answers(Report(choice, no_comparison="-"))
    far = choose(choice.fits, replace(choice.request, scale=Scale(3e9, 20e9)))
    assert "beyond-tested-step: 3B is 7.5 times the largest size" in answers(Report(far, no_comparison="-"))


def test_a_run_that_lowers_no_digit_of_the_regret_is_not_recommended_for_it(choice: Choice) -> None:
    run = PlannedRun("60M-049", Size(60e6, (1e9,)), 0, {"web": 1.0}, "corner")
    for after, said in ((0.001101, "No single run is expected to lower the regret of 0.0011"), (0.0009, "to 9.0e-04")):
        report = Report(choice, no_comparison="-", helpful=Helpful(run, 0.0011, after, False))
        assert said in helpful_line(report)


def test_what_the_verdict_rests_on_is_beside_it(choice: Choice) -> None:
    found = {
        "held_out": "largest size, 400M", "losses": 32, "achieved": 0.95, "widened_by": 1.0, "contrasts": 28,
        "achieved_contrasts": 0.82, "contrasts_widened_by": 1.4,
    }  # fmt: skip
    fits = replace(choice.fits, evidence={**choice.fits.evidence, "calibration": found})
    doubted = replace(choice, fits=fits, flags=(Flag(Doubt.SMALL_GAIN, "natural by 0.002"),))
    said = answers(Report(doubted, no_comparison="-"))
    assert "covered 95% of 32 held-out losses and are left as they are" in said
    assert "covered 82% of 28 held-out differences between mixtures and are widened by 1.40" in said
    assert "small-gain: natural by 0.002" in said
