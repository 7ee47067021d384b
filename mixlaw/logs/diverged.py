"""Runs that diverged, by what trainers log: nan iterations, a gradient norm of zero, a training loss that jumped."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

JUMP = 1.0
"""Nats by which the training loss may end above its lowest value (medians of up to five rows) before it has jumped."""


def diverged(frame: pd.DataFrame) -> dict[str, str]:
    """Find diverged runs.

    Args:
        frame: rows with ``run`` and some of ``meta/train_loss``, ``meta/grad_norm``, ``meta/nan_iterations``.

    Returns:
        Run -> what shows it.
    """
    signs = [c for c in ("meta/nan_iterations", "meta/grad_norm", "meta/train_loss") if c in frame]
    if not signs:
        return {}
    found = {str(run): _sign(rows) for run, rows in frame.groupby("run", sort=False, observed=True)}
    return {run: why for run, why in found.items() if why}


def _sign(rows: pd.DataFrame) -> str:
    step = rows["step"].to_numpy(dtype=np.float64) if "step" in rows else np.arange(len(rows), dtype=np.float64)
    order = np.argsort(step, kind="stable")
    at = step[order]
    nan = _column(rows, "meta/nan_iterations")[order]
    if (nan > 0).any():
        return f"diverged ({int(np.nansum(nan))} nan iterations, the first by step {at[nan > 0][0]:g})"
    norm = _column(rows, "meta/grad_norm")[order]
    zero = norm == 0
    if (zero[1:] & zero[:-1]).any() or (zero.any() and len(norm) and zero[np.isfinite(norm)][-1]):
        return f"diverged (gradient norm 0 at step {at[zero][0]:g})"
    return _jump(rows, order, at)


def _jump(rows: pd.DataFrame, order: NDArray[np.intp], at: NDArray[np.float64]) -> str:
    if "meta/train_loss" not in rows:
        return ""
    logged = rows["meta/train_loss"].to_numpy(dtype=np.float64)[order]
    infinite = np.isinf(logged)
    if infinite.any():
        return f"diverged (infinite training loss at step {at[infinite][0]:g})"
    loss = logged[np.isfinite(logged)]
    width = max(1, min(5, len(loss) // 4))
    smooth = pd.Series(loss).rolling(width).median().to_numpy()[width - 1 :] if len(loss) else loss
    if len(smooth) and smooth[-1] > np.min(smooth) + JUMP:
        return f"diverged (training loss from {np.min(smooth):.3g} up to {smooth[-1]:.3g})"
    return ""


def _column(rows: pd.DataFrame, name: str) -> NDArray[np.float64]:
    return rows[name].to_numpy(dtype=np.float64) if name in rows else np.full(len(rows), np.nan)
