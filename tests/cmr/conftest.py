"""Continual pre-training runs sampled from the published curves, and made up where a case needs it."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mixlaw.cmr.data import CptRun, SizeData

T = np.arange(1.0, 101.0)
UNIT = 2e8
SHARES = {"0.125": 1 / 8, "0.25": 1 / 4, "0.333": 1 / 3, "0.5": 1 / 2, "0.75": 0.75, "1": 1.0}
FOUR = ("0.125", "0.25", "0.333", "0.5")
BASE = 2.86

Sample = Callable[..., SizeData]


@pytest.fixture(scope="session")
def coefficients(checkout: Path) -> list[dict[str, str]]:
    """The published curves, one row a size and share."""
    with (checkout / "sample_runs/cmr/coefficients.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="session")
def published(coefficients: list[dict[str, str]]) -> Sample:
    """Runs of one size: ``published("460M", noise=2e-4, seed=1)``."""

    def sample(size: str, *, noise: float = 0.0, seed: int = 0, shares: tuple[str, ...] = FOUR) -> SizeData:
        rng = np.random.default_rng(seed)
        runs = []
        for row in coefficients:
            if row["model"] != size or row["domain_share"] not in shares:
                continue
            c = {key: float(value) for key, value in row.items() if key != "model"}
            general = c["gen_a"] * T ** c["gen_p"] + c["gen_b"] * T ** c["gen_q"] + c["gen_c"]
            domain = c["dom_d"] * T ** c["dom_r"] + c["dom_e"]
            general = BASE + general + noise * rng.standard_normal(len(T))
            lr = np.full(len(T), 1e-4)
            runs.append(CptRun(row["domain_share"], SHARES[row["domain_share"]], UNIT * T, general, 2.0 + domain, lr))
        return SizeData(1e9, tuple(sorted(runs, key=lambda r: r.share)), BASE, 2.0)

    return sample


@pytest.fixture(scope="session")
def made_up() -> Sample:
    """Runs with curves of the reduced form whose T0 is given: ``made_up({0.2: 5e9, 0.4: 2e10})``."""

    def sample(
        turning: dict[float, float], *, noise: float = 1e-4, seeds: int = 1, readings: int = 40, level: float = 0.0
    ) -> SizeData:
        rng = np.random.default_rng(5)
        tokens = np.linspace(5e8, 2e10, readings)
        runs = []
        for share, peak in turning.items():
            z, v = np.log(tokens / 2e10), np.log(peak / 2e10)
            grown = np.exp(0.5 * z)
            curve = 0.002 * (v * (grown - 1) / 0.5 + (grown * (1 - 0.5 * z) - 1) / 0.25)
            for seed in range(seeds):
                general = BASE + 0.01 + level * share + curve + noise * rng.standard_normal(readings)
                domain = 2.0 - 0.1 * share**0.3 * np.log(tokens / 1e8) + noise * rng.standard_normal(readings)
                runs.append(CptRun(f"{share:g}-{seed}", share, tokens, general, domain, np.full(readings, 1e-4)))
        return SizeData(1e9, tuple(runs), BASE, 2.0)

    return sample
