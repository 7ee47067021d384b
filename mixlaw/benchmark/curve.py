"""A fitted map from losses to one accuracy: the mean of three forms, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mixlaw.benchmark.forms import Form, forms
from mixlaw.laws.base import Floats


@dataclass(frozen=True)
class Curve:
    """Accuracy of one task as a function of losses.

    No single form wins everywhere, so the prediction is the mean of three (of one for an average over
    tasks), each clipped to [0, 1].

    Attributes:
        task: name.
        chance: accuracy of guessing, and where that is from.
        source: where the chance level is from.
        items: questions of the task; None if unknown.
        inputs: targets whose losses the accuracy is read from, k of them.
        offset: smallest loss of each input in the data, (k,).
        theta: by form, its parameters, (P,).
        draws: by form, bootstrap parameters over runs, (S, P).
        reason: why the task is not predictable; empty if it is.
        held_out: mean absolute error on the third of the data with the lowest losses, fitted on the rest.
        constant: the same error of the mean accuracy of the nearest third of the rest.
        residual: standard deviation of accuracies around the curve.
        points: rows used.
        runs: runs used.
        seen: smallest and largest accuracy in the data.
    """

    task: str
    chance: float
    source: str
    items: int | None
    inputs: tuple[str, ...]
    offset: tuple[float, ...]
    theta: Mapping[str, Floats]
    draws: Mapping[str, Floats]
    reason: str
    held_out: float
    constant: float
    residual: float
    points: int
    runs: int
    seen: tuple[float, float]

    @property
    def predictable(self) -> bool:
        """Whether the losses say anything about the task."""
        return not self.reason

    @cached_property
    def forms(self) -> tuple[Form, ...]:
        """The forms that are averaged."""
        return tuple(form for form in forms(self.chance) if form.name in self.theta)

    def value(self, losses: Floats) -> Floats:
        """Accuracy for losses of the inputs, shape (n, k) to (n,)."""
        x = losses - np.array(self.offset)
        return np.asarray(np.mean([np.clip(f.value(self.theta[f.name][None], x)[0], 0, 1) for f in self.forms], axis=0))

    def slope(self, losses: Floats) -> Floats:
        """Derivative of the accuracy by each loss, shape (n, k)."""
        x = losses - np.array(self.offset)
        parts = []
        for form in self.forms:
            theta = self.theta[form.name][None]
            inside = np.abs(form.value(theta, x)[0] - 0.5) <= 0.5
            parts.append(np.where(inside[:, None], form.slope(theta, x)[0], 0.0))
        return np.asarray(np.mean(parts, axis=0))

    def scenarios(self, losses: Floats) -> Floats:
        """Accuracies under joint scenarios of losses, shape (S, n, k) to (S, n).

        Scenario s takes bootstrap draw s of the curve and one of the forms in turn, so that the spread holds what
        the data leave open, what the losses leave open, and what the choice of a form leaves open.
        """
        number, count, inputs = losses.shape
        out = np.empty((number, count))
        for s in range(number):
            form = self.forms[s % len(self.forms)]
            draws = self.draws[form.name]
            theta = draws[(s // len(self.forms)) % len(draws)] if len(draws) else self.theta[form.name]
            out[s] = form.value(theta[None], losses[s].reshape(count, inputs) - np.array(self.offset))[0]
        return np.clip(out, 0, 1)

    def to_mapping(self) -> dict[str, Any]:
        """The curve as plain data for a fit file."""
        return {
            **asdict(self),
            "theta": {name: theta.tolist() for name, theta in self.theta.items()},
            "draws": {name: draws.tolist() for name, draws in self.draws.items()},
        }

    @classmethod
    def from_mapping(cls, content: Mapping[str, Any]) -> Curve:
        """Read what ``to_mapping`` wrote."""
        plain: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in content.items()
        }
        missing = float("nan")
        for name in ("held_out", "constant", "residual"):
            plain[name] = missing if plain[name] is None else plain[name]
        plain["theta"] = {name: np.array(theta) for name, theta in content["theta"].items()}
        plain["draws"] = {name: np.array(draws) for name, draws in content["draws"].items()}
        return cls(**plain)
