"""What a run is called: by a column, by its file or folder, or derived from mixture, size and tokens."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from mixlaw.logs.source import Source
from mixlaw.units import human

GENERIC = re.compile(
    r"(?:log|logs|train(?:ing)?|trainer(?:_state|_log)?|metrics?|history|output|stdout|stderr|std\.?out|out|results?|"
    r"run|events\.out\.tfevents\..*|events|console|main|wandb-(?:summary|history)|all|metrics_step\d+|rank_?0|data|table|stdin)(?:[_\-.]?\d*)",
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
    """Run names as text: ``1.0`` and `` 1`` are ``1``; a missing name stays missing."""
    names, codes = _factor(cells)
    clean = np.array([*(_clean_id(n) for n in names), None], dtype=object)
    return pd.Series(clean[codes], index=cells.index, dtype=object)


def _factor(cells: pd.Series) -> tuple[list[object], np.ndarray]:
    codes, names = pd.factorize(cells)
    return list(names), codes


def _clean_id(name: object) -> str:
    text = str(int(name)) if isinstance(name, float) and name.is_integer() else str(name).strip()
    return re.sub(r"^(\d+)\.0+$", r"\1", text)


def derive_runs(frame: pd.DataFrame, stem: str) -> tuple[pd.Series, str]:
    """Name runs where no column does: rows of one mixture and size with rising tokens form one run.

    Args:
        frame: canonical rows in the order of the file.
        stem: name of the file, which is the run's when there is only one.

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
        codes = np.arange(len(frame))
    else:
        codes = _segments(group.to_numpy(), frame[axis].to_numpy(dtype=np.float64))
    count = int(codes.max()) + 1 if len(codes) else 0
    if count == 1:
        return pd.Series(stem, index=frame.index, dtype=object), f"one run, named by the file: {stem}"
    names = np.array([f"{stem}-{i + 1}" if stem else f"run-{i + 1}" for i in range(count)], dtype=object)
    how = "each row is one" if axis is None else f"rows of one mixture and size with rising {axis} form one"
    return pd.Series(names[codes], index=frame.index, dtype=object), f"no column names the runs: {how}, {count:,} runs"


def split_by_size(frame: pd.DataFrame) -> tuple[pd.Series, str]:
    """Tell runs of several sizes that share a name apart by their size.

    Returns:
        A run name per row, and a remark ("" when every name has one size).
    """
    runs = frame["run"]
    if "params" not in frame:
        return runs, ""
    shared = frame.groupby("run")["params"].nunique()
    shared = shared[shared > 1]
    if not len(shared):
        return runs, ""
    sizes = {p: human(p) for p in frame["params"].dropna().unique()}
    if len(set(sizes.values())) < len(sizes):
        sizes = {p: f"{p:.0f}" for p in sizes}
    split = runs.isin(shared.index) & frame["params"].notna()
    names = runs.where(~split, runs + "-" + frame["params"].map(sizes))
    return names, f"{len(shared):,} run names occur with several sizes (such as {shared.index[0]!r}): size added"


def _segments(group: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """Number the runs: within a group a value that does not rise begins a new one, unless rows are out of order."""
    order = np.argsort(group, kind="stable")
    same = np.diff(group[order], prepend=-1) == 0
    falls = np.diff(axis[order], prepend=np.inf) <= 0
    starts = ~same | falls
    if (same & falls).sum() > len(axis) / 3:  # shuffled rows: the k-th time that a value occurs is the k-th run
        return _by_occurrence(group, axis)
    codes = np.empty(len(axis), dtype=np.intp)
    codes[order] = np.cumsum(starts) - 1
    return _first_seen(codes)


def _by_occurrence(group: np.ndarray, axis: np.ndarray) -> np.ndarray:
    pairs = pd.DataFrame({"group": group, "axis": axis})
    nth = pairs.groupby(["group", "axis"], dropna=False).cumcount()
    return _first_seen(pairs.assign(nth=nth).groupby(["group", "nth"], sort=False).ngroup().to_numpy())


def _first_seen(codes: np.ndarray) -> np.ndarray:
    return pd.factorize(codes)[0].astype(np.intp)
