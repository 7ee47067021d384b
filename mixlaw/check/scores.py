"""Figures that judge predictions against measured losses, on data that the fit has not seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

Floats = NDArray[np.float64]

TAIL = 0.1
"""Share of the runs predicted best over which optimism is measured (at least one run)."""


@dataclass(frozen=True)
class Scores:
    """How well one target was predicted.

    Attributes:
        count: runs scored.
        error: mean absolute relative error.
        spearman: rank correlation; NaN for fewer than three runs or constant predictions.
        pairwise: share of pairs put in the right order, ties counted half.
        regret: measured loss of the run predicted best, minus the best measured loss.
        optimism: mean of measured minus predicted over the runs predicted best, positive where predictions promise
            too much.
    """

    count: int
    error: float
    spearman: float
    pairwise: float
    regret: float
    optimism: float


def score(predicted: Floats, measured: Floats) -> Scores:
    """Score predictions, shape (n,), against measured losses, shape (n,); missing cells are left out."""
    present = np.isfinite(predicted) & np.isfinite(measured)
    p, y = predicted[present], measured[present]
    if not len(y):
        return Scores(0, *[float("nan")] * 5)
    return Scores(
        count=len(y),
        error=float(np.mean(np.abs(p / y - 1))),
        spearman=spearman(p, y),
        pairwise=pairwise(p, y),
        regret=regret(p, y),
        optimism=optimism(p, y),
    )


def spearman(predicted: Floats, measured: Floats) -> float:
    """Rank correlation; NaN where it is not defined."""
    if len(predicted) < 3 or np.ptp(predicted) == 0 or np.ptp(measured) == 0:
        return float("nan")
    return float(np.corrcoef(rankdata(predicted), rankdata(measured))[0, 1])


def pairwise(predicted: Floats, measured: Floats) -> float:
    """Share of pairs with different measured losses whose order is predicted, ties counted half."""
    i, j = np.triu_indices(len(measured), 1)
    true, guess = np.sign(measured[i] - measured[j]), np.sign(predicted[i] - predicted[j])
    counted = true != 0
    if not counted.any():
        return float("nan")
    return float(np.mean(np.where(guess == 0, 0.5, guess == true)[counted]))


def regret(predicted: Floats, measured: Floats) -> float:
    """Measured loss of the run predicted best, minus the best; the mean over runs tied for best."""
    chosen = predicted == predicted.min()
    return float(measured[chosen].mean() - measured.min())


def optimism(predicted: Floats, measured: Floats) -> float:
    """Measured minus predicted, over the tenth of the runs that are predicted best."""
    number = max(1, round(TAIL * len(predicted)))
    best = np.argsort(predicted, kind="stable")[:number]
    return float(np.mean(measured[best] - predicted[best]))
