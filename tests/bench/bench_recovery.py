"""Recovery of known optima: simulate 3 (K + 1) noisy runs, fit, optimise, and look up the true regret.

    python tests/bench/bench_recovery.py [seeds] [processes] [law...]

For each law and K, counts seeds in which the proposal's true regret at the target scale is under 10 % of the gap
between the natural mixture and the true optimum.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mixlaw.fit import FitOptions
from mixlaw.fits import FitSet
from mixlaw.fitting import Request as FitRequest
from mixlaw.fitting import fit_table
from mixlaw.laws import LAWS
from mixlaw.laws.base import Inputs
from mixlaw.mixture import Constraints
from mixlaw.optimize import Objective, Region, Request, Scale, search, solve
from mixlaw.optimize.functions import differences
from mixlaw.runs import RunTable

TARGETS = 3
NOISE = 0.002
SIZES, RATIOS, CHECKPOINTS = (1e8, 2.5e8, 6e8), (20.0, 60.0), (0.4, 0.6, 0.8, 1.0)
TARGET = Scale(3e9, 100e9)


@dataclass(frozen=True)
class Truth:
    """The law that the runs are drawn from: a parameter vector per target."""

    law: str
    domains: tuple[str, ...]
    theta: np.ndarray

    def losses(self, inputs: Inputs) -> np.ndarray:
        return np.array([LAWS[self.law].predict(t, inputs) for t in self.theta])

    def value(self, shares: np.ndarray) -> np.ndarray:
        inputs = Inputs.build(self.domains, shares, TARGET.params, TARGET.tokens)
        return self.losses(inputs).mean(axis=0)

    def gradient(self, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        inputs = Inputs.build(self.domains, shares, TARGET.params, TARGET.tokens)
        slopes = [LAWS[self.law].share_gradient(t, inputs) for t in self.theta]
        return self.value(shares), np.mean(slopes, axis=0)

    def hessian(self, share: np.ndarray) -> np.ndarray:
        return differences(self, share)


def truth(law: str, domains: int, rng: np.random.Generator) -> Truth:
    """Parameters such as fits to the public SlimPajama table have: each target lives on a few domains of its own.

    There the worths of domains scatter by 1 in logarithms and, under ``additive``, exponents lie between 0.4 and 1.0
    and the mixture term of a uniform mixture between 0.3 and 1.1. ``additive-weak`` has smaller effects, so that the
    whole gap between natural and optimal is a few times the noise of one run.
    """
    names = tuple(f"d{i}" for i in range(domains))
    theta = []
    for _ in range(TARGETS):
        worth = rng.normal(0, 1.0, domains)
        if law == "capacity":
            scalars = [np.log(0.8), np.log(0.25), np.log(0.35), np.log(rng.uniform(0.4, 0.7))]
            theta.append([*scalars, *(worth + 1.0), *(0.4 * rng.normal(0, 1, domains) + 1.0)])
        elif law == "additive-weak":
            scalars = [np.log(0.8), np.log(0.5), np.log(0.9), np.log(0.35), np.log(0.35)]
            theta.append([*scalars, *(0.7 * worth + 0.3), *np.log(rng.uniform(0.2, 0.7, domains))])
        else:
            scalars = [np.log(0.8), np.log(0.5), np.log(0.9), np.log(0.35), np.log(0.35)]
            powers = rng.uniform(0.4, 1.0, domains)
            level = np.log(2.0 / np.exp(worth - powers * np.log(domains)).sum())
            theta.append([*scalars, *(worth + level), *np.log(powers)])
    return Truth(law.removesuffix("-weak"), names, np.array(theta))


def runs(true: Truth, rng: np.random.Generator) -> tuple[RunTable, np.ndarray]:
    """3 (K + 1) runs around a natural mixture, and that mixture."""
    width = len(true.domains)
    natural = rng.dirichlet(np.full(width, 1.0))
    strength = np.exp(rng.uniform(np.log(0.5), np.log(5), 3 * (width + 1)))
    mixtures = np.array([rng.dirichlet(s * width * (0.5 * natural + 0.5 / width)) for s in strength])
    rows = []
    for number, mixture in enumerate(mixtures):
        size, ratio = SIZES[number % 3], RATIOS[number // 3 % 2]
        rows += [(f"r{number}", size, size * ratio * part, *mixture) for part in CHECKPOINTS]
    frame = pd.DataFrame(rows, columns=["run", "params", "tokens", *(f"mix/{d}" for d in true.domains)])
    shares = frame[[f"mix/{d}" for d in true.domains]].to_numpy()
    clean = true.losses(Inputs.build(true.domains, shares, frame["params"].to_numpy(), frame["tokens"].to_numpy()))
    for index, losses in enumerate(clean):
        frame[f"loss/t{index}"] = losses * np.exp(NOISE * rng.standard_normal(len(losses)))
    return RunTable.from_frame(frame), natural


def one(task: tuple[str, int, int]) -> float:
    """True regret of the proposal as a share of the gap between natural and optimal."""
    law, domains, seed = task
    rng = np.random.default_rng([seed, domains])
    true = truth(law, domains, rng)
    table, natural = runs(true, rng)
    fits: FitSet = fit_table(table, FitRequest((true.law,), FitOptions(seed=seed)))
    found = search(fits, Request(TARGET, Objective({})), {"natural": natural, "uniform": np.full(domains, 1 / domains)})
    best = solve(true, Region.of(Constraints.free(true.domains)), [natural]).value
    at_natural, at_proposal = true.value(np.vstack([natural, found.optimum.mixture]))
    return float((at_proposal - best) / (at_natural - best))


def main() -> None:
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    processes = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    with ProcessPoolExecutor(processes) as pool:
        for law in sys.argv[3:] or ("capacity", "additive", "additive-weak"):
            for domains in (7, 17):
                shares = list(pool.map(one, [(law, domains, seed) for seed in range(seeds)]))
                good = sum(share < 0.1 for share in shares)
                middle, worst = np.median(shares), np.quantile(shares, 0.95)
                line = f"under 10 % in {good} of {seeds}; median {middle:.1%}, 95 % quantile {worst:.1%}"
                print(f"{law:9s} K={domains:2d}, {3 * (domains + 1)} runs: {line}", flush=True)


if __name__ == "__main__":
    main()
