"""Ways to split a run table into a part to fit on and a part to be judged on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixlaw.errors import InputError, UsageError
from mixlaw.runs import RunTable
from mixlaw.units import human

FOLDS = 5
SAME_SIZE = 1.02
"""Sizes within 2 % of each other count as one size."""


@dataclass(frozen=True)
class Split:
    """One held-out part.

    Attributes:
        name: what is held out, in words.
        train: rows to fit on, shape (n,).
        test: rows to be judged on, shape (n,): last checkpoints only.
    """

    name: str
    train: NDArray[np.bool_]
    test: NDArray[np.bool_]


def splits(table: RunTable, how: str | None = None, *, seed: int = 0) -> list[Split]:
    """Split a table: ``largest``, ``mixtures``, ``longest`` or ``column=value``; None takes the hardest possible.

    Raises:
        UsageError: for a way that does not exist.
        InputError: when the table cannot be split that way.
    """
    if how is None:
        how = "largest" if len(size_levels(table)) >= 3 else "mixtures"
    if "=" in how:
        return [_by_value(table, how)]
    ways = {"largest": _largest, "mixtures": _mixtures, "longest": _longest}
    if how not in ways:
        raise UsageError(f"--holdout {', '.join(ways)} or column=value", repr(how))
    return ways[how](table, seed)


def inner_splits(table: RunTable, *, seed: int = 0) -> list[Split]:
    """The hardest split of a training part that leaves every law something to fit.

    The largest size where at least two smaller ones remain, so that the effect of size can be fitted without it;
    else folds of mixtures; none where mixtures are too few for that.
    """
    if len(size_levels(table)) >= 3:
        return _largest(table, seed)
    if int(table.mixture_codes.max()) + 1 >= 2 * FOLDS:
        return _mixtures(table, seed)
    return []


def size_levels(table: RunTable) -> NDArray[np.float64]:
    """Distinct model sizes in rising order, those within 2 % of each other as one."""
    sizes = np.unique(table.column("params")[np.isfinite(table.column("params"))])
    levels: list[float] = []
    for size in sizes:
        if not levels or size > SAME_SIZE * levels[-1]:
            levels.append(float(size))
    return np.array(levels)


def last_rows(table: RunTable) -> NDArray[np.bool_]:
    """Mask of the last checkpoint of each run."""
    return np.asarray(~table.frame["run"].duplicated(keep="last").to_numpy())


def _largest(table: RunTable, seed: int) -> list[Split]:
    levels = size_levels(table)
    if len(levels) < 2:
        raise InputError("at least two model sizes for --holdout largest", f"{len(levels)}", hint="Try mixtures.")
    top = table.column("params") >= levels[-1]
    return [Split(f"largest size, {human(levels[-1])}", ~top, top & last_rows(table))]


def _mixtures(table: RunTable, seed: int) -> list[Split]:
    codes = table.mixture_codes
    count = int(codes.max()) + 1
    if count < 2 * FOLDS:
        raise InputError(
            f"at least {2 * FOLDS} mixtures for --holdout mixtures",
            f"{count}",
            hint="Hold out the largest of two sizes or more (--holdout largest), or late checkpoints (longest).",
        )
    fold = np.random.default_rng(seed).permutation(count) % FOLDS
    last = last_rows(table)
    return [
        Split(f"mixtures, fold {k + 1} of {FOLDS}", fold[codes] != k, (fold[codes] == k) & last) for k in range(FOLDS)
    ]


def _longest(table: RunTable, seed: int) -> list[Split]:
    tokens, params = table.column("tokens"), table.column("params")
    if not np.isfinite(tokens).all():
        raise InputError("tokens in every row for --holdout longest", "empty cells")
    levels = size_levels(table)
    size = np.searchsorted(levels, params * SAME_SIZE) if len(levels) else np.zeros(len(table), dtype=int)
    most = np.zeros(int(size.max()) + 1)
    np.maximum.at(most, size, tokens)
    late = tokens > 0.5 * most[size]
    if late.all() or not late.any():
        raise InputError("checkpoints on both sides of half the longest run", "one side only")
    return [Split("beyond half the tokens of each size", ~late, late & last_rows(table))]


def _by_value(table: RunTable, how: str) -> Split:
    column, _, value = how.partition("=")
    if column not in table.frame.columns:
        raise UsageError(f"--holdout with a column among {', '.join(table.frame.columns[:8])}...", repr(column))
    cells = table.frame[column]
    if cells.dtype.kind in "fi":
        from mixlaw.units import parse_number

        wanted = parse_number(value, name=f"--holdout {column}")
        mask = np.isclose(cells.to_numpy(dtype=float), wanted, rtol=SAME_SIZE - 1)
    else:
        mask = (cells.astype(str) == value).to_numpy(dtype=bool)
    if not mask.any() or mask.all():
        raise InputError(f"rows on both sides of {how}", f"{int(mask.sum())} of {len(mask)} held out")
    return Split(how, ~mask, mask & last_rows(table))
