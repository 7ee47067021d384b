"""What optimize-mixture must show, measured on the public tables and on random problems.

    python tests/bench/bench_optimize.py [benchmarks] [decision] [constraints] [speed]

``benchmarks``: loss to accuracy beyond the data, beside the published exponential fitted on the same rows.
``decision``: regret of choosing among real runs, beside what the literature does.
``constraints``: 1,000 random regions of up to 100 domains.
``speed``: 100 domains, 20 targets, 200 bootstrap members.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import curve_fit

from mixlaw.benchmark import Curve, fit_curves
from mixlaw.dataset import Selection, inputs_of
from mixlaw.diagnose import Geometry
from mixlaw.errors import InfeasibleError
from mixlaw.fit import Fit, FitOptions, Status
from mixlaw.fits import FitSet, Member, Seen
from mixlaw.fitting import Request as FitRequest
from mixlaw.fitting import fit_table
from mixlaw.logs import read_runs
from mixlaw.mixture import Constraints, Group
from mixlaw.optimize import Objective, Region, Request, Scale, search
from mixlaw.optimize.functions import differences
from mixlaw.optimize.interior import minimise
from mixlaw.runs import RunTable
from mixlaw.units import Unit

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
SEVENTEEN = (
    "bigbench_operators pubmed_qa_labeled hellaswag_zeroshot boolq arc_easy coqa bigbench_dyck_languages "
    "lambada_openai bigbench_novel_concepts winograd bigbench_cs_algorithms commonsense_qa bigbench_qa_wikidata "
    "hellaswag copa squad piqa"
).split()


def benchmarks() -> None:
    """Fit on one part of a table, read accuracies of the other."""
    models = pd.read_csv(SHARED / "overtraining_testbed" / "models.csv")
    models["compute"] = 6.0 * models["params"] * models["tokens"].astype(float)
    models = models.sort_values("compute")
    models["acc_average"] = models[[f"acc_{t}" for t in SEVENTEEN]].mean(axis=1)
    half = len(models) // 2
    losses = [c for c in models if c.startswith("loss_")]
    tasks = [*SEVENTEEN, "average"]

    _compare("overtraining_testbed, larger half by compute", models[:half], models[half:], losses, tasks, "loss_c4_val")
    gem = pd.read_csv(SHARED / "gemstones" / "loss_and_benchmarks.csv")
    tasks = [c[4:] for c in gem if c.startswith("acc_")]
    gem["acc_average"] = gem[[f"acc_{t}" for t in tasks]].mean(axis=1)
    gem = gem.rename(columns={"run_name": "run"})
    cut = gem["loss_fineweb_edu"] > 2.9
    names = ["loss_fineweb_edu", "loss_dclm"]
    _compare("gemstones, below 2.9 nats", gem[cut], gem[~cut], names, [*tasks, "average"], "loss_fineweb_edu")


def _compare(
    title: str, first: pd.DataFrame, last: pd.DataFrame, losses: list[str], tasks: list[str], published: str
) -> None:
    table = pd.DataFrame({"run": first["run"].astype(str), "tokens": first["tokens"].astype(float)})
    for column in losses:
        table[f"loss/{column[5:]}"] = first[column]
    for task in tasks:
        table[f"bench/{task}"] = first[f"acc_{task}"]
    data = RunTable.from_frame(table)
    start = time.perf_counter()
    curves = fit_curves(data, data.targets)
    print(f"\n{title}: {len(first)} rows fitted in {time.perf_counter() - start:.0f} s, {len(last)} predicted")
    print(f"{'task':26s} {'ours':>6s} {'published':>9s}  points of mean absolute error")
    ours: dict[str, np.ndarray] = {}
    theirs: dict[str, np.ndarray] = {}
    for task in tasks:
        truth = last[f"acc_{task}"].to_numpy()
        ours[task] = _read(curves[task], last)
        theirs[task] = _published(
            first[published].to_numpy(), first[f"acc_{task}"].to_numpy(), last[published].to_numpy()
        )
        print(f"{task:26s} {_points(ours[task], truth)} {_points(theirs[task], truth):>9s}  {curves[task].reason}")
    single = [task for task in tasks if task != "average"]
    good = [task for task in single if curves[task].predictable]
    for what, kept in (("all tasks", single), ("predictable tasks", good)):
        truth = last[[f"acc_{t}" for t in kept]].to_numpy()
        mine, other = (np.array([p[t] for t in kept]).T for p in (ours, theirs))
        means = _points(mine.mean(axis=1), truth.mean(axis=1)), _points(other.mean(axis=1), truth.mean(axis=1))
        print(f"{what} ({len(kept)}), mean of errors: {_points(mine, truth)} {_points(other, truth)}")
        print(f"{what} ({len(kept)}), error of the mean: {means[0]} {means[1]}")


def _read(curve: Curve, rows: pd.DataFrame) -> np.ndarray:
    return curve.value(rows[[f"loss_{name}" for name in curve.inputs]].to_numpy())


def _points(predicted: np.ndarray, truth: np.ndarray) -> str:
    return f"{100 * np.nanmean(np.abs(predicted - truth)):6.2f}"


def _published(x: np.ndarray, accuracy: np.ndarray, at: np.ndarray) -> np.ndarray:
    """``Err = e - k exp(-g L)``, unweighted least squares as in arXiv 2403.08540."""

    def error(loss: np.ndarray, e: float, k: float, g: float) -> np.ndarray:
        return e - k * np.exp(-g * loss)

    known = np.isfinite(accuracy)
    x, accuracy = x[known], accuracy[known]
    best, lowest = np.full(len(at), accuracy.mean()), np.inf
    for rate in (0.3, 1.0, 3.0):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                theta, _ = curve_fit(
                    error, x, 1 - accuracy, p0=(1 - accuracy.min(), 0.5 * np.exp(rate * x.min()), rate)
                )
            except RuntimeError:  # this start did not converge
                continue
        objective = ((error(x, *theta) - 1 + accuracy) ** 2).sum()
        if objective < lowest:
            best, lowest = 1 - error(at, *theta), objective
    return np.clip(best, 0, 1)


def decision() -> None:
    """Choose among the real 937M runs of the public SlimPajama table without having seen any of that size."""
    table = read_runs(SHARED / "apple_dmsl" / "dmsl_llm_slimpajama.csv")
    size = table.column("params")
    known, target = table.select(size < 9e8), table.select(size > 9e8).last()
    longest = target.column("tokens") > 0.95 * target.column("tokens").max()
    target = target.select(longest)
    truth = np.nanmean([target.loss(t) for t in target.targets], axis=0)
    print(f"\n{len(target)} runs at 937M; mean losses from {truth.min():.4f} to {truth.max():.4f}")
    rng = np.random.default_rng(0)
    draws = rng.dirichlet(np.ones(len(table.domains)), 100_000)
    for law in ("capacity", "additive"):
        fits = fit_table(known, FitRequest((law,)))
        predicted = np.mean([fits.value(t, inputs_of(target)) for t in fits.targets], axis=0)
        _regret(f"{law}, three smaller sizes", predicted, truth)
    smallest = known.select(known.column("params") < 2e8).last()
    late = Selection(drop_early=0.0, checkpoints=1)
    regmix = fit_table(smallest, FitRequest(("gbm",), FitOptions(selection=late)))
    score = np.mean([regmix.value(t, regmix.inputs(target.mixtures, None, None)) for t in regmix.targets], axis=0)
    _regret("LightGBM at 122M, ranking the runs", score, truth)
    on_draws = np.mean([regmix.value(t, regmix.inputs(draws, None, None)) for t in regmix.targets], axis=0)
    mean = draws[np.argsort(on_draws)[:100]].mean(axis=0)
    _regret("LightGBM at 122M, mean of the best 100 of 100,000 draws, nearest run", _distance(target, mean), truth)
    linear = fit_table(smallest, FitRequest(("loglinear",), FitOptions(selection=late)))
    score = np.mean([linear.value(t, linear.inputs(target.mixtures, None, None)) for t in linear.targets], axis=0)
    uniform = np.full(len(table.domains), 1 / len(table.domains))
    divergence = (target.mixtures * np.log(np.maximum(target.mixtures, 1e-300) / uniform)).sum(axis=1)
    _regret("log-linear at 122M + 0.05 KL from uniform", score + 0.05 * divergence, truth)
    _regret("log-linear at 122M", score, truth)
    _regret("nearest to uniform", _distance(target, uniform), truth)


def _distance(target: RunTable, mixture: np.ndarray) -> np.ndarray:
    return np.abs(target.mixtures - mixture).sum(axis=1)


def _regret(name: str, score: np.ndarray, truth: np.ndarray) -> None:
    print(f"{name:72s} regret {truth[np.argmin(score)] - truth.min():.4f} nats")


class Exponentials:
    """``sum_i exp(t_i . h)``."""

    def __init__(self, slopes: np.ndarray) -> None:
        self.slopes = slopes

    def value(self, shares: np.ndarray) -> np.ndarray:
        return np.exp(shares @ self.slopes.T).sum(axis=1)

    def gradient(self, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        terms = np.exp(shares @ self.slopes.T)
        return terms.sum(axis=1), terms @ self.slopes

    def hessian(self, share: np.ndarray) -> np.ndarray:
        return differences(self, share)


def constraints() -> None:
    """Random feasible regions, many of them degenerate; then infeasible ones."""
    rng = np.random.default_rng(0)
    worst, unsolved, start = 0.0, 0, time.perf_counter()
    for _ in range(1000):
        region = Region.of(_random(rng))
        function = Exponentials(rng.normal(size=(5, len(region.domains))))
        found = minimise(function, region, region.inside(np.full(len(region.domains), 1 / len(region.domains))))
        worst = max(worst, region.violation(found.mixture))
        unsolved += not found.converged
    seconds = time.perf_counter() - start
    print(f"\n1000 regions: largest violation {worst:.1e}, {unsolved} not solved to 1e-5, {seconds:.0f} s")
    named = asked = 0
    while asked < 200:
        bounds = _random(rng)
        index = int(rng.integers(len(bounds.domains)))
        lower = bounds.lower.copy()
        lower[index] = min(1.0, 1.05 - np.delete(lower, index).sum())
        if lower.sum() <= 1:  # one domain takes all, which is possible
            continue
        asked += 1
        upper = bounds.upper.copy()
        upper[index] = max(upper[index], lower[index])
        try:
            Region.of(replace(bounds, lower=lower, upper=upper))
        except InfeasibleError as error:
            named += "miss each other by" in str(error)
    print(f"200 regions with one floor too many: {named} explained")


def _random(rng: np.random.Generator) -> Constraints:
    width = int(rng.integers(2, 101))
    names = tuple(f"d{i}" for i in range(width))
    inside = rng.dirichlet(np.full(width, rng.choice([0.1, 1.0, 5.0])))
    lower = np.where(rng.random(width) < 0.3, inside * rng.random(width), 0)
    room = rng.random(width) * 0.2 * (rng.random(width) < 0.8)
    upper = np.where(rng.random(width) < 0.5, np.minimum(1, inside + room), 1)
    groups = []
    for number in range(int(rng.integers(0, 4))):
        members = rng.choice(width, size=int(rng.integers(1, width + 1)), replace=False)
        total = inside[members].sum()
        low, high = total - rng.random(2) * [0.3, -0.3] * (rng.random(2) < 0.7)
        groups.append(Group(f"g{number}", tuple(names[i] for i in members), max(0, low), min(1, high)))
    return Constraints(names, lower, upper, tuple(groups))


def speed() -> None:
    """The mean over 200 members of 20 targets in 100 domains, caps on half of them."""
    rng = np.random.default_rng(0)
    width, targets, members = 100, 20, 200
    domains = tuple(f"d{i}" for i in range(width))
    fits = {}
    for index in range(targets):
        theta = np.concatenate([[-0.2, -1.4, -1.1, -0.6], rng.normal(1, 1, width), 0.4 * rng.normal(1, 1, width)])
        draws = theta + 0.1 * rng.standard_normal((members, len(theta)))
        fits[f"t{index}"] = (Member(Fit(
            f"t{index}", "capacity", domains, theta, np.zeros((len(theta),) * 2), Status.CONVERGED, 0.0, 0.0, 0, 0, 1,
            1.0, 0.002, Geometry(len(theta), 1.0), draws=draws)),)  # fmt: skip
    mixtures = rng.dirichlet(np.ones(width), size=300)
    seen = Seen("", tuple(map(str, range(300))), mixtures, np.full(300, 1e9), np.full(300, 2e10), {}, 300)
    whole = FitSet(fits, dict.fromkeys(fits, Unit.NATS), domains, seen, FitOptions())
    caps = {d: 0.02 for d in domains[::2]}
    for risk in ("mean", "0.9"):
        start = time.perf_counter(), time.process_time()
        found = search(whole, Request(Scale(7e9, 1.5e11), Objective({}), maximum=caps, risk=risk), {})
        wall, cpu = time.perf_counter() - start[0], time.process_time() - start[1]
        best, broken = found.optimum, found.region.violation(found.optimum.mixture)
        print(f"--risk {risk}: {wall:.0f} s by the clock, {cpu:.0f} s of one core; ", end="")
        print(f"violation {broken:.0e}, optimality {best.residual:.0e}")


if __name__ == "__main__":
    parts = {f.__name__: f for f in (benchmarks, decision, constraints, speed)}
    for name in sys.argv[1:] or parts:
        parts[name]()
