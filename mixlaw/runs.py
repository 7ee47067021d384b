"""The run table: one row per (run, checkpoint), checked once and then trusted.

Columns: ``run, step, tokens, params, [params_active], [flops], mix/<domain>..., loss/<target>...,
bench/<task>..., meta/...``. ``mix/`` holds token shares, ``loss/`` one unit per column, ``bench/`` accuracies
in 0-1. A column that a table lacks is absent, a cell that it lacks is NaN.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mixlaw.errors import InputError, MissingExtraError
from mixlaw.files import replacing
from mixlaw.mixture import SUM_TOLERANCE
from mixlaw.units import Unit, shorten

Floats = NDArray[np.float64]

NUMBERS = ("step", "tokens", "params", "params_active", "flops")
_POSITIVE = ("tokens", "params", "params_active", "flops")
_ROUNDING = 1e-6
_EXACT = 1e-12  # sums closer to 1 are left alone, so that a table read again is the same table


@dataclass
class Repairs:
    """What was changed or left out on the way in: sentence -> number of rows (or cells)."""

    counts: Counter[str] = field(default_factory=Counter)
    strict: bool = False

    def add(self, what: str, number: int, *, where: str = "") -> None:
        """Count a repair.

        Raises:
            InputError: under ``strict``, where every repair is an error.
        """
        if number <= 0:
            return
        if self.strict:
            raise InputError("no repairs (--strict)", f"{number} x {what}", where=where)
        self.counts[what] += int(number)


@dataclass(frozen=True)
class RunTable:
    """A checked run table.

    Attributes:
        frame: canonical columns, rows grouped by run and in order of step (or tokens) within a run.
        units: unit of each loss target; absent means nats per token.
    """

    frame: pd.DataFrame
    units: Mapping[str, Unit] = field(default_factory=dict)

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        *,
        units: Mapping[str, Unit] | None = None,
        where: Callable[[int], str] | None = None,
        repairs: Repairs | None = None,
    ) -> RunTable:
        """Check a frame with canonical column names and make the repairs that are allowed.

        Args:
            frame: rows as read; other columns than the canonical ones are refused.
            units: unit by target where it is not nats per token.
            where: names the place of a row for messages (row position -> "runs.csv, row 3").
            repairs: collects what was changed; with ``strict`` every repair is an error.

        Raises:
            InputError: with place, column and value of the first cell that cannot be used.
        """
        repairs = repairs if repairs is not None else Repairs()
        where = where or (lambda row: f"row {row + 1}")
        if frame.empty:
            raise InputError("at least one row", "none")
        frame = _check_columns(frame).reset_index(drop=True)
        frame, units = _take_units(frame, dict(units or {}))
        frame["run"] = _run_names(frame["run"])
        for name in frame.columns[frame.columns.str.match(r"mix/|loss/|bench/") | frame.columns.isin(NUMBERS)]:
            if frame[name].dtype != np.float64:
                frame[name] = _numeric(frame[name], where)
        _check_numbers(frame, where)
        _check_losses(frame, where, repairs)
        _check_benchmarks(frame, where)
        _check_mixtures(frame, where, repairs)
        return cls(_ordered(frame, repairs), units)

    @cached_property
    def domains(self) -> tuple[str, ...]:
        """Names of the training domains."""
        return self._names("mix/")

    @cached_property
    def targets(self) -> tuple[str, ...]:
        """Names of the loss targets."""
        return self._names("loss/")

    @cached_property
    def benchmarks(self) -> tuple[str, ...]:
        """Names of the benchmark tasks."""
        return self._names("bench/")

    def _names(self, prefix: str) -> tuple[str, ...]:
        return tuple(c[len(prefix) :] for c in self.frame.columns if c.startswith(prefix))

    def __len__(self) -> int:
        return len(self.frame)

    @cached_property
    def runs(self) -> tuple[str, ...]:
        """Run names in order of appearance."""
        return tuple(pd.unique(self.frame["run"]))

    def column(self, name: str) -> Floats:
        """A numeric column, shape (n,); all NaN where the table lacks it."""
        if name not in self.frame.columns:
            return np.full(len(self), np.nan)
        return self.frame[name].to_numpy(dtype=np.float64)

    def loss(self, target: str) -> Floats:
        """Losses of one target, shape (n,), NaN where missing."""
        return self.column(f"loss/{target}")

    @cached_property
    def mixtures(self) -> Floats:
        """Token shares, shape (n, K), in the order of ``domains``."""
        return self.frame[[f"mix/{d}" for d in self.domains]].to_numpy(dtype=np.float64)

    def unit(self, target: str) -> Unit:
        """Unit of a loss target."""
        return self.units.get(target, Unit.NATS)

    def select(self, rows: NDArray[np.bool_]) -> RunTable:
        """The rows where ``rows`` (n,) is true."""
        return RunTable(self.frame[rows].reset_index(drop=True), self.units)

    def last(self) -> RunTable:
        """The last checkpoint of each run."""
        return self.select(~self.frame["run"].duplicated(keep="last").to_numpy())

    @cached_property
    def run_codes(self) -> NDArray[np.intp]:
        """Index of each row's run in ``runs``, shape (n,)."""
        return pd.factorize(self.frame["run"])[0].astype(np.intp)

    @cached_property
    def mixture_codes(self) -> NDArray[np.intp]:
        """Index of each row's mixture among the distinct mixtures, shape (n,)."""
        if not self.domains:
            return np.zeros(len(self), dtype=np.intp)
        rounded = pd.DataFrame(np.round(self.mixtures, 9))
        return rounded.groupby(list(rounded.columns), sort=False).ngroup().to_numpy().astype(np.intp)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the content, for fit files: the same numbers give the same text."""
        digest = hashlib.sha256("\x1f".join(self.frame.columns).encode())
        digest.update("\x1f".join(self.frame["run"].astype(str)).encode())
        numbers = self.frame.select_dtypes("number").to_numpy(dtype=np.float64)
        digest.update(np.ascontiguousarray(numbers).tobytes())
        return f"sha256:{digest.hexdigest()[:16]}"

    def to_frame(self) -> pd.DataFrame:
        """The table as it is written to a file: units other than nats in ``meta/unit/`` columns."""
        other = {f"meta/unit/{t}": u.value for t, u in self.units.items() if u is not Unit.NATS}
        return (
            pd.concat([self.frame, pd.DataFrame(other, index=self.frame.index)], axis=1)
            if other
            else self.frame.copy(deep=False)
        )

    def write(self, path: Path) -> None:
        """Write a CSV (or, by suffix, Parquet) file, whole or not at all.

        Raises:
            MissingExtraError: for Parquet without the extra ``parquet``.
        """
        if path.suffix == ".parquet" and find_spec("pyarrow") is None:
            raise MissingExtraError("pyarrow", "parquet")
        with replacing(path) as temporary:
            if path.suffix == ".parquet":
                self.to_frame().to_parquet(temporary, index=False)
            else:
                with temporary.open("w", encoding="utf-8", newline="") as file:
                    file.writelines(csv_text(self.to_frame()))


def csv_text(frame: pd.DataFrame, *, rows: int = 20_000) -> Iterator[str]:
    """A frame as CSV text, some rows at a time: what ``frame.to_csv(index=False)`` gives, several times faster."""
    yield ",".join(_texts(pd.Series(frame.columns, dtype=object))) + "\n"
    for start in range(0, len(frame), rows):
        piece = frame.iloc[start : start + rows]
        yield "\n".join(map(",".join, zip(*(_texts(piece[c]) for c in piece), strict=True))) + "\n"


def _texts(column: pd.Series) -> list[str]:
    """Cells as text with all digits, "" for a missing one; values that repeat are written once."""
    codes, values = pd.factorize(column)
    write = repr if column.dtype == np.float64 else _quoted
    if column.dtype == np.float64 and 2 * len(values) > len(column):
        numbers = column.to_numpy()
        texts = list(map(repr, numbers.tolist()))
        for row in np.flatnonzero(np.isnan(numbers)):
            texts[row] = ""
        return texts
    written = np.array([*map(write, values.tolist()), ""], dtype=object)
    return list(written[codes])


def _quoted(value: object) -> str:
    text = str(value)
    return '"' + text.replace('"', '""') + '"' if re.search(r'[",\r\n]', text) else text


def _check_columns(frame: pd.DataFrame) -> pd.DataFrame:
    doubled = frame.columns[frame.columns.duplicated()]
    if len(doubled):
        raise InputError("each column once", f"{doubled[0]!r} twice")
    if "run" not in frame.columns:
        raise InputError("a column 'run'", f"columns {', '.join(map(repr, frame.columns[:8]))}")
    other = [c for c in frame.columns if not re.match(r"run$|mix/.|loss/.|bench/.|meta/.", c) and c not in NUMBERS]
    if other:
        raise InputError("run-table columns (run, step, tokens, params, mix/..., loss/...)", repr(other[0]))
    order = ["run", *NUMBERS]
    prefixes = ("mix/", "loss/", "bench/", "meta/")
    columns = [c for c in order if c in frame.columns]
    columns += [c for p in prefixes for c in frame.columns if c.startswith(p)]
    return frame if columns == list(frame.columns) else frame[columns]


def _run_names(runs: pd.Series) -> pd.Series:
    """Run names as text, each distinct one looked at once."""
    codes, names = pd.factorize(runs, use_na_sentinel=False)
    return pd.Series(np.array([_run_name(n) for n in names], dtype=object)[codes], index=runs.index, name="run")


def _run_name(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _take_units(frame: pd.DataFrame, units: dict[str, Unit]) -> tuple[pd.DataFrame, dict[str, Unit]]:
    columns = [c for c in frame.columns if c.startswith("meta/unit/")]
    for column in columns:
        names = frame[column].dropna().unique()
        if len(names) > 1:
            raise InputError(f"one unit in column {column!r}", ", ".join(map(str, names)))
        if len(names):
            units.setdefault(column.removeprefix("meta/unit/"), Unit.named(str(names[0])))
    return frame.drop(columns=columns), {t: u for t, u in units.items() if u is not Unit.NATS}


def _numeric(column: pd.Series, where: Callable[[int], str]) -> pd.Series:
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        return column.astype(np.float64)
    numbers = pd.to_numeric(column, errors="coerce")
    text = column.astype(str).str.strip().str.lower()
    bad = numbers.isna() & column.notna() & ~text.isin(["", "nan", "n/a", "na", "none", "null"])
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise InputError(f"a number in column {column.name!r}", repr(column.iloc[row]), where=where(row))
    return numbers.astype(np.float64)


def _first(bad: pd.Series | NDArray[np.bool_]) -> int | None:
    rows = np.flatnonzero(np.asarray(bad))
    return int(rows[0]) if len(rows) else None


def _check_numbers(frame: pd.DataFrame, where: Callable[[int], str]) -> None:
    for name in (n for n in NUMBERS if n in frame.columns):
        column = frame[name]
        lowest = "above 0" if name in ("params", "params_active") else "of at least 0"
        bad = np.isinf(column) | ((column <= 0) if "above" in lowest else (column < 0))
        row = _first(bad)
        if row is not None:
            raise InputError(f"a finite number {lowest} in column {name!r}", f"{column[row]:g}", where=where(row))


def _check_losses(frame: pd.DataFrame, where: Callable[[int], str], repairs: Repairs) -> None:
    for name in (c for c in frame.columns if c.startswith("loss/")):
        column = frame[name]
        row = _first(column <= 0)
        if row is not None:
            hint = "A loss of 0 is usually a metric that was never logged: leave the cell empty."
            raise InputError(f"a loss above 0 in column {name!r}", f"{column[row]:g}", where=where(row), hint=hint)
        infinite = np.isinf(column)
        repairs.add(f"infinite {name} (diverged) set to missing", int(infinite.sum()))
        frame[name] = column.mask(infinite)


def _check_benchmarks(frame: pd.DataFrame, where: Callable[[int], str]) -> None:
    for name in (c for c in frame.columns if c.startswith("bench/")):
        row = _first((frame[name] < 0) | (frame[name] > 1))
        if row is not None:
            hint = "Divide percentages by 100 (--map can do it)."
            raise InputError(
                f"an accuracy from 0 to 1 in column {name!r}",
                f"{frame[name][row]:g}",
                where=where(row),
                hint=hint,
            )


def _check_mixtures(frame: pd.DataFrame, where: Callable[[int], str], repairs: Repairs) -> None:
    columns = [c for c in frame.columns if c.startswith("mix/")]
    if not columns:
        return
    sums = np.zeros(len(frame))
    for name in columns:
        shares = frame[name].to_numpy()
        row = _first(~np.isfinite(shares) | (shares < 0))
        if row is not None:
            got = "nothing" if np.isnan(shares[row]) else f"{shares[row]:g}"
            hint = "Write 0 for a domain that the run does not use."
            raise InputError(f"a finite share >= 0 in column {name!r}", got, where=where(row), hint=hint)
        sums += shares
    scale = 1.0
    if np.all(np.abs(sums - 100) <= 100 * SUM_TOLERANCE):
        repairs.add("mixtures in percent divided by 100", len(frame))
        scale, sums = 100.0, sums / 100
    row = _first(np.abs(sums - 1) > SUM_TOLERANCE * (1 + 1e-9))
    if row is not None:
        raise InputError(
            f"shares that sum to 1 within {SUM_TOLERANCE} over {shorten(columns, 4)}",
            f"a sum of {sums[row]:.6g}",
            where=where(row),
            hint="Mend the row, or leave its run out with mixlaw ingest --skip RUN.",
        )
    repairs.add("mixtures rescaled to sum to 1", int((np.abs(sums - 1) > _ROUNDING).sum()))
    divisor = np.where(np.abs(sums - 1) > _EXACT, sums, 1.0) * scale
    if np.any(divisor != 1):
        for name in columns:
            frame[name] = frame[name].to_numpy() / divisor


def _ordered(frame: pd.DataFrame, repairs: Repairs) -> pd.DataFrame:
    """Sort by step (or tokens) within runs and merge repeated checkpoints, keeping the last written."""
    key = next((k for k in ("step", "tokens") if k in frame.columns and frame[k].notna().any()), None)
    runs = pd.factorize(frame["run"])[0]
    axis = None if key is None else frame[key].to_numpy()
    if not _in_order(runs, axis):
        keys = [runs] if axis is None else [axis, runs]
        frame = frame.iloc[np.lexsort(keys)]
    if key is None:
        return frame.reset_index(drop=True)
    if _in_order(runs, axis, strictly=True):
        return frame.reset_index(drop=True)
    repeated = frame.duplicated(["run", key], keep="last") & frame[key].notna()
    repairs.add(f"repeated (run, {key}) merged: the last written is kept", int(repeated.sum()))
    return (frame[~repeated] if repeated.any() else frame).reset_index(drop=True)


def _in_order(runs: NDArray[np.intp], axis: Floats | None, *, strictly: bool = False) -> bool:
    """Whether rows are grouped by run and in order within each, ``strictly`` without a repeated checkpoint."""
    step = np.diff(runs)
    if axis is None:
        return bool((step >= 0).all())
    rise = np.diff(axis) > 0 if strictly else np.diff(axis) >= 0
    return bool((step >= 0).all() and ((step > 0) | rise).all())
