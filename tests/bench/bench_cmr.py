"""How accurate predict-cmr is under noise: `python tests/bench/bench_cmr.py [--seeds 100]`.

Samples the published curves (sample_runs/cmr/coefficients.csv, shares 1/8, 1/4, 1/3, 1/2) with Gaussian noise on every
reading of general loss, 100 readings a run, and compares each form's critical mixture ratio at 20B tokens with the
published value. Coverage is of the form's own answer without noise and of the published value. Then curves that the law
cannot follow: how often the interval holds the true share, by the draws alone and as it is widened for the law's shape.
Times the command first.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from mixlaw.cmr import CmrOptions, Names, predict_cmr, read_sizes
from mixlaw.cmr.data import CptRun, SizeData
from mixlaw.cmr.interval import Interval, interval
from mixlaw.cmr.model import FORMS, SizeModel
from mixlaw.logs import read_runs

SAMPLES = Path(__file__).resolve().parents[2] / "sample_runs" / "cmr"
PUBLISHED = {"460M": 29.8, "940M": 34.9, "1.6B": 41.4, "3.1B": 47.8}
SHARES = {"0.125": 1 / 8, "0.25": 1 / 4, "0.333": 1 / 3, "0.5": 1 / 2}
NOISES = (5e-5, 2e-4, 5e-4)
T = np.arange(1.0, 101.0)
INFINITE = float("inf")
AT = np.geomspace(1e-3, 4, 4001)
Curve = Callable[[float, np.ndarray], np.ndarray]


def curves(size: str) -> dict[float, np.ndarray]:
    with (SAMPLES / "coefficients.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["model"] == size and row["domain_share"] in SHARES]
    found = {}
    for row in rows:
        a, p, b, q, c = (float(row[f"gen_{k}"]) for k in "apbqc")
        found[SHARES[row["domain_share"]]] = a * T**p + b * T**q + c
    return found


def data(size: str, noise: float, rng: np.random.Generator) -> SizeData:
    missing = np.full(len(T), np.nan)
    runs = tuple(
        CptRun(f"{share:.3f}", share, 2e8 * T, 2.86 + y + noise * rng.standard_normal(len(T)), missing, missing)
        for share, y in curves(size).items()
    )
    return SizeData(1e9, runs, 2.86, float("nan"))


def measure(noise: float, seeds: int) -> None:
    errors: dict[str, list[float]] = {form: [] for form in FORMS}
    draws_alone, own, published, widths = [], [], [], []
    for index, (size, value) in enumerate(PUBLISHED.items()):
        clean = SizeModel.fit(
            data(size, 0.0, np.random.default_rng(0)), form="surface", draws=0, rng=np.random.default_rng(0)
        )
        truth = 100 * clean.turning_share(0.0, INFINITE)[0]
        for seed in range(seeds):
            rng = np.random.default_rng([seed, index, round(1e6 * noise)])
            model = SizeModel.fit(data(size, noise, rng), form="surface", draws=300, rng=rng)
            for form in FORMS:
                share = np.clip(model.turning_share(0.0, INFINITE, form=form)[0], 0, 1)
                errors[form].append(100 * (share if np.isfinite(share) else 0.0) - value)
            both = intervals(model, 0.0)
            held = [holds(found, np.array([truth, value]) / 100) for found in both]
            widths.append(100 * (both[1].high - both[1].low))
            draws_alone.append(held[0][0])
            own.append(held[1][0])
            published.append(held[1][1])
    rmse = {form: float(np.sqrt(np.mean(np.square(e)))) for form, e in errors.items()}
    sys.stdout.write(
        f"noise {noise:g}: RMSE in points "
        + ", ".join(f"{form} {r:.2f}" for form, r in rmse.items())
        + f"; surface/paper {rmse['surface'] / rmse['paper']:.2f}; 90 % interval covers its answer without noise "
        f"{np.mean(own):.1%} (draws alone {np.mean(draws_alone):.1%}), the published value {np.mean(published):.1%}; "
        f"width {np.median(widths):.2f} points (median), {np.mean(widths):.2f} (mean)\n"
    )


def intervals(model: SizeModel, z: float) -> tuple[Interval, Interval]:
    """The interval of the turning share by the draws alone, and widened."""
    assert model.refitted is not None
    shares, refits = (np.clip(m.turning_share(z, INFINITE, draws=True), 0, 1) for m in (model, model.refitted))
    return interval(shares[0], shares[1:], None), interval(shares[0], shares[1:], refits[1:])


def holds(found: Interval, truth: np.ndarray) -> np.ndarray:
    return (found.low - 1e-9 <= truth) & (truth <= found.high + 1e-9)


def reduced(at: np.ndarray, turn: float, sharp: float, lean: float) -> np.ndarray:
    """The law's own curve above its level at 1."""
    z = np.log(at)
    grown = np.exp(lean * z)
    return sharp * (turn * (grown - 1) / lean + (grown * (1 - lean * z) - 1) / lean**2)


def law(rng: np.random.Generator) -> Curve:
    first, step = rng.uniform(-1.5, -0.9), rng.uniform(2.0, 4.0)
    sharp, lean = rng.uniform(2e-3, 8e-3), rng.uniform(0.35, 0.7)
    return lambda share, at: reduced(at, first + step * (share - 0.125), sharp, lean)


def two_phases(rng: np.random.Generator) -> Curve:
    """A rise that saturates and a steady fall."""
    rise, pace, fall = rng.uniform(0.03, 0.06), rng.uniform(0.08, 0.2), rng.uniform(0.004, 0.01)
    return lambda share, at: rise * share * (1 - np.exp(-at / pace)) - fall * at


def bump(rng: np.random.Generator) -> Curve:
    """The law and a hump or hollow in ln T that grows with the share."""
    own, place, width = law(rng), rng.uniform(-1.5, -0.3), rng.uniform(0.25, 0.5)
    height = rng.uniform(0.1, 0.3) * 5e-3 * rng.choice([-1, 1])
    return lambda share, at: own(share, at) + height * share / 0.3 * np.exp(-(((np.log(at) - place) / width) ** 2) / 2)


def wave(rng: np.random.Generator) -> Curve:
    """The law and a slow wave in ln T, the same at every share."""
    own, height, pace, phase = law(rng), 5e-4 * rng.uniform(0.5, 1.5), rng.uniform(2, 4), rng.uniform(0, 2 * np.pi)
    return lambda share, at: own(share, at) + height * np.sin(pace * np.log(at) + phase)


def lag(rng: np.random.Generator) -> Curve:
    """The law on a clock that starts late."""
    own, late = law(rng), rng.uniform(0.05, 0.3)
    return lambda share, at: own(share + 0.1, at + late)


def misfit(make: Callable[[np.random.Generator], Curve], readings: int, noise: float, seeds: int) -> None:
    """A budget at the true T0 of a share between 0.15 and 0.45; noise in units of the highest rise."""
    held, widths, errors = [], [], []
    for seed in range(seeds):
        rng = np.random.default_rng([seed, readings])
        curve, share = make(rng), float(rng.uniform(0.15, 0.45))
        z = float(np.log(np.clip(AT[np.argmax(curve(share, AT))], 0.05, 1.9)))
        at = np.linspace(1 / readings, 1, readings)
        scale = noise * np.ptp([curve(tested, at) for tested in SHARES.values()])
        missing = np.full(readings, np.nan)
        runs = tuple(
            CptRun(n, s, 2e10 * at, 2.86 + curve(s, at) + scale * rng.standard_normal(readings), missing, missing)
            for n, s in SHARES.items()
        )
        model = SizeModel.fit(SizeData(1e9, runs, 2.86, float("nan")), form="surface", draws=300, rng=rng)
        found = intervals(model, z)
        held.append([bool(holds(one, np.array(share))) for one in found])
        widths.append([100 * (one.high - one.low) for one in found])
        errors.append(100 * abs(float(np.clip(model.turning_share(z, INFINITE)[0], 0, 1)) - share))
    (before, after), (narrow, wide) = np.mean(held, axis=0), np.median(widths, axis=0)
    sys.stdout.write(
        f"{make.__name__:10s} {readings:3d} readings, noise {noise:5.1%}: covered {before:4.0%} -> {after:4.0%}, "
        f"median width {narrow:4.1f} -> {wide:4.1f} points, median error {np.median(errors):.1f}\n"
    )
    sys.stdout.flush()


def timing() -> None:
    names = Names("general", "finance")
    for draws in (0, 500):
        start, cpu = time.perf_counter(), time.process_time()
        sizes = read_sizes(read_runs(SAMPLES / "runs.csv.gz"), names)
        report = predict_cmr(sizes, names, [20e9], options=CmrOptions(draws=draws))
        answers = " ".join(f"{answer.share:.1%}" for answer in report.answers)
        spent = time.perf_counter() - start
        cpu = time.process_time() - cpu
        sys.stdout.write(f"{draws} draws: {spent:.2f} s ({cpu:.2f} s of CPU), answers {answers}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=100)
    arguments = parser.parse_args()
    timing()
    for noise in NOISES:
        measure(noise, arguments.seeds)
    for readings, noise in ((100, 0.002), (100, 0.02), (18, 0.01)):
        for make in (law, two_phases, bump, wave, lag):
            misfit(make, readings, noise, arguments.seeds)


if __name__ == "__main__":
    main()
