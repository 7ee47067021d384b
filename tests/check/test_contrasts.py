"""Differences between held-out mixtures: made-up misses whose right factor is known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mixlaw.check.calibrate import calibrate
from mixlaw.check.contrasts import Contrasts, Noise
from mixlaw.fit import FitOptions
from mixlaw.fits import FitSet
from mixlaw.fitting import Request, fit_table
from mixlaw.laws.base import Inputs
from mixlaw.logs import read_runs
from mixlaw.runs import RunTable

SD = 0.01


@dataclass(frozen=True)
class Flat:
    """Fits that predict a loss of 2 everywhere and own up to errors of ``SD``, independent by mixture and target."""

    targets: tuple[str, ...] = ("x", "y")

    def value(self, target: str, inputs: Inputs) -> np.ndarray:
        return np.full(len(inputs), 2.0)

    def contrast_error(self, targets: tuple[str, ...], inputs: Inputs) -> np.ndarray:
        return np.full(len(inputs), SD * np.sqrt((1 - 1 / len(inputs)) / len(targets)))


def held(
    rng: np.random.Generator,
    runs: int,
    *,
    scale: float = 0.0,
    noise: float = 0.0,
    common: float = 0.0,
    tokens: int = 1,
    together: bool = False,
) -> RunTable:
    """One row per run and mixture; losses miss 2 by errors of ``scale`` times ``SD``, run noise, and a common miss.

    With ``together`` the errors are the same for both targets.
    """
    share = rng.uniform(0.1, 0.9, runs)
    length = 1e9 * (1 + np.arange(runs) % tokens)
    frame = pd.DataFrame(
        {"run": [f"r{i}" for i in range(runs)], "tokens": length, "params": 1e8, "mix/a": share, "mix/b": 1 - share}
    )
    error = rng.standard_normal(runs)
    for target in ("x", "y"):
        error = error if together else rng.standard_normal(runs)
        miss = scale * SD * error + noise * rng.standard_normal(runs)
        frame[f"loss/{target}"] = 2 * np.exp(common * length / 1e9 + miss)
    return RunTable.from_frame(frame)


def contrasts(table: RunTable, noise: float = 0.0) -> Contrasts:
    known = Noise(dict.fromkeys(("x", "y"), noise), "made up", True)
    return Contrasts.of(Flat(), table, known)  # type: ignore[arg-type]


def test_the_factor_is_that_of_the_misses(rng: np.random.Generator) -> None:
    assert contrasts(held(rng, 400, scale=3.0)).factor(9.0) == pytest.approx(3.0, rel=0.1)
    assert contrasts(held(rng, 400, scale=0.5)).factor(9.0) == 1.0


def test_a_miss_that_all_mixtures_of_a_scale_share_is_no_contrast(rng: np.random.Generator) -> None:
    alone = contrasts(held(np.random.default_rng(1), 40, scale=2.0, tokens=2))
    shifted = contrasts(held(np.random.default_rng(1), 40, scale=2.0, tokens=2, common=0.3))
    assert shifted.single.measured == pytest.approx(alone.single.measured, abs=1e-12)
    assert shifted.freedom == 38


def test_noise_of_runs_is_no_error_of_the_law(rng: np.random.Generator) -> None:
    table = held(rng, 400, scale=2.0, noise=0.03)
    assert contrasts(table, 0.03).factor(9.0) == pytest.approx(2.0, rel=0.2)
    assert contrasts(table).factor(9.0) > 3.0


def test_noise_that_no_repeats_tell_is_no_excuse_below_the_factor_of_levels(rng: np.random.Generator) -> None:
    table = held(rng, 400, scale=2.0, noise=0.03)
    guessed = replace(contrasts(table, 0.03), repeated=False)
    assert guessed.factor(9.0) == pytest.approx(contrasts(table).factor(9.0))
    assert guessed.factor(2.7) == 2.7
    assert guessed.factor(1.0) == pytest.approx(2.0, rel=0.2)
    assert guessed.achieved == contrasts(table).achieved


def test_covered_counts_the_noise(rng: np.random.Generator) -> None:
    table = held(rng, 400, scale=1.0, noise=0.02)
    assert contrasts(table, 0.02).achieved == pytest.approx(0.9, abs=0.03)
    assert contrasts(table).achieved < 0.65


def test_errors_that_targets_share_count_in_their_mean(rng: np.random.Generator) -> None:
    apart, together = (contrasts(held(rng, 400, scale=2.0, together=how)) for how in (False, True))
    assert apart.factor(1.0) == pytest.approx(2.0, rel=0.1)
    assert together.factor(1.0) == pytest.approx(2.0 * np.sqrt(2), rel=0.1)


def test_a_heavy_tail_of_one_in_twenty_does_not_set_the_factor(rng: np.random.Generator) -> None:
    found = contrasts(held(rng, 400, scale=1.0))
    wild = found.single.measured * np.where(np.arange(800) % 20 == 0, 1e4, 1.0)
    assert replace(found, single=replace(found.single, measured=wild)).factor(1.0) < 1.3


def test_few_contrasts_are_raised_no_further_than_levels(rng: np.random.Generator) -> None:
    few = contrasts(held(rng, 5, scale=2.0))
    plain = few.factor(1.0)
    assert plain > 1
    assert few.factor(9.0) == pytest.approx(plain * 2.1318 / 1.6449, rel=1e-3)
    assert few.factor(1.1 * plain) == pytest.approx(1.1 * plain)


@pytest.mark.parametrize(("runs", "tokens", "enough"), [(4, 1, False), (5, 1, True), (5, 2, False), (6, 2, True)])
def test_fewer_than_five_mixtures_of_a_scale_are_not_judged(runs: int, tokens: int, enough: bool) -> None:
    found = contrasts(held(np.random.default_rng(0), runs, scale=1.0, tokens=tokens))
    assert found.enough is enough


def test_runs_without_a_loss_are_left_out(rng: np.random.Generator) -> None:
    table = held(rng, 12, scale=1.0)
    frame = table.frame.assign(**{"loss/x": np.where(np.arange(12) < 4, np.nan, table.loss("x"))})
    assert len(contrasts(RunTable.from_frame(frame))) == 12 + 8


def only(table: RunTable, *targets: str, scaled: float = 1.0) -> RunTable:
    """The table with some of its losses, those of the largest size scaled."""
    frame = table.frame[[c for c in table.frame if not c.startswith("loss/") or c[5:] in targets]].copy()
    top = frame["params"] == frame["params"].max()
    for target in targets:
        frame[f"loss/{target}"] *= np.where(top, scaled, 1.0)
    return RunTable.from_frame(frame)


@pytest.fixture(scope="module")
def jumped(known_law: Path) -> RunTable:
    """Runs of a known law, but at the largest size all losses are a tenth lower than it says."""
    return only(read_runs(known_law), "web", "code", scaled=0.9)


@pytest.fixture(scope="module")
def fits(jumped: RunTable) -> FitSet:
    return fit_table(jumped, Request(("capacity",), FitOptions(starts=4), bootstrap=30))


def test_a_jump_in_size_widens_levels_and_not_contrasts(fits: FitSet) -> None:
    level, contrast = fits.factors("web")
    assert level > 3 * contrast
    entry = fits.evidence["calibration"]
    assert isinstance(entry, dict)
    assert (entry["widened_by"], entry["contrasts_widened_by"], entry["contrasts"]) == (level, contrast, 16)
    assert entry["noise_from"] == "at most the residuals of the fits: too few repeats"


def test_too_few_held_out_mixtures_take_the_factor_of_levels(jumped: RunTable) -> None:
    frame = jumped.frame.copy()
    repeated = frame[frame["params"] == frame["params"].max()]["run"].unique()[:5]
    for column in [c for c in frame if c.startswith("mix/")]:
        frame.loc[frame["run"].isin(repeated), column] = frame.loc[frame["run"] == repeated[0], column].iloc[0]
    fits = fit_table(RunTable.from_frame(frame), Request(("chinchilla",), FitOptions(starts=3), bootstrap=10))
    level, contrast = fits.factors("web")
    assert level == contrast > 1
    assert fits.evidence["calibration"]["contrasts"] == 0  # type: ignore[index]


def test_noise_is_that_of_repeats_where_there_are_enough(jumped: RunTable, fits: FitSet) -> None:
    assert not Noise.of(jumped, fits).repeated
    last = jumped.last().frame
    again = [last.assign(run=last["run"] + f"-{i}", **{"loss/web": last["loss/web"] * (1 + 0.01 * i)}) for i in (0, 1)]
    noise = Noise.of(RunTable.from_frame(pd.concat(again)), fits)
    assert (noise.source, noise.repeated) == ("96 runs that repeat 48 configurations", True)
    assert noise.relative == pytest.approx({"web": np.log(1.01) / np.sqrt(2), "code": 0.0}, abs=1e-9)
    few = RunTable.from_frame(pd.concat([last, again[1].head(3)]))
    assert not Noise.of(few, fits).repeated


def test_calibration_is_the_same_twice(jumped: RunTable, fits: FitSet) -> None:
    assert calibrate(fits, jumped, {"capacity": 1.0}).factors("code") == fits.factors("code")
