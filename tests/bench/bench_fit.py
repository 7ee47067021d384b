"""Speed of a fit against the usual practice, on the same problem in the same run.

    OMP_NUM_THREADS=1 python tests/bench/bench_fit.py TABLE [--starts 12] [--whole]

TABLE is a run table, for example the public SlimPajama runs; its largest size is left out. The usual practice is one
``scipy.optimize.curve_fit`` per target and start, on log losses, without gradients, from the same starting points and
with the same bounds and Huber loss. Neither has a ridge or a prior here, so that both minimise the same figure, the sum
of the Huber losses. ``--whole`` also times, on two processes, ``compare`` with every law and
``fit --law auto --bootstrap 200``, and prints the largest memory of any process.
"""

from __future__ import annotations

import argparse
import resource
import time
import zlib
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from scipy.optimize import curve_fit

from mixlaw.check.compare import compare
from mixlaw.check.holdout import size_levels
from mixlaw.dataset import Dataset
from mixlaw.fit import FitOptions, fit_law
from mixlaw.fitting import Request, fit_table
from mixlaw.laws import LAWS
from mixlaw.logs import read_runs
from mixlaw.problems import bounds
from mixlaw.runs import RunTable
from mixlaw.solver import SolverOptions, penalty

LAW = LAWS["capacity"]
DELTA = 1e-2


def objective(theta: np.ndarray, dataset: Dataset, index: int) -> float:
    """Sum of Huber losses of one target."""
    present = dataset.weights[index] > 0
    off = np.log(LAW.predict(theta, dataset.inputs.rows(present))) - dataset.log_y[index, present]
    return float(penalty(off, DELTA)[0].sum())


def usual(dataset: Dataset, starts: int) -> list[float]:
    """Best objective of each target by multi-start curve_fit."""
    lower, upper, _ = bounds(LAW, dataset.inputs.domains)
    best = []
    for index, target in enumerate(dataset.targets):
        present = dataset.weights[index] > 0
        inputs, log_y = dataset.inputs.rows(present), dataset.log_y[index, present]
        rng = np.random.default_rng([0, zlib.crc32(target.encode())])
        found = []
        for start in LAW.starts(inputs, np.exp(log_y), rng, starts):
            theta, _ = curve_fit(
                lambda _, *p, rows=inputs: np.log(LAW.predict(np.array(p), rows)), np.arange(len(log_y)), log_y,
                p0=np.clip(start, lower + 1e-6, upper - 1e-6), bounds=(lower, upper), loss="huber", f_scale=DELTA,
                max_nfev=2000,
            )  # fmt: skip
            found.append(objective(theta, dataset, index))
        best.append(min(found))
    return best


def main() -> None:
    """Print both times, their ratio, and both objectives for each target."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=Path)
    parser.add_argument("--starts", type=int, default=12)
    parser.add_argument("--whole", action="store_true")
    asked = parser.parse_args()
    table = read_runs(asked.table)
    dataset = Dataset.build(table.select(table.column("params") < size_levels(table)[-1]))
    started = time.process_time()
    fits = fit_law(LAW, dataset, FitOptions(starts=asked.starts, solver=SolverOptions(ridge=0.0)))
    ours = time.process_time() - started
    started = time.process_time()
    theirs = usual(dataset, asked.starts)
    other = time.process_time() - started
    print(f"{len(dataset)} rows, {len(dataset.targets)} targets, {asked.starts} starts each (processor seconds)")
    print(f"mixlaw {ours:.2f} s, curve_fit {other:.2f} s: {other / ours:.1f} times faster")
    for index, (fit, best) in enumerate(zip(fits, theirs, strict=True)):
        mine = objective(fit.theta, dataset, index)
        print(f"  {fit.target:16s} objective {mine:.6f} against {best:.6f}  ({100 * (mine / best - 1):+.2f} %)")
    if asked.whole:
        whole(table.select(table.column("params") < size_levels(table)[-1]))


def whole(table: RunTable) -> None:
    """Time the two longest commands on the training part of the table."""
    with ProcessPoolExecutor(2) as pool:
        for name, job in (
            ("compare, every law", lambda: compare(table, ["auto", *LAWS], executor=pool)),
            (
                "fit --law auto --bootstrap 200",
                lambda: fit_table(table, Request(("auto",), bootstrap=200), executor=pool),
            ),
        ):
            started = time.perf_counter()
            job()
            print(f"{name} on {len(table):,} rows: {time.perf_counter() - started:.0f} s")
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    print(f"largest memory of a process: {max(resource.getrusage(k).ru_maxrss for k in kinds) / 1024:.0f} MB")


if __name__ == "__main__":
    main()
