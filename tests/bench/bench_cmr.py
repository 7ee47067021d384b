"""How accurate predict-cmr is under noise: `python tests/bench/bench_cmr.py [--seeds 100]`.

Samples the published curves (sample_runs/cmr/coefficients.csv, shares 1/8, 1/4, 1/3, 1/2) with Gaussian noise on every
reading of general loss, 100 readings a run, and compares each form's critical mixture ratio at 20B tokens with the
published value. Coverage is of the form's own answer without noise and of the published value. Then times the command.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from pathlib import Path

import numpy as np

from mixlaw.cmr import CmrOptions, Names, predict_cmr, read_sizes
from mixlaw.cmr.data import CptRun, SizeData
from mixlaw.cmr.model import FORMS, SizeModel
from mixlaw.logs import read_runs

SAMPLES = Path(__file__).resolve().parents[2] / "sample_runs" / "cmr"
PUBLISHED = {"460M": 29.8, "940M": 34.9, "1.6B": 41.4, "3.1B": 47.8}
SHARES = {"0.125": 1 / 8, "0.25": 1 / 4, "0.333": 1 / 3, "0.5": 1 / 2}
NOISES = (5e-5, 2e-4, 5e-4)
T = np.arange(1.0, 101.0)
INFINITE = float("inf")


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
    own, published = [], []
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
            low, high = 100 * np.quantile(model.turning_share(0.0, INFINITE, draws=True)[1:], [0.05, 0.95])
            own.append(low <= truth <= high)
            published.append(low <= value <= high)
    rmse = {form: float(np.sqrt(np.mean(np.square(e)))) for form, e in errors.items()}
    sys.stdout.write(
        f"noise {noise:g}: RMSE in points "
        + ", ".join(f"{form} {r:.2f}" for form, r in rmse.items())
        + f"; surface/paper {rmse['surface'] / rmse['paper']:.2f}; 90 % interval covers its answer without noise "
        f"{np.mean(own):.1%}, the published value {np.mean(published):.1%}\n"
    )


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


if __name__ == "__main__":
    main()
