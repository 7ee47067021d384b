"""Small fits that the pictures are drawn from."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mixlaw.fits import FitSet
from mixlaw.fitting import Request, fit_table
from mixlaw.runs import RunTable
from mixlaw.units import Unit


def table_of(domains: int, targets: int, runs: int = 24) -> RunTable:
    """Runs at one size whose losses fall with one share each; the first targets bear the names of domains."""
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(domains), size=runs)
    columns: dict[str, object] = {"run": [f"r{i}" for i in range(runs)]}
    columns |= {f"mix/d{k}": shares[:, k] for k in range(domains)}
    for t in range(targets):
        noise = np.exp(2e-3 * rng.standard_normal(runs))
        columns[f"loss/{'d' if t < domains else 't'}{t}"] = (1.5 + 0.5 * np.exp(-5 * shares[:, t % domains])) * noise
    return RunTable.from_frame(pd.DataFrame(columns), units={"d0": Unit.BITS_PER_BYTE, "d1": Unit.BITS_PER_BYTE})


@pytest.fixture(scope="session")
def three() -> FitSet:
    """Three domains, two targets in bits per byte."""
    return fit_table(table_of(3, 2), Request(("exp",), bootstrap=20))


@pytest.fixture(scope="session")
def many() -> FitSet:
    """24 domains and 110 targets."""
    return fit_table(table_of(24, 110, runs=60), Request(("loglinear",), shrink=0.0))


@pytest.fixture(scope="session")
def two() -> FitSet:
    """Two domains."""
    return fit_table(table_of(2, 2), Request(("exp",)))
