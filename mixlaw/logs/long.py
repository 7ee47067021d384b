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

_METRIC = ("metric", "metric_name", "metrics", "key", "tag", "variable", "metricname", "name")
_VALUE = ("value", "metric_value", "metricvalue", "val", "score")


_SET = ("domain", "task", "dataset", "eval_set", "validation_set", "val_set", "eval_dataset", "set", "subset", "target")
_MEASURE = ("loss", "val_loss", "eval_loss", "bpb", "bits_per_byte", "ppl", "perplexity", "acc", "accuracy")
_AXES = (
    "step",
    "steps",
    "global_step",
    "iteration",
    "tokens",
    "n_tokens",
    "run",
    "run_id",
    "run_name",
    "name",
    "params",
)


@dataclass(frozen=True)
class Long:
    """Names of the columns that hold the name and the value of a metric.

    Attributes:
        metric: column of names.
        value: column of numbers.
        measure: what the numbers are, where the names are those of sets only.
    """

    metric: str
    value: str
    measure: str = ""


def find_long(sample: pd.DataFrame) -> Long | None:
    """Whether a table has one row per metric: a column of metric names that repeat beside one of values."""
    lower = {str(c).strip().lower(): str(c) for c in sample.columns}
    metric = next((lower[n] for n in _METRIC if n in lower), None)
    value = next((lower[n] for n in _VALUE if n in lower), None)
    if metric is not None and value is not None and _are_words(sample[metric]):
        return Long(metric, value)
    return _find_sets(sample, lower)


def _are_words(cells: pd.Series) -> bool:
    present = cells.dropna().astype(str)
    return len(present) > 0 and all(to_number(c) is None for c in present)


def _find_sets(sample: pd.DataFrame, lower: dict[str, str]) -> Long | None:
    """One row per validation set: the sets tell apart rows that run, step and size do not."""
    name = next((lower[n] for n in _SET if n in lower), None)
    values = [lower[n] for n in _MEASURE if n in lower]
    axes = [lower[n] for n in _AXES if n in lower]
    if name is None or len(values) != 1 or not axes or not _are_words(sample[name]):
        return None
    told_apart = not sample.duplicated([*axes, name]).any() and sample.duplicated(axes).any()
    return Long(name, values[0], values[0]) if told_apart else None


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
    wide = _spread(frame, long)
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


def _spread(frame: pd.DataFrame, long: Long) -> pd.DataFrame:
    """A column for each metric, with the value of each row in the column of its metric."""
    codes, found = pd.factorize(frame[long.metric].astype(str))
    wide = frame.drop(columns=[long.metric, long.value]).astype(object)
    cells = frame[long.value].astype(object)
    columns: dict[str, pd.Series] = {}
    for i, metric in enumerate(found):
        name = f"{metric}/{long.measure}" if long.measure else str(metric)
        values = cells.where(codes == i, None)
        columns[name] = wide[name].where(wide[name].notna(), values) if name in wide else values
    rest = wide.drop(columns=[n for n in columns if n in wide])
    return pd.concat([rest, pd.DataFrame(columns, index=frame.index)], axis=1)
