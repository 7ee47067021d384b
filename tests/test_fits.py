from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mixlaw.errors import InputError
from mixlaw.fit import FitOptions
from mixlaw.fits import FitSet, Member
from mixlaw.fitting import Request, fit_table
from mixlaw.flags import Doubt, Flag
from mixlaw.laws.base import Inputs
from mixlaw.logs import read_runs
from mixlaw.render.fit import doubts


@pytest.fixture(scope="module")
def fits(known_law: Path) -> FitSet:
    return fit_table(read_runs(known_law), Request(("capacity", "chinchilla"), FitOptions(starts=3)))


def test_members_are_averaged_in_logarithms(fits: FitSet) -> None:
    inputs = fits.inputs(fits.seen.mixtures[:5], 1e9, 2e10)
    one, two = (m.fit.predict(inputs) for m in fits.members["web"])
    np.testing.assert_allclose(fits.value("web", inputs), np.sqrt(one * two), rtol=1e-12)


def test_disagreement_of_members_widens_the_interval(fits: FitSet) -> None:
    inputs = fits.inputs(fits.seen.mixtures[:5], 1e9, 2e10)
    alone = replace(fits, members={"code": (Member(fits.members["code"][0].fit),)})
    assert np.all(fits.log_error("code", inputs) > alone.log_error("code", inputs))
    prediction = fits.predict(inputs)["code"]
    assert np.all((prediction.low < prediction.value) & (prediction.value < prediction.high))


def off_simplex(fits: FitSet, shares: np.ndarray) -> Inputs:
    """Inputs for shares that need not sum to 1."""
    return Inputs(fits.domains, shares[None], np.zeros(1, np.intp), np.array([1e9]), np.array([2e10]))


def test_share_gradient_of_the_average_agrees_with_finite_differences(fits: FitSet) -> None:
    shares = fits.seen.mixtures[3]
    value, gradient = fits.value_and_share_gradient("math", fits.inputs(shares[None], 1e9, 2e10))
    for index in range(4):
        step = np.zeros(4)
        step[index] = 1e-6
        moved = [fits.value("math", off_simplex(fits, shares + s)) for s in (step, -step)]
        assert gradient[0, index] == pytest.approx((moved[0] - moved[1])[0] / 2e-6, rel=1e-4, abs=1e-7)
    assert value[0] > 0


def test_a_prediction_without_a_size_is_refused(fits: FitSet) -> None:
    with pytest.raises(InputError, match="--params 7B"):
        fits.inputs(fits.seen.mixtures[:1], None, 1e9)


def test_far_scales_and_far_mixtures_are_flagged(fits: FitSet) -> None:
    corner = np.array([0.0, 0.0, 1.0, 0.0])
    own = {f.doubt for f in fits.fit_flags()}
    assert own == {Doubt.MISFIT}, "the null law does not describe mixtures"
    doubts = {f.doubt for f in fits.flags_at(corner, 7e9, 1e12)}
    assert doubts == own | {Doubt.EXTRAPOLATES_SIZE, Doubt.EXTRAPOLATES_TOKENS, Doubt.EXTRAPOLATES_MIXTURE}
    assert {f.doubt for f in fits.flags_at(fits.seen.mixtures[0], 1e9, 2e10)} == own


def test_a_share_below_half_the_smallest_is_outside(fits: FitSet) -> None:
    low = fits.seen.mixtures.min(axis=0)
    seen = replace(fits.seen, mixtures=np.clip(fits.seen.mixtures, 0.015, None))
    little = np.array([0.3, 0.3, 0.4, 0.0])
    assert low.min() < 0.015
    assert "books 0.000" in replace(fits, seen=seen).outside(little)
    assert "books" not in replace(fits, seen=seen).outside(np.array([0.3, 0.3, 0.39, 0.01]))
    assert "books" not in fits.outside(little)


def test_redundant_directions_of_averaged_laws_are_one_sentence(known_law: Path) -> None:
    fits = fit_table(read_runs(known_law), Request(("chinchilla", "linear", "additive"), FitOptions(starts=2)))
    unseen = {
        "chinchilla": {"web": (("A", "B"),), "code": (("A", "B"), ("E",)), "math": (("A", "E"),)},
        "linear": {"web": (("n", "d"),)},
        "additive": {"books": (("C[web]", "C[code]", "C[math]", "C[books]"),), "web": (("E",),)},
    }

    def blinded(target: str, member: Member) -> Member:
        directions = unseen[member.fit.form].get(target, ())
        shape = replace(member.fit.geometry, redundant=directions)
        flags = (Flag(Doubt.REDUNDANT, " with ".join(directions[0])),) if directions else ()
        return Member(replace(member.fit, geometry=shape, flags=flags), member.weight)

    members = {t: tuple(blinded(t, m) for m in ms) for t, ms in fits.members.items()}
    told = [flag.detail for flag in replace(fits, members=members).fit_flags() if flag.doubt is Doubt.REDUNDANT]
    sentence = "the data do not tell apart A, B of chinchilla (2 of 4 targets), nor some parameters of additive, linear"
    assert told == [sentence]
    (line,) = doubts(replace(fits, members=members))
    assert line.endswith(f"]: {sentence}")


def test_a_missed_largest_size_is_told_by_target_the_worst_first(fits: FitSet) -> None:
    off = {
        "web": ("1.2% too high", "2.1% too high"),
        "code": ("3.4% too low", ""),
        "math": ("", ""),
        "books": ("1.5% too low", ""),
    }

    def missing(member: Member, detail: str) -> Member:
        flags = (Flag(Doubt.MISSES_LARGEST_SIZE, f"{detail} on average over 9 runs"),) if detail else ()
        return Member(replace(member.fit, flags=flags), member.weight)

    members = {t: tuple(map(missing, ms, off[t])) for t, ms in fits.members.items()}
    (flag,) = replace(fits, members=members).fit_flags()
    assert flag.detail == (
        "code 3.4% too low on average over 9 runs, web 2.1% too high on average over 9 runs and 1 more "
        "(the worst law of each)"
    )


def test_a_law_without_size_says_so_at_any_other_size(known_law: Path) -> None:
    table = read_runs(known_law)
    small = fit_table(table.select(table.column("params") == 2e7), Request(("capacity",), FitOptions(starts=2)))
    shares = small.seen.mixtures[0]
    assert Doubt.SIZE_NOT_IN_LAW in {f.doubt for f in small.flags_at(shares, 1e9, 4e8)}
    assert Doubt.SIZE_NOT_IN_LAW not in {f.doubt for f in small.flags_at(shares, 2e7, 4e8)}
