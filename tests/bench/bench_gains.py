"""Do the 90 % intervals of differences between mixtures hold, and are ties and winners called rightly?

    python tests/bench/bench_gains.py [--truth capacity|additive|skills] [--law capacity] [--seeds 50] [--repeats]
    python tests/bench/bench_gains.py --public [--law auto] [--table RUNS]

Simulations: each seed draws 40 runs at three sizes from a truth (run-level noise as in ``bench_coverage.py``), fits,
proposes a mixture for four times the largest size, and looks up the true gain of the proposal over the natural and the
uniform mixture. ``skills`` is no law of this house: every target is a sum of skills, each with powers of its own, and
each is learned from its own domain's tokens. With ``--public`` the largest size of a table (the public SlimPajama
table: 937M) is held out and the measured difference of every pair of its runs is compared with its interval, run noise
added where repeats in the rest of the table tell it.

Each is scored three times on the same fit: as the draws give it (none), with all deviations widened by the factor of
levels (levels), and with contrasts widened by their own factor (contrasts, what the tool does).
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from bench_coverage import CHECKPOINTS, DOMAINS, READING_NOISE, SEED_NOISE, SIZES, truths
from bench_recovery import truth as recovery_truth

from mixlaw.benchmark import loss_scenarios
from mixlaw.check.holdout import splits
from mixlaw.check.noise import seed_noise
from mixlaw.fit import FitOptions
from mixlaw.fits import FitSet
from mixlaw.fitting import Request as FitRequest
from mixlaw.fitting import fit_table
from mixlaw.laws import LAWS
from mixlaw.laws.base import Inputs
from mixlaw.logs import read_runs
from mixlaw.optimize import Objective, Request, Scale, search
from mixlaw.optimize.evidence import standings
from mixlaw.runs import RunTable

HERE = Path(__file__).resolve()
PUBLIC = HERE.parents[3] / "shared" / "data" / "apple_dmsl" / "dmsl_llm_slimpajama.csv"
TARGET = Scale(4 * SIZES[-1][0], 80 * SIZES[-1][0])
REPEATED = 5


def losses(kind: str, theta: np.ndarray, inputs: Inputs) -> np.ndarray:
    """True losses of three targets, shape (3, n)."""
    if kind != "skills":
        return np.array([LAWS[kind].predict(t, inputs) for t in theta])
    floor, weight, by_size, by_data = theta[:, :1], theta[:, 1:5], theta[:, 5:9], theta[:, 9:13]
    own = inputs.tokens[:, None] / 1e9 * (inputs.shares + 0.01)
    size = (inputs.params / 1e8)[:, None] ** -by_size[:, None]
    return floor + np.einsum("tk,tnk->tn", weight, size + own ** -by_data[:, None])


def parameters(kind: str, rng: np.random.Generator) -> np.ndarray:
    """Parameters of three targets."""
    if kind == "capacity":
        return truths(rng)
    if kind == "additive":
        return recovery_truth("additive", len(DOMAINS), rng).theta
    weight = rng.dirichlet(np.ones(4), 3)
    return np.column_stack(
        [rng.uniform(0.8, 1.6, 3), weight, rng.uniform(0.2, 0.4, (3, 4)), rng.uniform(0.15, 0.4, (3, 4))]
    )


def simulate(kind: str, theta: np.ndarray, rng: np.random.Generator, *, repeats: bool) -> RunTable:
    """40 runs at three sizes; with ``repeats`` five of the smallest size repeat the mixtures of five others."""
    rows = []
    for params, count in SIZES:
        mixtures = (rng.dirichlet(np.full(4, 1.5), count) + 0.01) / 1.04
        if repeats and params == SIZES[0][0]:
            mixtures[-REPEATED:] = mixtures[:REPEATED]
        for number, mixture in enumerate(mixtures):
            tokens = 20 * params * np.arange(1, CHECKPOINTS + 1) / CHECKPOINTS
            loss = losses(kind, theta, Inputs.build(DOMAINS, np.tile(mixture, (CHECKPOINTS, 1)), params, tokens))
            noise = SEED_NOISE * rng.standard_normal((3, 1)) + READING_NOISE * rng.standard_normal(loss.shape)
            frame = {"run": f"{params:.0f}-{number}", "tokens": tokens, "params": params}
            frame |= {f"mix/{d}": mixture[i] for i, d in enumerate(DOMAINS)}
            frame |= {f"loss/{name}": row for name, row in zip("xyz", loss * np.exp(noise), strict=True)}
            rows.append(pd.DataFrame(frame))
    return RunTable.from_frame(pd.concat(rows))


def variants(fits: FitSet) -> dict[str, FitSet]:
    """The same fit with differences between mixtures not widened, widened like levels, and by their own factor."""
    return {
        "none": replace(fits, widen={}, widen_contrast={}),
        "levels": replace(fits, widen_contrast={}),
        "contrasts": fits,
    }


def one(task: tuple[str, str, int, int, bool]) -> tuple[list[dict[str, object]], tuple[float, float]]:
    """True gain, interval and verdict for each variant and baseline; and the two factors."""
    kind, law, seed, draws, repeats = task
    rng = np.random.default_rng([seed, 5])
    theta = parameters(kind, rng)
    table = simulate(kind, theta, rng, repeats=repeats)
    fits = fit_table(table, FitRequest((law,), FitOptions(starts=6, seed=seed), draws))
    baselines = {"natural": rng.dirichlet(np.full(4, 2.0)), "uniform": np.full(4, 0.25)}
    found = search(fits, Request(TARGET, Objective({})), baselines)
    proposal = found.optimum.mixture
    shares = np.vstack([proposal, *baselines.values()])
    true = losses(kind, theta, Inputs.build(DOMAINS, shares, TARGET.params, TARGET.tokens)).mean(axis=0)
    noise = SEED_NOISE * true[0] / np.sqrt(3)
    out = []
    for name, given in variants(fits).items():
        judged = standings(replace(found.surface, fits=given), proposal, baselines)
        for index, baseline in enumerate(baselines, start=1):
            s, gain = judged[baseline], float(true[index] - true[0])
            out.append(
                {
                    "variant": name, "baseline": baseline, "gain": gain, "clear": abs(gain) > noise,
                    "covered": -s.regret[2] <= gain <= -s.regret[0], "width": s.regret[2] - s.regret[0], "tie": s.tie,
                    "beaten": not s.tie and not s.ahead, "wrong": not s.tie and (gain < 0) != s.ahead,
                }
            )  # fmt: skip
    return out, fits.factors("x")


def simulations(asked: argparse.Namespace) -> None:
    """Print coverage and verdicts of the simulated projects."""
    tasks = [(asked.truth, asked.law, seed, asked.bootstrap, asked.repeats) for seed in range(asked.seeds)]
    with ProcessPoolExecutor(asked.jobs) as pool:
        results = list(pool.map(one, tasks))
    frame = pd.DataFrame([row for rows, _ in results for row in rows])
    factors = np.array([f for _, f in results])
    middle, high = np.median(factors, axis=0), np.quantile(factors, 0.9, axis=0)
    say(
        f"\ntruth {asked.truth}, law {asked.law}{', repeats' if asked.repeats else ''}, {asked.seeds} seeds; factors "
        f"(median, 90 % quantile): levels {middle[0]:.2f}, {high[0]:.2f}; contrasts {middle[1]:.2f}, {high[1]:.2f}"
    )
    for (variant, baseline), rows in frame.groupby(["variant", "baseline"], sort=False):
        clear, called = rows[rows["clear"]], rows[~rows["tie"]]
        say(
            f"{variant:10s}{baseline:9s} true gain covered {rows['covered'].mean():5.0%}, width "
            f"{rows['width'].median():.4f} of gain {rows['gain'].median():.4f}; ties {clear['tie'].sum():3d} of "
            f"{len(clear)} clear gains; verdicts wrong {int(called['wrong'].sum())} of {len(called)}"
        )


def public(asked: argparse.Namespace) -> None:
    """Print the coverage of measured differences between all pairs of held-out mixtures, by variant."""
    whole = read_runs(asked.table)
    [part] = splits(whole, "largest")
    train, held = whole.select(part.train), whole.select(part.test)
    fits = fit_table(train, FitRequest((asked.law,), FitOptions(seed=0), asked.bootstrap))
    found = seed_noise(train)
    noise = {t: 0.0 if found is None else found.relative[t] for t in fits.targets}
    say(f"\n{asked.law} on {len(train.runs)} runs, {len(held)} held out; {fits.evidence['calibration']}")
    say(f"noise of one run: {'unknown' if found is None else noise}")
    inputs = fits.inputs(held.mixtures, held.column("params"), held.column("tokens"))
    a, b = np.triu_indices(len(held), 1)
    rng = np.random.default_rng(0)
    for name, given in variants(fits).items():
        drawn, covered, widths = loss_scenarios(given, inputs), [], []
        means = []
        for target in fits.targets:
            logs = np.log(drawn[target])
            gap = logs[:, a] - logs[:, b] + noise[target] * np.sqrt(2) * rng.standard_normal((len(logs), len(a)))
            low, high = np.quantile(gap, [0.05, 0.95], axis=0)
            measured = np.log(held.loss(target))
            off = measured[a] - measured[b]
            covered.append(float(np.mean((low <= off) & (off <= high))))
            widths.append(float(np.median(high - low)))
            means.append(drawn[target] * np.exp(noise[target] * rng.standard_normal(logs.shape)))
        mean, seen = np.mean(means, axis=0), np.mean([held.loss(t) for t in fits.targets], axis=0)
        low, high = np.quantile(mean[:, a] - mean[:, b], [0.05, 0.95], axis=0)
        whole_mean = float(np.mean((low <= seen[a] - seen[b]) & (seen[a] - seen[b] <= high)))
        listed = ", ".join(f"{t} {c:.0%}" for t, c in zip(fits.targets, covered, strict=True))
        say(
            f"{name:10s} pairs covered: mean of targets {np.mean(covered):.1%} ({listed}); mean loss {whole_mean:.1%}; "
            f"median width {100 * np.mean(widths):.2f} %"
        )


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--truth", choices=["capacity", "additive", "skills"], default="capacity")
    parser.add_argument("--law", default="capacity")
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--bootstrap", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--repeats", action="store_true")
    parser.add_argument("--public", action="store_true")
    parser.add_argument("--table", type=Path, default=PUBLIC)
    asked = parser.parse_args()
    (public if asked.public else simulations)(asked)


if __name__ == "__main__":
    main()
