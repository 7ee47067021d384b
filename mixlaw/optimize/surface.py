"""The predicted objective as a smooth function of the mixture, at one model size and token count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from mixlaw.benchmark import Curve, accuracy_scenarios, curves, loss_scenarios
from mixlaw.errors import InputError
from mixlaw.fits import FitSet
from mixlaw.laws.base import Floats, Inputs
from mixlaw.optimize.functions import differences
from mixlaw.optimize.objective import Objective


@dataclass(frozen=True)
class Scale:
    """The run to be trained: N parameters and D tokens, None where the laws need neither."""

    params: float | None = None
    tokens: float | None = None


@dataclass(frozen=True)
class Surface:
    """Weighted losses minus weighted accuracies, to be minimised.

    Attributes:
        fits: the laws.
        weights: by ``loss/<target>`` or ``bench/<task>``.
        scale: of the run to be trained.
        curves: from losses to accuracies, by task.
    """

    fits: FitSet
    weights: Mapping[str, float]
    scale: Scale
    curves: Mapping[str, Curve] = field(default_factory=dict)

    @classmethod
    def of(cls, fits: FitSet, objective: Objective, scale: Scale) -> Surface:
        """The surface of an objective.

        Raises:
            InputError: for a benchmark that cannot be predicted, with the reason.
        """
        found = curves(fits)
        for name in [*objective.weights, *(limit.term for limit in objective.limits)]:
            curve = found.get(name.removeprefix("bench/")) if name.startswith("bench/") else None
            if curve is not None and not curve.predictable:
                raise InputError(f"a benchmark that can be predicted, not {curve.task!r}", curve.reason)
        return cls(fits, objective.weights, scale, found)

    def only(self, name: str) -> Surface:
        """The surface of one loss (or of one accuracy, negative) alone."""
        return Surface(self.fits, {name: 1.0}, self.scale, self.curves)

    def inputs(self, shares: Floats) -> Inputs:
        """Inputs of mixtures, shape (n, K), at the scale of the surface."""
        return self.fits.inputs(shares, self.scale.params, self.scale.tokens)

    def term(self, name: str, shares: Floats) -> Floats:
        """One loss or accuracy at each mixture, shape (n,)."""
        value = self.only(name).value(shares)
        return -value if name.startswith("bench/") else value

    def value(self, shares: Floats) -> Floats:
        """Value at each mixture: (n, K) to (n,)."""
        inputs = self.inputs(shares)
        losses = {target: self.fits.value(target, inputs) for target in self.needed}
        return self.score(losses)

    def score(self, losses: Mapping[str, Floats]) -> Floats:
        """Value from losses by target, each of shape (n,)."""
        total = np.zeros(1)
        for name, weight in self.weights.items():
            if name.startswith("loss/"):
                total = total + weight * losses[name[5:]]
            else:
                curve = self.curves[name[6:]]
                total = total - weight * curve.value(np.column_stack([losses[t] for t in curve.inputs]))
        return total

    @property
    def needed(self) -> tuple[str, ...]:
        """Targets whose losses the objective is read from."""
        names: dict[str, None] = {}
        for name in self.weights:
            names |= dict.fromkeys([name[5:]] if name.startswith("loss/") else self.curves[name[6:]].inputs)
        return tuple(names)

    def rates(self, losses: Mapping[str, Floats]) -> dict[str, Floats]:
        """Derivative of the value by each loss, by target, each of shape (n,)."""
        rates = {target: np.zeros(len(loss)) for target, loss in losses.items()}
        for name, weight in self.weights.items():
            if name.startswith("loss/"):
                rates[name[5:]] += weight
            else:
                curve = self.curves[name[6:]]
                slope = curve.slope(np.column_stack([losses[t] for t in curve.inputs]))
                for index, target in enumerate(curve.inputs):
                    rates[target] -= weight * slope[:, index]
        return rates

    def gradient(self, shares: Floats) -> tuple[Floats, Floats]:
        """Values (n,) and derivatives by the shares (n, K)."""
        inputs = self.inputs(shares)
        found = {target: self.fits.value_and_share_gradient(target, inputs) for target in self.needed}
        losses = {target: loss for target, (loss, _) in found.items()}
        rates = self.rates(losses)
        slope = np.zeros(shares.shape)
        for target, (_, by_share) in found.items():
            slope += rates[target][:, None] * by_share
        return self.score(losses), slope

    def hessian(self, share: Floats) -> Floats:
        """Second derivatives at one mixture, shape (K, K)."""
        return differences(self, share)

    def scenarios(self, shares: Floats) -> Floats:
        """Values of n mixtures under S joint scenarios, shape (S, n)."""
        losses = loss_scenarios(self.fits, self.inputs(shares), seed=self.fits.options.seed)
        needed = {n[6:]: self.curves[n[6:]] for n in self.weights if n.startswith("bench/")}
        accuracies = accuracy_scenarios(needed, losses)
        total = np.zeros((1, 1))
        for name, weight in self.weights.items():
            total = total + (weight * losses[name[5:]] if name.startswith("loss/") else -weight * accuracies[name[6:]])
        return total
