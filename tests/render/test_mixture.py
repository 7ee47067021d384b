"""The contract of ``--json``, the mixture file, and the words for people."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from rich.console import Console

from mixlaw import fitfile
from mixlaw.diagnose import Geometry
from mixlaw.domains import Domain, Domains
from mixlaw.errors import InputError
from mixlaw.files import to_json
from mixlaw.fit import Fit, FitOptions, Status
from mixlaw.fits import FitSet, Member, Seen
from mixlaw.mixture import Mixture, Recipe
from mixlaw.optimize import Choice, Objective, Request, Scale, by_scale, choose
from mixlaw.optimize.evidence import Standing
from mixlaw.optimize.pareto import pareto, parse_terms
from mixlaw.render import mixture as render
from mixlaw.render.pareto import front_csv
from mixlaw.units import Unit

DOMAINS = ("web", "code", "math")
CONTRACT = ["mixture", "objective", "predicted", "epochs", "binding", "flags"]


def fit(target: str, theta: list[float]) -> Member:
    vector = np.array(theta)
    draws = vector + 0.01 * np.random.default_rng(0).standard_normal((30, 4))
    one = Fit(target, "exp", DOMAINS, vector, 1e-4 * np.eye(4), Status.CONVERGED, 0.0, 0.0, 9, 3, 1, 1.0, 0.001,
              Geometry(4, 1.0), draws=draws)  # fmt: skip
    return Member(one)


@pytest.fixture
def fits() -> FitSet:
    members = {"web": (fit("web", [0.5, -2.0, 1.0, 0.5]),), "code": (fit("code", [0.3, 0.8, -1.5, 0.2]),)}
    curve = {
        "task": "hellaswag", "chance": 0.25, "source": "test", "items": 10042, "inputs": ["web"], "offset": [1.5],
        "theta": {"sigmoid": [0.9, 0.0, 0.0], "to_one": [1.0, -0.2, 0.0], "exponential": [0.3, -1.2, 0.0]},
        "draws": {"sigmoid": [], "to_one": [], "exponential": []}, "reason": "", "held_out": 0.01, "constant": 0.1,
        "residual": 0.01, "points": 20, "runs": 10, "seen": [0.25, 0.6],
    }  # fmt: skip
    seen = Seen("sha256:x", ("r0", "r1"), np.array([[0.5, 0.3, 0.2], [0.3, 0.4, 0.3]]), np.full(2, 1e8),
                np.full(2, 1e9), {"web": np.array([1.9, 2.0]), "code": np.array([2.0, 1.9])}, 2)  # fmt: skip
    return FitSet(
        members, {"web": Unit.NATS, "code": Unit.NATS}, DOMAINS, seen, FitOptions(), benchmarks={"hellaswag": curve}
    )


@pytest.fixture
def choice(fits: FitSet) -> Choice:
    domains = Domains({"web": Domain(0.5, 4e9, 4), "code": Domain(0.3, 1e9, 4), "math": Domain(0.2)})
    request = Request(Scale(1e9, 2e10), domains=domains, incumbent=Mixture({"web": 0.6, "code": 0.2, "math": 0.2}))
    return choose(fits, request)


def without_draws(fits: FitSet) -> FitSet:
    nothing = np.zeros((0, 0))
    members = {t: tuple(replace(m, fit=replace(m.fit, draws=nothing)) for m in ms) for t, ms in fits.members.items()}
    return replace(fits, members=members)


def text(*tables: object) -> str:
    console = Console(width=160, highlight=False)
    with console.capture() as captured:
        for table in tables:
            console.print(table)
    return captured.get()


def test_json_contract(choice: Choice) -> None:
    data = json.loads(to_json(render.choice_data(choice)))
    assert list(data)[:6] == CONTRACT
    assert set(data["mixture"]) == set(DOMAINS)
    assert sum(data["mixture"].values()) == pytest.approx(1, abs=1e-12)
    for name in ("proposal", "natural", "uniform", "best_observed", "incumbent"):
        entry = data["objective"][name]
        assert entry["low"] < entry["value"] < entry["high"]
    assert set(data["predicted"]) == {"web", "code", "bench/hellaswag"}
    assert all(set(entry) == {"value", "low", "high"} for entry in data["predicted"].values())
    assert data["epochs"]["code"] == pytest.approx(data["mixture"]["code"] * 20)
    assert data["epochs"]["math"] is None
    assert data["binding"][0]["name"] == "code"
    assert set(data["binding"][0]["buys"]) == {"one more epoch", "10B more tokens"}
    assert all(isinstance(flag, str) for flag in data["flags"])


@pytest.mark.parametrize(
    ("share", "number", "shown"),
    [(1.0, 60, "> 98%"), (1.0, 99, "> 99%"), (1.0, 10**6, "> 99%"), (0.0, 60, "< 2%"), (0.0, 999, "< 1%"),
     (0.97, 60, "97%"), (0.5, 3, "50%"), (0.9, 4, "> 80%"), (0.998, 10**6, "> 99%"), (0.995, 200, "> 99%"),
     (0.005, 200, "< 1%")],
)  # fmt: skip
def test_probabilities_are_no_surer_than_their_scenarios(share: float, number: int, shown: str) -> None:
    assert render.probability_text(Standing(1.0, 0.9, 1.1, share, scenarios=number)) == shown


def test_raw_probability_and_number_of_scenarios_are_kept(fits: FitSet) -> None:
    incumbent = Mixture({"web": 0.0, "code": 0.0, "math": 1.0})
    for given, number, source in ((fits, 30, "bootstrap"), (without_draws(fits), 200, "covariances")):
        choice = choose(given, Request(Scale(1e9, 2e10), incumbent=incumbent))
        evidence = render.choice_data(choice)["evidence"]
        assert evidence["against"]["incumbent"]["probability_better"] == 1.0
        assert evidence["against"]["incumbent"]["outside_data"].startswith("web 0.000 (data 0.300-0.500), code")
        assert evidence["against"]["best_observed"]["outside_data"] is None
        assert evidence["scenarios"]["number"] == number
        assert source in evidence["scenarios"]["from"]
        shown = text(render.standing_table(choice))
        assert f"> {96 if number == 30 else 99}%" in shown
        assert "100%" not in shown


def test_unknown_natural_is_null(fits: FitSet) -> None:
    assert render.choice_data(choose(fits, Request(Scale(1e9, 2e10))))["objective"]["natural"] is None


def test_mixture_file_is_a_recipe_with_its_evidence(choice: Choice, tmp_path: Path) -> None:
    path = tmp_path / "mixture.yaml"
    path.write_text(render.mixture_file(choice, []))
    recipe = Recipe.load(path)
    assert recipe.mixture.vector(DOMAINS) == pytest.approx(choice.mixture, abs=1e-15)
    assert (recipe.params, recipe.tokens) == (1e9, 2e10)
    assert {"against", "within_noise", "nearest_run", "binding", "laws"} <= set(recipe.evidence)
    assert list(yaml.safe_load(path.read_text())) == ["mixture", "tokens", "params", "evidence"]


def test_same_seed_same_bytes(fits: FitSet, choice: Choice) -> None:
    assert render.mixture_file(choose(fits, choice.request), []) == render.mixture_file(choice, [])


def test_tables_say_what_the_numbers_are(choice: Choice) -> None:
    shown = text(render.mixture_table(choice), render.standing_table(choice), render.term_table(choice))
    assert "Mixture (token shares) for 1B parameters, 20B tokens" in shown
    assert "Objective: mean of 2 losses, nats/token, lower is better" in shown
    assert "best observed" in shown
    assert "bench/hellaswag" in shown
    assert "not allowed" in shown


def test_remarks_name_what_binds_and_what_loosening_buys(choice: Choice) -> None:
    lines = list(render.remarks(choice))
    assert lines[0].startswith("binds: at most 0.2 of 'code' (4 epochs of 1B tokens): ")
    assert "one more epoch gains" in lines[0]
    assert any(line.startswith("nearest run: r") for line in lines)
    assert sum(line.startswith(("in short: ", "recommended: ")) for line in lines) == 1


def test_a_scale_that_no_law_knows_is_said_in_the_title(fits: FitSet) -> None:
    for scale, said in (
        (Scale(1e9, 2e10), "for 1B parameters, 20B tokens; no law here knows size or tokens"),
        (Scale(1e8, 2e10), "for 100M parameters, 20B tokens; no law here knows tokens"),
        (Scale(1e8, 1e9), "for 100M parameters, 1B tokens"),
    ):
        title = text(render.mixture_table(choose(fits, Request(scale)))).splitlines()[0].rstrip()
        assert title == f"Mixture (token shares) {said}"


def test_without_an_incumbent_what_to_do_is_one_line(fits: FitSet) -> None:
    lines = list(render.remarks(choose(fits, Request(Scale(1e9, 2e10)))))
    (line,) = (line for line in lines if line.startswith("in short: "))
    assert "it beats " in line or "A tie: " in line


def test_a_supply_that_was_not_given_is_said_to_be_unknown(choice: Choice) -> None:
    assert not any(line.startswith("supply: ") for line in render.remarks(choice))
    unknown = replace(choice, epochs=dict.fromkeys(choice.epochs))
    (line,) = (line for line in render.remarks(unknown) if line.startswith("supply: "))
    assert line.endswith("was not looked at; that takes --domains with available_tokens")


def test_accuracies_alone_are_maximised_and_shown_as_they_are(fits: FitSet) -> None:
    choice = choose(fits, Request(Scale(1e9, 2e10), Objective.parse("bench/hellaswag=1")))
    data = render.choice_data(choice)
    best = data["objective"]["proposal"]["value"]
    assert best > data["objective"]["uniform"]["value"] > 0
    assert best == pytest.approx(data["predicted"]["bench/hellaswag"]["value"])
    assert "1 accuracies, higher is better" in text(render.standing_table(choice))


def test_benchmark_that_is_not_predictable_cannot_be_an_objective(fits: FitSet) -> None:
    curve = {**fits.benchmarks["hellaswag"], "reason": "at chance"}
    with pytest.raises(InputError, match=r"not 'hellaswag'. Got at chance"):
        choose(replace(fits, benchmarks={"hellaswag": curve}), Request(Scale(), Objective.parse("bench/hellaswag=1")))


def test_benchmarks_survive_the_fit_file(fits: FitSet) -> None:
    again = fitfile.loads(fitfile.dumps(fits))
    request = Request(Scale(1e9, 2e10), Objective.parse("bench/hellaswag=1,web=1"))
    assert choose(again, request).proposal == pytest.approx(choose(fits, request).proposal, abs=1e-12)


def test_scales_get_a_row_each(fits: FitSet, choice: Choice) -> None:
    found = by_scale(fits, choice.request, [Scale(1e8, 2e9), Scale(1e9, 2e10)])
    shown = text(render.scale_table(choice, found))
    assert "100M, 2B" in shown
    assert len(render.choice_data(choice, found)["evidence"]["by_scale"]) == 2


def test_front_is_monotone(fits: FitSet) -> None:
    front = pareto(fits, Request(Scale(1e9, 2e10)), parse_terms("web,code"))
    assert (np.diff(front.values[:, 0]) >= -1e-9).all()
    assert (np.diff(front.values[:, 1]) <= 1e-9).all()
    rows = front_csv(front).splitlines()
    assert rows[0] == "weight,loss/web,loss/code,mix/web,mix/code,mix/math"
    assert len(rows) == len(front.weights) + 1


def test_sparse_mixture_with_a_penalty_is_written(fits: FitSet) -> None:
    natural = Mixture({"web": 0.7, "code": 0.2, "math": 0.1})
    choice = choose(fits, Request(Scale(1e9, 2e10), natural=natural, kl=0.05, max_active=2))
    content = yaml.safe_load(render.mixture_file(choice, []))
    assert sum(share > 0 for share in content["mixture"].values()) == 2


def test_baseline_that_a_penalty_keeps_out_of_reach_is_called_better(fits: FitSet) -> None:
    best = Mixture.from_vector(DOMAINS, choose(fits, Request(Scale(1e9, 2e10))).proposal)
    natural = Mixture({"web": 0.05, "code": 0.05, "math": 0.9})
    choice = choose(fits, Request(Scale(1e9, 2e10), natural=natural, kl=50.0, incumbent=best))
    assert choice.standings["incumbent"].ahead
    assert choice.keep
    assert "recommended: keep the incumbent; by the objective alone it is better than the proposal" in list(
        render.remarks(choice)
    )
