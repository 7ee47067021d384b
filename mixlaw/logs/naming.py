"""What a run is called: by a column, by its file or folder, or derived from mixture, size and tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from mixlaw.errors import InputError
from mixlaw.logs.source import Source
from mixlaw.units import human

GENERIC = re.compile(
    r"(?:(?:all|eval|train|test|predict)_results|log|logs|train(?:ing)?|trainer(?:_state|_log)?|metrics?|history|output|stdout|stderr|std\.?out|out|results?|"
    r"run|events\.out\.tfevents\..*|events|console|main|wandb-(?:summary|history)|all|metrics_step\d+|rank[-_]?\d+|data|table|stdin)(?:[_\-.]?\d*)",
    re.IGNORECASE,
)
_CONTAINER = re.compile(
    r"(?:checkpoint|step|iter|global_step|ckpt|epoch)[-_]?\d+\S*|files|logs?|wandb|tb|tensorboard|lightning_logs|"
    r"version_\d+|latest(?:-run)?|metrics|results?|evals?|output|trainer_output|checkpoints?|ckpts?|csv|csv_logs",
    re.IGNORECASE,
)
STEP = re.compile(r"(?:^|[^a-z])(?:step|checkpoint|iter|global_?step|ckpt)[-_=]?0*(\d+)(?![\d.]*[a-z])", re.IGNORECASE)


def run_by_place(source: Source) -> str:
    """Name of the run that a file belongs to: its own name, or the folder's where the name says nothing."""
    if not GENERIC.fullmatch(source.stem):
        return source.stem
    return folder_name(source) or source.stem


def place_of_run(source: Source) -> str:
    """The folder that holds the file or folder after which a run is named."""
    name = run_by_place(source)
    return str(next((p.parent for p in source.path.parents if p.name == name), source.path.parent))


def folder_name(source: Source) -> str:
    """The nearest folder above a file that names a run, below or at the folder that the user gave."""
    if source.name == "stdin":
        return ""
    parts = source.path.parts[:-1] if source.root is None else source.path.relative_to(source.root).parts[:-1]
    own = [p for p in parts if not _CONTAINER.fullmatch(p) and p not in ("/", ".", "..")]
    if not own and source.root is not None:
        return source.root.resolve().name
    return own[-1] if own else source.path.resolve().parent.name


def step_in(text: str) -> int | None:
    """The training step that a path or model name states, the last one named."""
    found = STEP.findall(text)
    return int(found[-1]) if found else None


def clean_ids(cells: pd.Series) -> pd.Series:
    """Run names as categories: ``1.0`` and `` 1`` are ``1``; a missing name stays missing."""
    codes, names = pd.factorize(cells)
    clean = [_clean_id(n) for n in names]
    return (
        as_runs(np.array([*clean, None], dtype=object)[codes], cells.index)
        if len(set(clean)) < len(clean)
        else (pd.Series(pd.Categorical.from_codes(codes, categories=pd.Index(clean, dtype=object)), index=cells.index))
    )


def as_runs(names: Any, index: pd.Index) -> pd.Series:
    """Run names as categories in order of appearance."""
    codes, seen = pd.factorize(pd.Series(names, index=index, dtype=object))
    return pd.Series(pd.Categorical.from_codes(codes, categories=pd.Index(seen, dtype=object)), index=index)


def per_run(runs: pd.Series, values: Mapping[str, float]) -> np.ndarray:
    """A number for each row by its run, NaN for runs without one."""
    known = [values.get(str(name), np.nan) for name in runs.cat.categories]
    return np.array([*known, np.nan])[runs.cat.codes.to_numpy()]


def rows_of_runs(runs: pd.Series, wanted: Callable[[str], bool]) -> np.ndarray:
    """Which rows are of runs whose name is wanted, shape (n,)."""
    names = [wanted(str(name)) for name in runs.cat.categories]
    return np.array([*names, False])[runs.cat.codes.to_numpy()]


def _clean_id(name: object) -> str:
    text = str(int(name)) if isinstance(name, float) and name.is_integer() else str(name).strip()
    return re.sub(r"^(\d+)\.0+$", r"\1", text)


def derive_runs(frame: pd.DataFrame, name: str, *, several: bool) -> tuple[pd.Series, str]:
    """Name runs where no column does: rows of one mixture and size with rising tokens form one run.

    Args:
        frame: canonical rows in the order of the file.
        name: name of the file, which is the run's when there is only one.
        several: there are other files, so that the names begin with the file's.

    Returns:
        A run name per row, and a remark.
    """
    constant = [
        c
        for c in frame.columns
        if c.startswith("mix/") or c in ("params", "params_active", "meta/model", "meta/dataset")
    ]
    keys = [frame[c].round(9) if frame[c].dtype == np.float64 else frame[c] for c in constant]
    group = frame.groupby(keys, sort=False, dropna=False).ngroup() if keys else pd.Series(0, index=frame.index)
    axis = next((c for c in ("step", "tokens") if c in frame and frame[c].notna().any()), None)
    if axis is None:
        _check_axis(frame)
        codes = np.arange(len(frame))
    else:
        codes = _segments(group.to_numpy(), frame[axis].to_numpy(dtype=np.float64), _present(frame))
    count = int(codes.max()) + 1 if len(codes) else 0
    if count == 1:
        return as_runs(np.full(len(frame), name, dtype=object), frame.index), f"one run, named by the file: {name}"
    names = [f"{name if several else 'run'}-{i + 1}" for i in range(count)]
    how = "each row is one" if axis is None else f"rows of one mixture and size with rising {axis} form one"
    runs = pd.Series(pd.Categorical.from_codes(codes, categories=pd.Index(names, dtype=object)), index=frame.index)
    return runs, f"no column names the runs: {how}, {count:,} runs"


def _check_axis(frame: pd.DataFrame) -> None:
    """Refuse rows that only an epoch orders: they are one run, but tokens cannot be counted in epochs."""
    if "meta/epoch" in frame and frame["meta/epoch"].dropna().duplicated().sum() < frame["meta/epoch"].count() - 1:
        hint = "Name a column with --map: {epoch: step}, and give --set tokens_per_step= (the tokens of an epoch)."
        raise InputError("a column of steps or tokens", "epochs only", hint=hint)


def split_by_size(frame: pd.DataFrame) -> tuple[pd.Series, str]:
    """Tell runs of several sizes that share a name apart by their size.

    Returns:
        A run name per row, and a remark ("" when every name has one size).
    """
    runs = frame["run"]
    if "params" not in frame:
        return runs, ""
    pairs = frame[["run", "params"]].dropna().drop_duplicates()
    shared = pairs["run"][pairs["run"].duplicated()].unique()
    if not len(shared):
        return runs, ""
    sizes = {p: human(p) for p in pairs["params"]}
    if len(set(sizes.values())) < len(sizes):
        sizes = {p: f"{p:.0f}" for p in sizes}
    split = runs.isin(shared) & frame["params"].notna()
    text = runs.astype(object)
    names = text.where(~split, text.astype(str) + "-" + frame["params"].map(sizes).astype(str))
    return as_runs(
        names, frame.index
    ), f"{len(shared):,} run names occur with several sizes (such as {shared[0]!r}): size added"


def _present(frame: pd.DataFrame) -> np.ndarray:
    """Which metrics each row has, shape (n, m)."""
    names = [c for c in frame.columns if c.startswith(("loss/", "bench/", "meta/train_loss"))]
    return np.column_stack([frame[c].notna() for c in names]) if names else np.ones((len(frame), 1), dtype=bool)


def _segments(group: np.ndarray, axis: np.ndarray, present: np.ndarray) -> np.ndarray:
    """Number the runs: within a group a value that falls begins a new one, unless rows are out of order.

    A value that stays begins a new run where both rows have the same metric: else they are parts of one checkpoint.
    """
    order = np.argsort(group, kind="stable")
    same = np.diff(group[order], prepend=-1) == 0
    rise = np.diff(axis[order], prepend=np.inf)
    metrics = present[order]
    again = np.append(False, (metrics[1:] & metrics[:-1]).any(axis=1))
    falls = (rise < 0) | ((rise == 0) & again)
    if (same & falls).sum() > len(axis) / 3:  # shuffled rows: the k-th time that a value occurs is the k-th run
        return _by_occurrence(group, axis)
    starts = ~same | (falls & ~_resumes(axis[order], ~same, same & (rise < 0)))
    codes = np.empty(len(axis), dtype=np.intp)
    codes[order] = np.cumsum(starts) - 1
    return _first_seen(codes)


def _resumes(axis: np.ndarray, begins: np.ndarray, falls: np.ndarray) -> np.ndarray:
    """Where a value falls, but not to the start of its run: a run that went on from an earlier checkpoint."""
    resumed = np.zeros(len(axis), dtype=bool)
    start = 0
    for place in np.flatnonzero(begins | falls):
        resumed[place] = not begins[place] and axis[place] > axis[start]
        if not resumed[place]:
            start = int(place)
    return resumed


def _by_occurrence(group: np.ndarray, axis: np.ndarray) -> np.ndarray:
    pairs = pd.DataFrame({"group": group, "axis": axis})
    nth = pairs.groupby(["group", "axis"], dropna=False).cumcount()
    return _first_seen(pairs.assign(nth=nth).groupby(["group", "nth"], sort=False).ngroup().to_numpy())


def _first_seen(codes: np.ndarray) -> np.ndarray:
    return pd.factorize(codes)[0].astype(np.intp)
