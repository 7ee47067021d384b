from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mixlaw.check.noise import seed_noise
from mixlaw.runs import RunTable


def table(*, repeats: int, sd: float, seed: int = 0) -> RunTable:
    """``repeats`` runs of each of 40 configurations, log losses scattered by ``sd``, an early row in each run."""
    rng = np.random.default_rng(seed)
    rows = []
    for configuration in range(40):
        share, size = (configuration + 1) / 50, 1e6 * 2 ** (configuration % 3)
        for repeat in range(repeats):
            scatter = np.exp(sd * rng.standard_normal(2))
            for tokens, loss in ((1e8, 9.0), (2e9, 3.0)):
                rows.append(
                    {
                        "run": f"{configuration}-{repeat}", "step": int(tokens), "tokens": tokens, "params": size,
                        "mix/a": share, "mix/b": 1 - share,
                        "loss/a": loss * scatter[0], "loss/b": loss * scatter[1],
                    }
                )  # fmt: skip
    return RunTable.from_frame(pd.DataFrame(rows))


def test_scatter_is_found_from_repeats() -> None:
    found = seed_noise(table(repeats=3, sd=0.01))
    assert found is not None
    assert (found.configurations, found.runs) == (40, 120)
    assert found.relative["a"] == pytest.approx(0.01, rel=0.25)
    assert found.mean_loss == pytest.approx(3.0 * 0.01 / np.sqrt(2), rel=0.25)
    assert found.floor == pytest.approx(np.sqrt(2 / np.pi) * np.mean(list(found.relative.values())))


def test_without_repeats_nothing_is_said() -> None:
    assert seed_noise(table(repeats=1, sd=0.01)) is None


def test_another_size_is_no_repeat() -> None:
    runs = table(repeats=2, sd=0.0)
    other = runs.frame.assign(params=np.where(runs.frame["run"].str.endswith("-1"), 5e9, runs.frame["params"]))
    assert seed_noise(RunTable.from_frame(other)) is None
