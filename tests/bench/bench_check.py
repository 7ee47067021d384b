"""Did the recommendations hold? `python tests/bench/bench_check.py`

Reads the two recommendations that were written down before any run they are judged by (sample_runs/plans) and the runs
of the largest sample size (sample_runs/pretrain and sample_runs/check), and prints what was promised beside what
happened: the objective at the last checkpoint of every run of a mixture, seed by seed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import yaml

from mixlaw.logs import read_runs
from mixlaw.runs import RunTable

ROOT = Path(__file__).resolve().parents[2] / "sample_runs"
SIZE = 308_640
OBJECTIVES = {"mean": "mean of the five losses", "product": "python 3, english 2, german 1"}


def main() -> None:
    tables = [read_runs(ROOT / name).last() for name in ("pretrain", "check")]
    for name, words in OBJECTIVES.items():
        plan = yaml.safe_load((ROOT / "plans" / f"recommended-{name}.yaml").read_text())
        show(name, words, plan, tables)


def show(name: str, words: str, plan: dict[str, Any], tables: list[RunTable]) -> None:
    evidence = plan["evidence"]
    weights = {t.removeprefix("loss/"): w for t, w in evidence["objective"]["weights"].items()}
    measured = objectives(tables, weights)
    own = np.array(measured[f"recommended-{name}"])
    print(f"\n{words}: objective at {SIZE:,} parameters, lower is better")
    head = f"{'mixture':<20} {'predicted':>9}  {'90 % interval':<13}  {'its runs':<20}  {'measured':>8}"
    print(f"{head}  gain of the proposal: promised (90 %), measured")
    for mixture, values in sorted(measured.items(), key=lambda item: float(np.mean(item[1]))):
        key = "proposal" if mixture == f"recommended-{name}" else mixture
        told = evidence["value"].get(key)
        predicted = (
            f"{told['value']:>9.4f}  {told['low']:.4f}-{told['high']:.4f}  " if told else f"{'-':>9}  {'':<13}  "
        )
        seeds = " ".join(f"{v:.4f}" for v in values)
        print(f"{mixture:<20} {predicted}{seeds:<20}  {np.mean(values):>8.4f}  {gain(evidence, key, values, own)}")


def gain(evidence: dict[str, Any], key: str, values: list[float], own: np.ndarray) -> str:
    """Promised interval of the gain over a mixture, and the measured one with its standard error from seeds."""
    if key == "proposal":
        return ""
    promised = "-"
    if key in evidence["against"]:
        low, _, high = evidence["against"][key]["regret_5_50_95"]
        promised = f"{-high:+.4f} to {-low:+.4f}"
    others = np.array(values)
    spread = [np.var(v, ddof=1) / len(v) for v in (own, others) if len(v) > 1]
    error = f" ± {np.sqrt(sum(spread)):.4f}" if len(spread) == 2 else ""
    return f"{promised}, {others.mean() - own.mean():+.4f}{error}"


def objectives(tables: list[RunTable], weights: dict[str, float]) -> dict[str, list[float]]:
    """Objective of each run of the size, by mixture."""
    found: dict[str, list[float]] = {}
    for table in tables:
        total = sum(weight * table.loss(target) for target, weight in weights.items()) / sum(weights.values())
        for run, size, value in zip(table.frame["run"], table.column("params"), total, strict=True):
            if size == SIZE:
                mixture = str(run).removeprefix("310k-").partition("-seed")[0]
                found.setdefault(mixture, []).append(float(value))
    return found


if __name__ == "__main__":
    main()
