"""The predicted objective as a smooth function of the mixture, at one model size and token count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

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
    """

    fits: FitSet
    weights: Mapping[str, float]
    scale: Scale

    @classmethod
    def of(cls, fits: FitSet, objective: Objective, scale: Scale) -> Surface:
        """The surface of an objective."""
        return cls(fits, objective.weights, scale)

    def inputs(self, shares: Floats) -> Inputs:
        """Inputs of mixtures, shape (n, K), at the scale of the surface."""
        return self.fits.inputs(shares, self.scale.params, self.scale.tokens)

    def term(self, name: str, shares: Floats) -> Floats:
        """One loss or accuracy at each mixture, shape (n,)."""
        return self.fits.value(name.removeprefix("loss/"), self.inputs(shares))

    def value(self, shares: Floats) -> Floats:
        """Value at each mixture: (n, K) to (n,)."""
        inputs = self.inputs(shares)
        return np.asarray(sum(w * self.fits.value(n.removeprefix("loss/"), inputs) for n, w in self.weights.items()))

    def gradient(self, shares: Floats) -> tuple[Floats, Floats]:
        """Values (n,) and derivatives by the shares (n, K)."""
        inputs = self.inputs(shares)
        value, slope = np.zeros(len(shares)), np.zeros(shares.shape)
        for name, weight in self.weights.items():
            one, by_share = self.fits.value_and_share_gradient(name.removeprefix("loss/"), inputs)
            value, slope = value + weight * one, slope + weight * by_share
        return value, slope

    def hessian(self, share: Floats) -> Floats:
        """Second derivatives at one mixture, shape (K, K)."""
        return differences(self, share)
