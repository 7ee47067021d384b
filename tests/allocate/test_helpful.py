"""The one more run that would help most."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mixlaw.allocate.helpful import most_helpful
from mixlaw.errors import InputError
from mixlaw.fit import FitOptions
from mixlaw.fits import FitSet
from mixlaw.fitting import Request as FitRequest
from mixlaw.fitting import fit_table
from mixlaw.logs import read_runs
from mixlaw.optimize import Request, Scale


@pytest.fixture(scope="module")
def fits(known_law: Path) -> FitSet:
    return fit_table(read_runs(known_law), FitRequest(("capacity",), FitOptions(starts=3)))


def test_it_lowers_the_regret_and_costs_no_more_than_the_dearest_run(fits: FitSet) -> None:
    found = most_helpful(fits, Request(Scale(1e9, 20e9)))
    assert 0 <= found.after <= found.before
    assert found.run.size.params in np.unique(fits.seen.params)
    dearest = 6 * float(np.max(fits.seen.params * fits.seen.tokens))
    assert found.run.size.flops <= dearest * (1 + 1e-9)
    assert sum(found.run.mixture.values()) == pytest.approx(1, abs=1e-6)
    assert set(found.run.mixture) <= set(fits.domains)


def test_the_same_seed_gives_the_same_run(fits: FitSet) -> None:
    one, two = (most_helpful(fits, Request(Scale(1e9, 20e9)), seed=1) for _ in range(2))
    assert one == two


def test_it_needs_a_scale_and_runs_with_scales(fits: FitSet) -> None:
    with pytest.raises(InputError, match="size and tokens of the run to be trained"):
        most_helpful(fits, Request(Scale(1e9, None)))
    unknown = replace(fits, seen=replace(fits.seen, tokens=np.full(len(fits.seen.runs), np.nan)))
    with pytest.raises(InputError, match="size and tokens of every run"):
        most_helpful(unknown, Request(Scale(1e9, 20e9)))
