"""Choices with known answers: optima, ties, prices, limits, sparsity, risk, and how optima move with scale."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from mixlaw.domains import Domain, Domains
from mixlaw.errors import InfeasibleError, InputError, MissingFactError, UsageError
from mixlaw.fits import FitSet
from mixlaw.mixture import Group, Mixture
from mixlaw.optimize import Objective, Request, Scale, choose, search
from mixlaw.optimize.evidence import nearest
from mixlaw.optimize.search import starts_of
from mixlaw.units import Unit

ABC = ("a", "b", "c")
HERE = Scale(1e9, 2e10)
Make = Callable[..., FitSet]


def exps(make_fits: Make, width: int = 3, **options: object) -> FitSet:
    """Two targets, log-linear in the shares; for width 3 they pull in opposite directions and meet inside."""
    domains = tuple("abcdefghij"[:width])
    rng = np.random.default_rng(3)
    theta = {t: np.concatenate([[-0.5], rng.normal(0, 2, width)]) for t in ("x", "y")}
    if width == 3:
        theta = {"x": np.array([-0.5, -2.0, 1.0, 0.2]), "y": np.array([-0.5, 1.0, -2.0, 0.2])}
    return make_fits("exp", theta, domains, **options)


def capacity_theta(order: list[int], size_order: list[int]) -> np.ndarray:
    worth, use = np.array([-0.3, -2.0, -1.2]), np.array([0.4, -0.4, 1.0])
    return np.concatenate([[0.5, -1.1, -0.9, -0.6], worth[order], use[size_order]])


def test_optimum_beats_every_point_of_a_grid(make_fits: Make) -> None:
    choice = choose(exps(make_fits), Request(HERE))
    grid = np.array([(i, j, 40 - i - j) for i in range(41) for j in range(41 - i)]) / 40
    values = choice.surface.value(grid)
    assert choice.found.optimum.value <= values.min() + 1e-12
    assert np.abs(choice.proposal - grid[values.argmin()]).max() <= 0.025


def test_optimum_moves_with_scale_under_capacity(make_fits: Make) -> None:
    theta = {"x": capacity_theta([0, 1, 2], [2, 0, 1]), "y": capacity_theta([1, 2, 0], [0, 2, 1])}
    fits = make_fits("capacity", theta, ABC)
    small = search(fits, Request(Scale(1e8, 2e9)), {}).optimum.mixture
    large = search(fits, Request(Scale(1e10, 2e11)), {}).optimum.mixture
    assert np.abs(small - large).max() > 0.02


def test_optimum_does_not_move_with_scale_under_additive(make_fits: Make) -> None:
    rng = np.random.default_rng(0)
    theta = {
        t: np.concatenate([[-0.5, 0.3, 0.4, -1.2, -1.2], rng.normal(0, 0.7, 3), rng.uniform(-1.5, -0.3, 3)])
        for t in ("x", "y")
    }
    fits = make_fits("additive", theta, ABC)
    optima = [search(fits, Request(Scale(n, d)), {}).optimum.mixture for n, d in ((1e8, 2e9), (1e10, 2e11))]
    assert optima[0] == pytest.approx(optima[1], abs=1e-7)
    # The scale enters as a constant: gradients by the shares are the same at every N and D.
    surface = search(fits, Request(Scale(1e8, 2e9)), {}).surface
    other = replace(surface, scale=Scale(1e10, 2e11))
    shares = rng.dirichlet(np.ones(3), size=5)
    assert surface.gradient(shares)[1] == pytest.approx(other.gradient(shares)[1], rel=1e-12)


def test_tie_keeps_the_incumbent(make_fits: Make) -> None:
    fits = exps(make_fits, sd=0.5, draws=60)
    best = choose(fits, Request(HERE)).proposal
    near = Mixture.from_vector(ABC, 0.99 * best + 0.01 / 3)
    choice = choose(fits, Request(HERE, incumbent=near))
    assert choice.keep
    assert choice.mixture == pytest.approx(near.vector(ABC), abs=1e-12)
    assert "tie" in [flag.name for flag in choice.flags]


def test_clear_gain_over_the_incumbent_is_no_tie(make_fits: Make) -> None:
    fits = exps(make_fits, sd=0.001, draws=60)
    choice = choose(fits, Request(HERE, incumbent=Mixture({"a": 1.0, "b": 0.0, "c": 0.0})))
    assert not choice.keep
    assert choice.standings["incumbent"].beaten == 1.0
    assert choice.standings["incumbent"].regret[2] < 0


def test_few_draws_cannot_make_sure(make_fits: Make) -> None:
    far = Mixture({"a": 1.0, "b": 0.0, "c": 0.0})
    for draws, sure in ((18, False), (19, True)):
        choice = choose(exps(make_fits, sd=0.001, draws=draws), Request(HERE, incumbent=far))
        found = choice.standings["incumbent"]
        assert (found.beaten, found.scenarios) == (1.0, draws)
        assert found.probability == pytest.approx(1 - 1 / (draws + 1))
        assert (found.tie, choice.keep) == (not sure, not sure)


def test_baselines_outside_the_data_are_flagged_by_name(make_fits: Make) -> None:
    mixtures = np.array([[0.1, 0.4, 0.5], [0.5, 0.3, 0.2], [0.3, 0.3, 0.4]])
    request = Request(HERE, natural=Mixture({"a": 0.9, "b": 0.1}), incumbent=Mixture({"a": 0.5, "b": 0.31, "c": 0.19}))
    choice = choose(exps(make_fits, mixtures=mixtures), request)
    found = [flag.detail for flag in choice.flags if flag.name == "baseline-extrapolates"]
    assert found == ["natural: a 0.900 (data 0.100-0.500), b 0.100 (data 0.300-0.400), c 0.000 (data 0.200-0.500)"]


def test_losses_in_different_units_are_not_added_in_silence(make_fits: Make) -> None:
    fits = exps(make_fits)
    first, *rest = fits.targets
    mixed = replace(fits, units={**fits.units, first: Unit.PERPLEXITY})

    def said(of: FitSet, objective: Objective) -> list[str]:
        flags = choose(of, Request(HERE, objective=objective)).flags
        return [flag.detail for flag in flags if flag.name == "mixed-units"]

    (detail,) = said(mixed, Objective({}))
    assert f"perplexity ({first})" in detail
    assert f"nats/token ({', '.join(rest)}" in detail
    assert said(mixed, Objective({f"loss/{rest[0]}": 1.0})) == said(fits, Objective({})) == []


def test_incumbent_that_breaks_a_constraint_is_not_kept(make_fits: Make) -> None:
    fits = exps(make_fits, sd=0.05, draws=60)
    best = choose(fits, Request(HERE)).proposal
    worst = int(best.argmax())
    request = Request(HERE, incumbent=Mixture.from_vector(ABC, best), maximum={ABC[worst]: float(best[worst]) - 0.01})
    choice = choose(fits, request)
    assert choice.standings["incumbent"].tie
    assert not choice.keep


def test_supply_caps_bind_and_their_worth_is_what_solving_anew_gives(make_fits: Make) -> None:
    fits = exps(make_fits)
    free = choose(fits, Request(HERE)).proposal
    index = int(free.argmax())
    unique = 0.5 * float(free[index]) * 2e10 / 4
    domains = Domains({ABC[index]: Domain(available_tokens=unique, max_epochs=4)})
    choice = choose(fits, Request(HERE, domains=domains))
    assert choice.proposal[index] == pytest.approx(0.5 * free[index], abs=1e-12)
    (price,) = choice.prices
    assert (price.name, price.kind) == (ABC[index], "supply")
    more = Domains({ABC[index]: Domain(available_tokens=unique, max_epochs=5)})
    gain = choice.found.optimum.value - choose(fits, Request(HERE, domains=more)).found.optimum.value
    assert price.buys["one more epoch"] == pytest.approx(gain, abs=1e-10)
    little = Domains({ABC[index]: Domain(available_tokens=unique * (1 + 1e-4), max_epochs=4)})
    rise = choice.found.optimum.value - choose(fits, Request(HERE, domains=little)).found.optimum.value
    assert price.price == pytest.approx(rise / (0.5 * free[index] * 1e-4), rel=1e-2)
    assert choice.epochs[ABC[index]].target == pytest.approx(4)


def test_more_epochs_than_the_proxies_are_flagged(make_fits: Make) -> None:
    fits = exps(make_fits, mixtures=np.array([[0.1, 0.4, 0.5], [0.2, 0.3, 0.5]]))
    domains = Domains({d: Domain(available_tokens=1e10, max_epochs=100) for d in ABC})
    choice = choose(fits, Request(Scale(1e9, 1e12), domains=domains))
    assert "repeats-more" in [flag.name for flag in choice.flags]


def test_limits_hold_and_cost_something(make_fits: Make) -> None:
    fits = exps(make_fits)
    objective = Objective.parse("x=1")
    free = choose(fits, Request(HERE, objective))
    level = float(free.surface.term("loss/y", free.proposal[None])[0]) - 0.05
    bound = choose(fits, Request(HERE, Objective.parse("x=1", limits=[f"loss/y <= {level!r}"])))
    reached = float(bound.surface.term("loss/y", bound.proposal[None])[0])
    assert reached <= level + 1e-9
    assert reached == pytest.approx(level, abs=1e-5)
    assert bound.found.optimum.value > free.found.optimum.value
    assert [price.kind for price in bound.prices] == ["limit"]


def test_limit_that_no_mixture_meets_is_named_with_what_is_missing(make_fits: Make) -> None:
    with pytest.raises(InfeasibleError, match=r"loss/y <= 0.1 \(missed by"):
        choose(exps(make_fits), Request(HERE, Objective.parse("x=1", limits=["loss/y <= 0.1"])))


def test_limit_against_an_incumbent_needs_one(make_fits: Make) -> None:
    with pytest.raises(InputError, match="Pass --incumbent"):
        choose(exps(make_fits), Request(HERE, Objective.parse("x=1", limits=["* <= incumbent + 0.01"])))


def test_fewest_domains_is_the_best_subset(make_fits: Make) -> None:
    fits = exps(make_fits, 6)
    found = search(fits, Request(HERE, max_active=2), {})
    assert (found.optimum.mixture > 0).sum() <= 2
    by_hand = []
    for kept in combinations(fits.domains, 2):
        closed = {d: 0.0 for d in fits.domains if d not in kept}
        by_hand.append(search(fits, Request(HERE, maximum=closed), {}).optimum.value)
    assert found.optimum.value == pytest.approx(min(by_hand), abs=1e-9)


def test_swapping_finds_what_trying_all_finds(make_fits: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    fits = exps(make_fits, 8)
    all_tried = search(fits, Request(HERE, max_active=3), {}).optimum.value
    monkeypatch.setattr("mixlaw.optimize.sparse.ENUMERATED", 0)
    assert search(fits, Request(HERE, max_active=3), {}).optimum.value == pytest.approx(all_tried, abs=1e-9)


def test_more_floors_than_active_domains(make_fits: Make) -> None:
    with pytest.raises(InfeasibleError, match="at most 1 domains"):
        search(exps(make_fits), Request(HERE, max_active=1, minimum={"a": 0.1, "b": 0.1}), {})


def test_kl_goes_from_free_to_reference(make_fits: Make) -> None:
    fits, natural = exps(make_fits), Mixture({"a": 0.5, "b": 0.3, "c": 0.2})
    gaps = [
        np.abs(search(fits, Request(HERE, natural=natural, kl=kl), {}).optimum.mixture - natural.vector(ABC)).max()
        for kl in (0.01, 1.0, 1e4)
    ]
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 1e-3


def test_kl_needs_a_reference(make_fits: Make) -> None:
    with pytest.raises(MissingFactError, match="--reference"):
        search(exps(make_fits), Request(HERE, kl=0.05), {})


def test_kl_holds_domains_that_the_reference_lacks_at_zero(make_fits: Make) -> None:
    request = Request(HERE, natural=Mixture({"a": 0.5, "b": 0.5}), kl=0.05)
    assert search(exps(make_fits), request, {}).optimum.mixture[2] == 0.0


def test_risk_over_members_minimises_the_members(make_fits: Make) -> None:
    fits = exps(make_fits, sd=0.3, draws=40)
    found = search(fits, Request(HERE, risk="0.9"), {})
    point = search(fits, Request(HERE), {})
    assert found.optimum.value < found.function.value(point.optimum.mixture[None])[0]
    centre = search(fits, Request(HERE, risk="mean"), {})
    value, slope = centre.function.gradient(centre.optimum.mixture[None])
    draws = np.mean([fits.draws(t, centre.surface.inputs(centre.optimum.mixture[None])) for t in ("x", "y")], axis=0)
    assert value[0] == pytest.approx(draws.mean())
    assert np.ptp(slope[0][centre.optimum.mixture > 1e-6]) < 1e-4


def test_risk_counts_the_widening_of_intervals(make_fits: Make) -> None:
    fits = exps(make_fits, sd=0.01, draws=200)
    share = np.array([[0.3, 0.3, 0.4]])
    margins = []
    for factor in (1.0, 3.0):
        wide = replace(fits, widen=dict.fromkeys(fits.targets, factor))
        functions = [search(wide, Request(HERE, risk=risk), {}).function for risk in ("0.9", "mean")]
        margins.append(float(functions[0].value(share)[0] - functions[1].value(share)[0]))
    assert margins[1] / margins[0] == pytest.approx(3, rel=0.05)


def test_intervals_of_the_objective_are_widened_like_those_of_losses(make_fits: Make) -> None:
    fits = exps(make_fits, sd=0.01, draws=200)
    wide = replace(fits, widen=dict.fromkeys(fits.targets, 3.0))
    narrow, broad = (choose(given, Request(HERE)).standings["uniform"] for given in (fits, wide))
    assert (broad.high - broad.low) / (narrow.high - narrow.low) == pytest.approx(3, rel=0.05)


@pytest.mark.parametrize("draws", [0, 100])
def test_mean_of_equal_losses_is_as_uncertain_as_each(make_fits: Make, draws: int) -> None:
    theta = np.array([-0.5, -2.0, 1.0, 0.2])
    fits = make_fits("exp", {"x": theta, "y": theta}, ABC, sd=0.05, draws=draws)
    if draws:  # as a bootstrap over runs gives it where two columns of losses are the same
        fits = replace(fits, members={**fits.members, "y": fits.members["x"]})
    one, both = (choose(fits, Request(HERE, Objective.parse(text))).standings["uniform"] for text in ("x=1", "x=1,y=1"))
    assert both.high - both.low == pytest.approx(one.high - one.low, rel=1e-6)


@pytest.mark.parametrize("factor", [1.0, 2.5])
def test_risk_gradient_agrees_with_differences(make_fits: Make, rng: np.random.Generator, factor: float) -> None:
    fits = replace(exps(make_fits, sd=0.3, draws=20), widen={"x": factor, "y": 1.2})
    function = search(fits, Request(HERE, risk="0.9"), {}).function
    share = rng.dirichlet(np.ones(3))
    _, slope = function.gradient(share[None])
    steps = 1e-6 * np.eye(3)
    differences = (function.value(share + steps) - function.value(share - steps)) / 2e-6
    assert slope[0] == pytest.approx(differences, rel=1e-5)


def test_risk_needs_members(make_fits: Make) -> None:
    with pytest.raises(UsageError, match="--bootstrap"):
        search(exps(make_fits), Request(HERE, risk="mean"), {})


def test_groups_hold(make_fits: Make) -> None:
    fits = exps(make_fits)
    free = search(fits, Request(HERE), {}).optimum.mixture
    least = int(free.argmin())
    group = Group("g", (ABC[least],), minimum=float(free[least]) + 0.1)
    held = search(fits, Request(HERE, domains=Domains(groups=(group,))), {}).optimum.mixture
    assert held[least] == pytest.approx(free[least] + 0.1, abs=1e-9)


def test_flat_direction_is_shown_as_flat(make_fits: Make) -> None:
    theta = {"x": np.array([-0.5, 1.0, 1.0, 3.0])}
    choice = choose(make_fits("exp", theta, ABC), Request(HERE))
    assert choice.ranges["a"].low == pytest.approx(0, abs=1e-6)
    assert choice.ranges["a"].high == pytest.approx(1, abs=0.02)
    assert choice.ranges["c"].high < 0.02
    assert "flat" in [flag.name for flag in choice.flags]


def test_every_mixture_at_the_ends_of_a_range_is_within_noise(make_fits: Make) -> None:
    choice = choose(exps(make_fits), Request(HERE))
    for index, name in enumerate(ABC):
        for share in (choice.ranges[name].low, choice.ranges[name].high):
            pinned = Request(HERE, minimum={name: share}, maximum={name: share})
            value = search(choice.fits, pinned, {}).optimum.value
            assert value <= choice.found.optimum.value + choice.noise + 1e-9, (name, index)


def test_best_observed_is_measured_at_the_largest_size(make_fits: Make) -> None:
    mixtures = np.array([[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]])
    losses = {"x": np.array([2.0, 1.5, 1.9]), "y": np.array([2.0, 2.1, 1.9])}
    fits = exps(make_fits, mixtures=mixtures, losses=losses)
    name, baselines = starts_of(fits, Request(HERE), choose(fits, Request(HERE)).surface)
    assert name == "r1"
    assert baselines["best_observed"] == pytest.approx(mixtures[1])


def test_nearest_run_and_usual_distance(make_fits: Make) -> None:
    seen = exps(make_fits, mixtures=np.array([[1.0, 0, 0], [0.8, 0.2, 0], [0.5, 0.5, 0]])).seen
    found = nearest(seen, np.array([0.5, 0.4, 0.1]))
    assert (found.run, found.distance, found.usual) == ("r2", pytest.approx(0.1), pytest.approx(0.3))


def test_trees_have_no_slope(make_fits: Make) -> None:
    fits = exps(make_fits)
    members = {t: tuple(replace(m, fit=replace(m.fit, form="gbm")) for m in ms) for t, ms in fits.members.items()}
    with pytest.raises(UsageError, match="gbm, which is made of steps"):
        search(replace(fits, members=members), Request(HERE), {})


def test_intervals_that_no_held_out_losses_judged_are_flagged(make_fits: Make) -> None:
    fits = exps(make_fits, sd=0.1, draws=60)
    flags = {flag.name: str(flag) for flag in choose(fits, Request(HERE)).flags}
    assert "too few runs could be held out" in flags["not-calibrated"]
    plain = {flag.name: str(flag) for flag in choose(exps(make_fits, sd=0.1), Request(HERE)).flags}
    assert "mixlaw fit --bootstrap 200" in plain["not-calibrated"]
    judged = replace(fits, widen=dict.fromkeys(fits.targets, 1.0))
    assert "not-calibrated" not in [flag.name for flag in choose(judged, Request(HERE)).flags]


def test_a_sure_gain_below_the_scatter_of_one_run_is_flagged(make_fits: Make) -> None:
    fits = exps(make_fits, sd=1e-6, draws=60)
    best = choose(fits, Request(HERE)).proposal
    near = Mixture.from_vector(ABC, 0.995 * best + 0.005 / 3)
    choice = choose(fits, Request(HERE, natural=near))
    assert not choice.standings["natural"].tie
    said = next(str(flag) for flag in choice.flags if flag.name == "small-gain")
    assert "natural by " in said
    assert "uniform" not in said  # its gain is larger than the scatter
