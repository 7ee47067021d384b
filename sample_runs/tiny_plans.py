"""Plans of the sample runs: reading one, and the design of the committed ones.

`python sample_runs/tiny_plans.py` writes `sample_runs/plans/pretrain.yaml` and `continual.yaml` again.

Design of the pre-training mixtures: natural (shares of unique tokens), uniform, one leaning row per domain (70 %, the
others 7.5 % each), and rows `mix-01`, `mix-02`, ...: Dirichlet draws around natural (strength log-uniform from 2 to 30,
floor 2 %), each the one of 20 that is farthest from all rows so far (distance between the roots of the shares). The
runs are ordered so that the sizes keep pace, larger ones a stated part behind: an interrupted set is of use.

Design of the continual runs: at two sizes a base on English, then shares of German from 0 to 3/4, all else alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

# name -> (width, layers, heads) of the model; the names are the numbers of parameters without embeddings, rounded
SIZES = {"5k": (20, 1, 2), "25k": (32, 2, 2), "60k": (40, 3, 2), "110k": (48, 4, 3), "310k": (80, 4, 5)}
RATES = {"5k": 0.02, "25k": 0.0125, "60k": 0.01, "110k": 0.0083, "310k": 0.005}  # 0.4 / width
CHECKPOINTS = (0.1, 0.25, 0.4, 0.55, 0.7, 0.8, 0.9, 1.0)


def params_of(size: str) -> int:
    """Number of parameters of a size without the two embedding matrices."""
    width, layers, _ = SIZES[size]
    return layers * (12 * width**2 + 4 * width) + 2 * width


def nearest_size(params: int) -> str:
    """Name of the size whose number of parameters is nearest."""
    return min(SIZES, key=lambda size: abs(params_of(size) - params))


@dataclass(frozen=True)
class Run:
    """One row of a plan."""

    name: str
    params: int
    tokens: int
    mixture: Mapping[str, float]
    seed: int = 0
    lr: float = 0.003
    warm_up: int = 100  # steps of linear warm-up; the rate is constant afterwards
    base: str | None = None  # name of the run whose weights it starts from
    checkpoints: tuple[float, ...] = CHECKPOINTS  # shares of the tokens at which a line is written
    targets: tuple[str, ...] = ()  # domains to measure; none means all

    def __post_init__(self) -> None:
        if abs(sum(self.mixture.values()) - 1) > 1e-3 or min(self.mixture.values()) < 0:
            raise SystemExit(f"Run {self.name}: Expected shares that sum to 1. Got {dict(self.mixture)}.")
        if abs(params_of(self.size) / self.params - 1) > 0.05:
            sizes = ", ".join(f"{size} ({params_of(size)})" for size in SIZES)
            raise SystemExit(f"Run {self.name}: Expected params within 5 % of a size: {sizes}. Got {self.params}.")

    @property
    def size(self) -> str:
        """Name of the size."""
        return nearest_size(self.params)


def read_plan(path: Path) -> list[Run]:
    """The runs of a manifest; what is given beside `runs` holds for each run that does not say otherwise."""
    plan: dict[str, Any] = yaml.safe_load(path.read_text())
    common = plan.get("training", {})
    return [run_of(common | run) for run in plan["runs"]]


def run_of(entry: dict[str, Any]) -> Run:
    """A run from its entry in a plan; without `lr` it has the rate that all runs of its size have."""
    other = set(entry) - {field.name for field in fields(Run)} - {"flops"}
    if other:
        raise SystemExit(f"Run {entry.get('name')}: Expected keys that a run has. Got {', '.join(sorted(other))}.")
    numbers = {key: int(float(entry[key])) for key in ("params", "tokens")}
    lists = {key: tuple(entry[key]) for key in ("checkpoints", "targets") if key in entry}
    rate = {"lr": RATES[nearest_size(numbers["params"])]}
    return Run(**(rate | {key: value for key, value in entry.items() if key != "flops"} | numbers | lists))


def smoke_plan() -> list[Run]:
    """Two tiny runs, the second continues the first."""
    common = {"params": params_of("5k"), "tokens": 16 * 128 * 6, "warm_up": 2, "checkpoints": (0.5, 1.0)}
    first = Run(name="smoke-base", mixture={"digits": 1.0}, **common)
    return [first, Run(name="smoke-half", mixture={"digits": 0.5, "letters": 0.5}, base=first.name, **common)]


HERE = Path(__file__).parent
NATURAL = {"python": 0.383, "c": 0.129, "english": 0.211, "german": 0.153, "french": 0.124}
TOKENS = {"25k": 1_600_000, "60k": 1_800_000, "110k": 2_000_000, "310k": 2_400_000}
LEANING = tuple(f"{domain}-heavy" for domain in NATURAL)
# size -> mixtures in order of importance; some are shared between sizes, some are new to the largest
ROWS = {
    "25k": ("natural", "uniform", *LEANING, 1, 2, 3, 4, 5, 6, 7),
    "60k": ("natural", "uniform", *LEANING, 5, 6, 7, 8, 9, 10),
    "110k": ("natural", "uniform", 1, "c-heavy", 2, "french-heavy", 8, 11, 12),
    "310k": ("natural", "uniform", 1, 13, "english-heavy", 6, 14, 8),
}
LAG = {"25k": 0.0, "60k": 0.1, "110k": 0.25, "310k": 0.45}  # part of the set by which a size starts later
REPEATS = (("60k", 1, 0.3), ("60k", 2, 0.3), ("25k", 1, 0.4), ("25k", 2, 0.4), ("310k", 1, 1.5))  # size, seed, place


def named_mixtures(rng: np.random.Generator) -> dict[str, dict[str, float]]:
    """All mixtures of the design by name."""
    natural = np.array(list(NATURAL.values()))
    leaning = np.full((5, 5), 0.075) + 0.625 * np.eye(5)
    rows = [natural, np.full(5, 0.2), *leaning]
    for _ in range(14):
        strengths = np.exp(rng.uniform(np.log(2.0), np.log(30.0), 20))
        candidates = np.array([0.02 + 0.9 * rng.dirichlet(strength * natural) for strength in strengths])
        rows.append(farthest(candidates, np.array(rows)))
    names = ["natural", "uniform", *LEANING, *(f"mix-{number:02d}" for number in range(1, 15))]
    return {name: rounded(row) for name, row in zip(names, rows, strict=True)}


def farthest(candidates: NDArray[np.float64], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """The candidate whose nearest row is farthest away."""
    gaps = np.linalg.norm(np.sqrt(candidates)[:, None] - np.sqrt(rows)[None], axis=2).min(axis=1)
    chosen: NDArray[np.float64] = candidates[gaps.argmax()]
    return chosen


def rounded(shares: NDArray[np.float64]) -> dict[str, float]:
    """Shares to three digits; the largest takes what rounding leaves."""
    rounded = np.round(shares, 3)
    rounded[rounded.argmax()] += 1 - rounded.sum()
    return {domain: round(float(share), 3) for domain, share in zip(NATURAL, rounded, strict=True)}


def entry(size: str, mixture: str, shares: Mapping[str, float], seed: int = 0) -> dict[str, Any]:
    """One row of the pre-training plan."""
    name = f"{size}-{mixture}" + (f"-seed{seed}" if seed else "")
    flops = 6 * params_of(size) * TOKENS[size]
    numbers = {"params": params_of(size), "tokens": TOKENS[size], "flops": flops, "seed": seed, "lr": RATES[size]}
    return {"name": name, **numbers, "mixture": dict(shares)}


def pretraining() -> dict[str, Any]:
    """The plan of the pre-training runs."""
    mixtures = named_mixtures(np.random.default_rng(0))
    placed = []
    for size, rows in ROWS.items():
        names = [row if isinstance(row, str) else f"mix-{row:02d}" for row in rows]
        for i, name in enumerate(names):
            placed.append(((i + 0.5) / len(names) + LAG[size], entry(size, name, mixtures[name])))
    placed += [(place, entry(size, "natural", mixtures["natural"], seed)) for size, seed, place in REPEATS]
    runs = [run for _, run in sorted(placed, key=lambda pair: pair[0])]
    return {"strategy": "stated design, see tiny_plans.py", "spent": sum(run["flops"] for run in runs), "runs": runs}


SHARES = (0.5, 0.25, 0.75, 0.125, 1 / 3, 0.0)
GENERAL, DOMAIN = "english", "german"
EVERY_FEW = (0.02, 0.04, 0.06, 0.08, 0.1, 0.125, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def continual() -> dict[str, Any]:
    """The plan of the continual runs: tokens count from the base's end."""
    runs = []
    for size in ("25k", "60k"):
        common = {"params": params_of(size), "seed": 0, "lr": RATES[size]}
        base = {"name": f"{size}-base", "tokens": 2_400_000, "checkpoints": [0.25, 0.5, 0.75, 1.0]}
        runs.append(base | common | {"mixture": {GENERAL: 1.0, DOMAIN: 0.0}})
        for share in SHARES:
            run = {"name": f"{size}-share-{1000 * share:03.0f}", "base": base["name"], "tokens": 1_000_000}
            shares = {GENERAL: round(1 - share, 6), DOMAIN: round(share, 6)}
            run |= common | {"warm_up": 20, "checkpoints": list(EVERY_FEW), "mixture": shares}
            runs.append(run)
    for run in runs:
        run["flops"] = 6 * run["params"] * run["tokens"]
    training = {"targets": [GENERAL, DOMAIN]}
    return {"strategy": "stated design, see tiny_plans.py", "training": training, "runs": runs}


def write(name: str, plan: dict[str, Any]) -> None:
    text = yaml.safe_dump(plan, sort_keys=False, width=200, default_flow_style=None)
    (HERE / "plans" / f"{name}.yaml").write_text(text)


if __name__ == "__main__":
    write("pretrain", pretraining())
    write("continual", continual())
