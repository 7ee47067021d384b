"""All laws on the next scale of the public tables: error, time and agreement of starts, beside earlier measurements.

Run as ``python tests/bench/bench_laws.py [LAW ...] [--ridge R] [--starts S] [--inner]``. Each law is fitted on the
smaller sizes and scored on the last checkpoint of every run of the held-out size (mean over targets of the mean
relative error, per cent). With ``--inner`` nothing of the held-out sizes is read: the largest *training* size is held
out instead, which is what bounds, ridge and starts may be judged by.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from mixlaw.dataset import inputs_of
from mixlaw.errors import MixlawError
from mixlaw.fit import FitOptions
from mixlaw.fits import FitSet
from mixlaw.fitting import AUTO, Request, fit_table
from mixlaw.laws import LAWS
from mixlaw.logs import read_runs
from mixlaw.runs import RunTable
from mixlaw.solver import SolverOptions

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"

EARLIER = {
    "additive": (1.16, 1.56, 2.78, 1.44),
    "joint": (1.02, 1.39, 2.52, 1.83),
    "product": (0.98, 1.61, 2.86, 1.12),
    "modulated": (0.68, 0.95, 1.65, 0.83),
    "datashare": (0.84, 0.58, 0.86, 1.20),
    "capacity": (0.50, 0.67, 1.00, 1.26),
    "capacity-powers": (0.50, 0.72, 1.09, 0.58),
}
"""Measured before this code existed, with other starts, bounds and solver; one figure per test below."""


def apple() -> RunTable:
    """Seven SlimPajama domains, eight targets, four sizes."""
    return read_runs(DATA / "apple_dmsl" / "dmsl_llm_slimpajama.csv")


def pile() -> RunTable:
    """Five groups of the Pile, six targets, three sizes; only runs that reach step 20,000."""
    raw = pd.read_csv(DATA / "data_mixing_laws" / "5Mix_grouped.csv")
    raw = raw[raw.groupby("run")["step"].transform("max") >= 20_000]
    frame = pd.DataFrame(
        {
            "run": raw["run"],
            "step": raw["step"],
            "tokens": raw["tokens"],
            "params": raw["params_nonembed"],
            **{"mix/" + c.removeprefix("w_"): raw[c] for c in raw if c.startswith("w_")},
            **{c.replace("_", "/", 1): raw[c] for c in raw if c.startswith("loss_")},
        }
    )
    return RunTable.from_frame(frame)


def tests(*, inner: bool) -> Iterator[tuple[str, RunTable, list[RunTable]]]:
    """Name, table to fit on, and tables to be scored on."""
    whole, five = apple(), pile()
    size, size5 = whole.column("params"), five.column("params")
    if inner:
        yield "Apple <=310M -> 680M", whole.select(size < 4e8), [whole.select((size > 4e8) & (size < 8e8))]
        late = whole.column("tokens") > 1e10
        small = size < 8e8
        yield "Apple <=680M, 10B -> 20B", whole.select(small & ~late), [whole.select(small & late)]
        yield "5Mix 70M -> 160M (no size law)", five.select(size5 < 5e7), [five.select((size5 > 5e7) & (size5 < 1e8))]
        return
    yield "Apple <=680M -> 937M", whole.select(size < 9e8), [whole.select(size > 9e8)]
    held = [whole.select((size > 4e8) & (size < 9e8)), whole.select(size > 9e8)]
    yield "Apple <=310M -> 680M, 937M", whole.select(size < 4e8), held
    yield "5Mix 70M+160M -> 305M", five.select(size5 < 1e8), [five.select(size5 > 1e8)]


def error(fits: FitSet, table: RunTable) -> float:
    """Mean relative error at the last checkpoint of each run, mean over targets, per cent."""
    last = table.last()
    inputs = inputs_of(last)
    return 100 * float(np.mean([np.nanmean(np.abs(fits.value(t, inputs) / last.loss(t) - 1)) for t in fits.targets]))


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    """Print one row per law and test."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("laws", nargs="*", default=[])
    parser.add_argument("--ridge", type=float, default=SolverOptions().ridge)
    parser.add_argument("--starts", type=int, default=FitOptions().starts)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--inner", action="store_true")
    given = parser.parse_args()
    options = FitOptions(starts=given.starts, seed=given.seed, solver=SolverOptions(ridge=given.ridge))
    column = 0
    for title, train, held in tests(inner=given.inner):
        say(f"\n{title}: {len(train.runs)} runs, {len(train.targets)} targets")
        say(f"{'law':<18}{'form':<24}{'error %':>16}{'earlier':>14}{'seconds':>9}{'agree':>7}{'training %':>12}")
        for name in given.laws or (AUTO, *LAWS):
            begin = time.perf_counter()
            try:
                fits = fit_table(train, Request((name,), options))
            except MixlawError as problem:
                say(f"{name:<18}skipped: {problem}")
                continue
            seconds = time.perf_counter() - begin
            errors = " / ".join(f"{error(fits, table):.2f}" for table in held)
            before = EARLIER[name][column : column + len(held)] if name in EARLIER and not given.inner else ()
            single = [m.fit for members in fits.members.values() for m in members]
            agree = float(np.mean([f.agreeing for f in single]))
            residual = 100 * float(np.mean([f.residual for f in single]))
            form = single[0].form if name != AUTO else f"{len(next(iter(fits.members.values())))} laws"
            earlier = " / ".join(f"{b:.2f}" for b in before)
            say(f"{name:<18}{form:<24}{errors:>16}{earlier:>14}{seconds:>9.1f}{agree:>7.0%}{residual:>12.2f}")
        column += len(held)


if __name__ == "__main__":
    main()
