"""What any law has to beat: predictions and choices that need no law."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixlaw.check.holdout import Split, last_rows
from mixlaw.errors import InputError
from mixlaw.mixture import Mixture
from mixlaw.runs import RunTable

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Baseline:
    """A rule of thumb, judged like a law.

    Attributes:
        name: of the rule.
        predicted: losses by target, shape (T, n), or only an order of preference (see ``order_only``).
        order_only: ``predicted`` ranks mixtures and is no loss: errors mean nothing, choices do.
        lacks: why the rule could not be applied; empty if it was.
    """

    name: str
    predicted: Floats
    order_only: bool = False
    lacks: str = ""


def baselines(table: RunTable, parts: list[Split], natural: Mixture | None) -> list[Baseline]:
    """Nearest run, best observed, uniform and natural mixture, on the held-out parts of a table.

    Raises:
        InputError: for a table without mixtures.
    """
    if not table.domains:
        raise InputError("mixture columns (mix/<domain>) to compare by", "a table without any")
    shape = (len(table.targets), len(table))
    found = {name: np.full(shape, np.nan) for name in ("nearest run", "best observed", "uniform", "natural")}
    uniform = np.full(len(table.domains), 1 / len(table.domains))
    for part in parts:
        seen = _reference(table.select(part.train))
        held = table.mixtures[part.test]
        losses = np.array([seen.loss(t) for t in table.targets])
        apart = np.abs(held[:, None, :] - seen.mixtures[None]).sum(axis=-1)
        found["nearest run"][:, part.test] = losses[:, apart.argmin(axis=1)]
        best = seen.mixtures[int(np.nanargmin(np.nanmean(losses, axis=0)))]
        found["best observed"][:, part.test] = np.abs(held - best).sum(axis=1)
        found["uniform"][:, part.test] = np.abs(held - uniform).sum(axis=1)
        if natural is not None:
            found["natural"][:, part.test] = np.abs(held - natural.vector(table.domains)).sum(axis=1)
    lacks = {} if natural is not None else {"natural": "no natural mixture given (--domains with priors)"}
    return [Baseline(n, p, order_only=n != "nearest run", lacks=lacks.get(n, "")) for n, p in found.items()]


def _reference(train: RunTable) -> RunTable:
    """Last checkpoints of the largest size in a training part: what a person without a law would look at."""
    last = train.select(last_rows(train))
    params = last.column("params")
    return last.select(params >= 0.98 * np.nanmax(params)) if np.isfinite(params).all() else last
