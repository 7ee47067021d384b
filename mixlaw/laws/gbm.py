"""Gradient-boosted trees on the shares, with log N and log D as columns where they vary.

There is no equation: 1,000 regression trees (rate 0.01, at most 31 leaves, 20 rows a leaf) on the squared error of the
loss, without early stopping. Source: the surrogate of Liu et al., arXiv 2407.01492 (RegMix), which stopped early on the
test set; we do not. Needs the optional package LightGBM (extra ``gbm``).

The law has no parameter vector: what the trees learned is kept as LightGBM's own text, with the names of its columns.
Predictions are constant between splits, so that their derivative by the shares is zero everywhere.

Use it as a baseline, or with many hundreds of runs at one scale. Trees do not extrapolate to larger N or D.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from mixlaw.errors import MissingExtraError
from mixlaw.laws.base import Floats, Inputs, Law, Need, Parameter
from mixlaw.laws.terms import needs_of

TREES, RATE = 1000, 0.01


@dataclass(frozen=True)
class Trees:
    """The law, untrained or with a state; forms without N or without D."""

    name: str = "gbm"
    sized: bool = True
    timed: bool = True
    reduced: tuple[Law, ...] = ()
    state: str = ""

    @property
    def needs(self) -> frozenset[Need]:
        """Columns that must take several values."""
        return needs_of(sized=self.sized, timed=self.timed)

    def parameters(self, domains: Sequence[str]) -> tuple[Parameter, ...]:
        """None."""
        return ()

    def _columns(self, inputs: Inputs, domains: Sequence[str]) -> Floats:
        """Features, shape (n, K + 2) or less: shares in the order of ``domains``, log N, log D."""
        shares = inputs.shares[:, [inputs.domains.index(d) for d in domains]]
        scales = [inputs.log_params] * self.sized + [inputs.log_tokens] * self.timed
        return np.column_stack([shares, *scales])

    def train(self, inputs: Inputs, y: Floats, *, seed: int) -> str:
        """Grow the trees on losses ``y``, shape (n,).

        Raises:
            MissingExtraError: without LightGBM.
        """
        gbm = _lightgbm()
        options = {"objective": "regression", "learning_rate": RATE, "seed": seed, "verbosity": -1,
                   "num_threads": 1, "deterministic": True, "force_row_wise": True}  # fmt: skip
        booster = gbm.train(options, gbm.Dataset(self._columns(inputs, inputs.domains), y), num_boost_round=TREES)
        return json.dumps({"domains": list(inputs.domains), "model": booster.model_to_string()})

    def restored(self, state: str) -> Trees:
        """The law with what ``train`` returned."""
        return replace(self, state=state)

    @cached_property
    def _trained(self) -> tuple[tuple[str, ...], Any]:
        content = json.loads(self.state)
        return tuple(content["domains"]), _lightgbm().Booster(model_str=content["model"])

    def predict(self, theta: Floats, inputs: Inputs) -> Floats:
        """Loss of each row, shape (..., n), for any number of empty parameter vectors."""
        domains, booster = self._trained
        loss = np.asarray(booster.predict(self._columns(inputs, domains), num_threads=1), dtype=np.float64)
        return np.broadcast_to(loss, (*theta.shape[:-1], len(inputs))).copy()

    def gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Nothing to derive by, shape (..., n, 0)."""
        return np.zeros((*theta.shape[:-1], len(inputs), 0))

    def share_gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Zero between splits, shape (..., n, K)."""
        return np.zeros((*theta.shape[:-1], len(inputs), len(inputs.domains)))

    def starts(self, inputs: Inputs, y: Floats, rng: np.random.Generator, count: int) -> Floats:
        """Empty vectors, shape (count, 0)."""
        return np.zeros((count, 0))


def _lightgbm() -> Any:
    try:
        import lightgbm
    except ImportError as error:
        raise MissingExtraError("lightgbm", "gbm") from error
    return lightgbm


MIX = Trees("gbm-mix", sized=False, timed=False)
SIZED = Trees("gbm-params", timed=False)
TIMED = Trees("gbm-tokens", sized=False)
LAW = Trees(reduced=(SIZED, TIMED, MIX))
