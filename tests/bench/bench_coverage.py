"""Do nominal 90 % intervals hold 90 % of the time, four times beyond the largest size?

    python tests/bench/bench_coverage.py [--seeds 100] [--law capacity] [--bootstrap 100]

Each seed draws 40 runs at three sizes from a known ``capacity`` law with run-level noise (0.3 % seed effects that all
checkpoints of a run share, 0.05 % reading errors), fits, bootstraps, calibrates, and looks whether the true loss (and
the loss of one more run, noise included) at four times the largest size lies inside the interval, for 10 mixtures that
were not in the data and every target.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pandas as pd

from mixlaw.fit import FitOptions
from mixlaw.fitting import Request, fit_table
from mixlaw.laws import LAWS
from mixlaw.laws.base import Inputs
from mixlaw.runs import RunTable

DOMAINS = ("web", "code", "math", "books")
SIZES = ((5e7, 18), (1.5e8, 13), (4.5e8, 9))
SEED_NOISE, READING_NOISE = 3e-3, 5e-4
CHECKPOINTS = 8


def truths(rng: np.random.Generator) -> np.ndarray:
    """Log parameters of three targets, shape (3, 12), drawn afresh for every seed."""
    scalars = np.log(
        [rng.uniform(0.4, 1.2, 3), rng.uniform(0.2, 0.4, 3), rng.uniform(0.2, 0.4, 3), rng.uniform(0.4, 0.9, 3)]
    )
    worth = rng.normal(-1.0, 1.0, (3, 4))
    use = rng.normal(1.8, 0.5, (3, 4))
    return np.column_stack([scalars.T, worth, use])


def simulate(seed: int) -> tuple[RunTable, np.ndarray, np.random.Generator]:
    """A run table, the truth behind it, and the generator in the state after drawing both."""
    rng = np.random.default_rng(seed)
    truth, rows = truths(rng), []
    for params, count in SIZES:
        for number, mixture in enumerate(rng.dirichlet(np.full(4, 1.5), count)):
            mixture = (mixture + 0.01) / 1.04
            tokens = 20 * params * np.arange(1, CHECKPOINTS + 1) / CHECKPOINTS
            loss = LAWS["capacity"].predict(
                truth, Inputs.build(DOMAINS, np.tile(mixture, (CHECKPOINTS, 1)), params, tokens)
            )
            noise = SEED_NOISE * rng.standard_normal((3, 1)) + READING_NOISE * rng.standard_normal(loss.shape)
            frame = {"run": f"{params:.0f}-{number}", "tokens": tokens, "params": params}
            frame |= {f"mix/{d}": mixture[i] for i, d in enumerate(DOMAINS)}
            frame |= {f"loss/{name}": row for name, row in zip("xyz", loss * np.exp(noise), strict=True)}
            rows.append(pd.DataFrame(frame))
    return RunTable.from_frame(pd.concat(rows)), truth, rng


def one(seed: int, law: str, draws: int) -> tuple[float, float, float, float]:
    """Shares of true and of noisy losses covered, mean half-width and mean error, for one seed."""
    table, truth, rng = simulate(seed)
    fits = fit_table(table, Request((law,), FitOptions(starts=6, seed=seed), draws))
    shares = (rng.dirichlet(np.full(4, 1.5), 10) + 0.01) / 1.04
    inputs = fits.inputs(shares, 4 * SIZES[-1][0], 80 * SIZES[-1][0])
    true = LAWS["capacity"].predict(truth, inputs)
    noisy = true * np.exp(SEED_NOISE * rng.standard_normal(true.shape))
    predicted = list(fits.predict(inputs).values())
    low, high = np.array([p.low for p in predicted]), np.array([p.high for p in predicted])
    value = np.array([p.value for p in predicted])
    inside = [float(np.mean((low <= y) & (y <= high))) for y in (true, noisy)]
    return inside[0], inside[1], float(np.mean(np.log(high / low) / 2)), float(np.mean(np.abs(np.log(value / true))))


def main() -> None:
    """Run all seeds and print the coverage with its standard error over seeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--law", default="capacity")
    parser.add_argument("--bootstrap", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    with ProcessPoolExecutor(asked.jobs) as pool:
        jobs = [range(asked.seeds), [asked.law] * asked.seeds, [asked.bootstrap] * asked.seeds]
        results = np.array(list(pool.map(one, *jobs)))
    mean, error = results.mean(axis=0), results.std(axis=0, ddof=1) / np.sqrt(len(results))
    for name, m, e in zip(
        ("true losses covered", "noisy losses covered", "half-width", "error"), mean, error, strict=True
    ):
        print(f"{name:22s} {100 * m:6.2f} % ± {100 * e:.2f}")


if __name__ == "__main__":
    main()
