"""The run table: what is refused, what is repaired and counted, and that reading it again changes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mixlaw.errors import InputError
from mixlaw.runs import Repairs, RunTable, csv_text
from mixlaw.units import Unit


def frame(**changes: Any) -> pd.DataFrame:
    """Two runs, three rows; ``changes`` replace or add columns."""
    columns: dict[str, Any] = {
        "run": ["a", "a", "b"],
        "step": [10, 20, 10],
        "params": [1e6] * 3,
        "mix/web": [0.6, 0.6, 0.1],
        "mix/code": [0.4, 0.4, 0.9],
        "loss/web": [3.5, 3.25, 3.75],
    }
    columns |= {k.replace("__", "/"): v for k, v in changes.items()}
    return pd.DataFrame(columns)


def test_columns_and_names() -> None:
    table = RunTable.from_frame(frame(bench__arc=[0.25, 0.3, 0.2], meta__note=["x", "y", "z"]))
    assert (table.domains, table.targets, table.benchmarks) == (("web", "code"), ("web",), ("arc",))
    assert table.runs == ("a", "b") and len(table) == 3
    assert table.run_codes.tolist() == [0, 0, 1] and table.mixture_codes.tolist() == [0, 0, 1]
    assert table.loss("code").tolist() != table.loss("web").tolist()
    assert np.isnan(table.column("tokens")).all()
    assert table.last().column("step").tolist() == [20, 10]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"params": [1e6, 0, 1e6]}, "row 2: Expected a finite number above 0 in column 'params'"),
        ({"params": [1e6, np.inf, 1e6]}, "row 2: Expected a finite number above 0 in column 'params'. Got inf"),
        ({"step": [10, -1, 10]}, "row 2: Expected a finite number of at least 0 in column 'step'"),
        ({"loss__web": [3, 0, 3]}, "row 2: Expected a loss above 0"),
        ({"loss__web": [3, "x", 3]}, "row 2: Expected a number in column 'loss/web'"),
        ({"mix__web": [0.6, -0.1, 0.1]}, "row 2: Expected a finite share >= 0 in column 'mix/web'"),
        ({"mix__web": [0.6, np.nan, 0.1]}, "row 2: Expected a finite share >= 0 in column 'mix/web'. Got nothing"),
        ({"mix__web": [0.6, 0.62, 0.1]}, "row 2: Expected shares that sum to 1 within 0.005"),
        ({"bench__arc": [0.1, 25.0, 0.2]}, "row 2: Expected an accuracy from 0 to 1"),
        ({"speed": [1, 2, 3]}, "Expected run-table columns"),
        ({"meta__unit/web": ["bits/byte", "nats", "nats"]}, "Expected one unit in column 'meta/unit/web'"),
        ({"meta__unit/web": ["furlongs"] * 3}, "Expected a unit among"),
    ],
)
def test_what_is_refused(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        RunTable.from_frame(frame(**changes))
    assert sentence in str(caught.value)


def test_empty_and_nameless_tables_are_refused() -> None:
    with pytest.raises(InputError, match="at least one row"):
        RunTable.from_frame(frame().iloc[:0])
    with pytest.raises(InputError, match="a column 'run'"):
        RunTable.from_frame(frame().drop(columns="run"))
    with pytest.raises(InputError, match="each column once"):
        RunTable.from_frame(pd.concat([frame(), frame()[["loss/web"]]], axis=1))


def test_the_place_of_a_row_is_the_callers() -> None:
    with pytest.raises(InputError, match=r"runs.csv, line 9: Expected a loss"):
        RunTable.from_frame(frame(loss__web=[3, 3, -1]), where=lambda row: f"runs.csv, line {row + 7}")


def test_rounding_is_rescaled_and_counted_beyond_rounding_only() -> None:
    repairs = Repairs()
    table = RunTable.from_frame(frame(mix__web=[0.603, 0.6, 0.1 + 1e-13]), repairs=repairs)
    assert repairs.counts == {"mixtures rescaled to sum to 1": 1}
    np.testing.assert_allclose(table.mixtures.sum(axis=1), 1, rtol=1e-12)
    assert table.mixtures[0].tolist() == pytest.approx([0.603 / 1.003, 0.4 / 1.003])
    again = Repairs()
    assert RunTable.from_frame(table.frame, repairs=again).fingerprint == table.fingerprint
    assert not again.counts


def test_percent_divergence_and_repeats_are_counted() -> None:
    repairs = Repairs()
    table = RunTable.from_frame(
        frame(mix__web=[60, 60, 10], mix__code=[40, 40, 90], step=[10, 10, 10], loss__web=[3.5, 3.0, np.inf]),
        repairs=repairs,
    )
    assert repairs.counts == {
        "infinite loss/web (diverged) set to missing": 1,
        "mixtures in percent divided by 100": 3,
        "repeated (run, step) merged: the last written is kept": 1,
    }
    assert table.loss("web")[0] == 3.0 and np.isnan(table.loss("web")[1])
    np.testing.assert_allclose(table.mixtures, [[0.6, 0.4], [0.1, 0.9]])


def test_strict_turns_every_repair_into_an_error() -> None:
    with pytest.raises(InputError, match=r"no repairs \(--strict\). Got 1 x mixtures rescaled"):
        RunTable.from_frame(frame(mix__web=[0.603, 0.6, 0.1]), repairs=Repairs(strict=True))


def test_rows_are_ordered_within_runs_and_runs_as_they_come() -> None:
    mixed = frame().iloc[[1, 2, 0]]
    table = RunTable.from_frame(mixed)
    assert table.frame["run"].tolist() == ["a", "a", "b"]
    assert table.column("step").tolist() == [10, 20, 10]


@pytest.mark.parametrize("names", [[1, 1, 2], [1.0, 1.0, 2.0], ["1", "1", "2"], pd.Categorical(["1", "1", "2"])])
def test_run_names_are_text(names: Any) -> None:
    assert RunTable.from_frame(frame(run=names)).runs == ("1", "2")


def test_units_are_written_and_read_again(tmp_path: Path) -> None:
    table = RunTable.from_frame(frame(), units={"web": Unit.BITS_PER_BYTE})
    assert table.unit("web") is Unit.BITS_PER_BYTE and table.unit("other") is Unit.NATS
    table.write(tmp_path / "runs.csv")
    again = RunTable.from_frame(pd.read_csv(tmp_path / "runs.csv"))
    assert again.units == {"web": Unit.BITS_PER_BYTE}
    assert again.frame.equals(table.frame)


def test_the_frame_to_write_is_not_the_tables_own() -> None:
    table = RunTable.from_frame(frame())
    shown = table.to_frame()
    shown.columns = [c.upper() for c in shown.columns]
    assert table.targets == ("web",) and "run" in table.frame


def test_fingerprint_follows_the_numbers() -> None:
    table = RunTable.from_frame(frame())
    assert RunTable.from_frame(frame()).fingerprint == table.fingerprint
    assert RunTable.from_frame(frame(loss__web=[3.5, 3.25, 3.7500000001])).fingerprint != table.fingerprint
    assert RunTable.from_frame(frame(run=["a", "a", "c"])).fingerprint != table.fingerprint


def test_text_of_a_table_is_that_of_pandas(rng: np.random.Generator) -> None:
    numbers = rng.standard_normal(60) * 10.0 ** rng.integers(-20, 20, 60)
    numbers[:6] = [np.nan, np.inf, -np.inf, 0.0, 1e16, 3145728000.0]
    names = ["plain", 'with "quotes"', "a, b", "two\nlines", "", None, "ü"]
    made = pd.DataFrame(
        {
            "run": [names[i % 7] for i in range(60)],
            "loss/x, y": numbers,
            "params": np.repeat([1e6, 410e6, np.nan], 20),
            "meta/count": np.arange(60),
            "meta/kind": pd.Categorical(["p", "q", None] * 20),
        }
    )
    assert "".join(csv_text(made, rows=7)) == made.to_csv(index=False)
