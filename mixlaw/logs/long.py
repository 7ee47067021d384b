"""Tables with one row per metric: turned into one row per checkpoint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mixlaw.logs.names import recognise, stated_units
from mixlaw.logs.numbers import canonical, rows_where, to_number
from mixlaw.logs.options import IngestOptions
from mixlaw.logs.part import Part, Skip
from mixlaw.logs.source import Source

_METRIC = ("metric", "metric_name", "metrics", "key", "tag", "variable", "name")
_VALUE = ("value", "metric_value", "val", "score")


@dataclass(frozen=True)
class Long:
    """Names of the columns that hold the name and the value of a metric."""

    metric: str
    value: str


def find_long(sample: pd.DataFrame) -> Long | None:
    """Whether a table has one row per metric: a column of metric names that repeat beside one of values."""
    lower = {str(c).strip().lower(): str(c) for c in sample.columns}
    metric = next((lower[n] for n in _METRIC if n in lower), None)
    value = next((lower[n] for n in _VALUE if n in lower), None)
    if metric is None or value is None:
        return None
    cells = sample[metric].dropna().astype(str)
    words = cells[cells.map(lambda c: to_number(c) is None)]
    return Long(metric, value) if len(words) and len(words) == len(cells) else None


def widen(
    frame: pd.DataFrame,
    long: Long,
    source: Source,
    options: IngestOptions,
    *,
    kind: str,
    decimal: str = ".",
    first_line: int = 1,
) -> Iterator[Part]:
    """Turn rows of one metric each into rows of one checkpoint each.

    The rows of the part are still one per line of the file, with one metric filled in each: merging them by run and
    step is what all parts go through, and counts them.

    Args:
        frame: rows with the names of the file.
        long: the columns of metric names and values.
        source: the file.
        options: what the user says.
        kind: name of the reader.
        decimal: decimal point of the file.
        first_line: line of the first row.
    """
    lines = np.arange(first_line, first_line + len(frame), dtype=np.int64)
    skipped = tuple(frame.attrs.get("skipped", ()))
    named = frame[long.metric].notna().to_numpy()
    if not named.all():
        skipped += (Skip("no metric name", int((~named).sum()), f"{source.name}, line {lines[~named][0]}"),)
    frame, lines = frame[named].reset_index(drop=True), lines[named]
    codes, metrics = pd.factorize(frame[long.metric].astype(str))
    wide = frame.drop(columns=[long.metric, long.value])
    cells = frame[long.value].astype(object)
    spread = {str(m): cells.where(codes == i, None) for i, m in enumerate(metrics) if str(m) not in wide}
    wide = pd.concat([wide, pd.DataFrame(spread)], axis=1)
    plan = recognise(wide, options, paired=False)
    content = canonical(wide, plan.used, where=rows_where(source.name, lines), decimal=decimal)
    yield Part(
        source.name,
        kind,
        pd.DataFrame(content, index=pd.RangeIndex(len(wide))),
        lines,
        columns=plan.columns,
        units=stated_units(plan.columns),
        notes=(f"one row per metric: names in {long.metric!r}, values in {long.value!r}", *plan.notes),
        skipped=skipped,
        table=True,
    )
