"""Deciding under uncertainty: the mean, or an upper quantile, of the objective over bootstrap members."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtri

from mixlaw.errors import UsageError
from mixlaw.laws.base import Floats, Inputs
from mixlaw.optimize.functions import differences
from mixlaw.optimize.objective import risk_level
from mixlaw.optimize.surface import Surface

CURVATURE_MEMBERS = 12
"""Members whose second derivatives stand for those of all: they shape steps, not the optimum."""


def insist_on_bootstrap(there: bool) -> None:
    """Refuse ``--risk`` without bootstrap members.

    Raises:
        UsageError: saying how to get them.
    """
    if not there:
        raise UsageError("bootstrap members for --risk", "a fit without", hint="Fit with --bootstrap 100.")


@dataclass(frozen=True)
class Ensemble:
    """``mean + z sd`` of the objective over bootstrap members: smooth, and the quantile where they are normal.

    A member's log losses are as far from those of the fit as it takes to cover held-out data: the mean of the
    deviation over the mixtures of the data by one factor, the rest, which is what differs between mixtures, by another.

    Attributes:
        surface: the objective.
        margin: z, the normal quantile of ``--risk``; 0 for the mean.
        first: use only so many members; None for all.
    """

    surface: Surface
    margin: float
    first: int | None = None

    @classmethod
    def of(cls, surface: Surface, risk: str) -> Ensemble:
        """Read ``mean`` or a quantile such as ``0.9``.

        Raises:
            UsageError: for another word, or fits without bootstrap members.
        """
        fits = surface.fits
        insist_on_bootstrap(fits.bootstrapped)
        level = risk_level(risk)
        return cls(surface, 0.0 if level is None else float(ndtri(level)))

    def value(self, shares: Floats) -> Floats:
        """Value at each mixture: (n, K) to (n,)."""
        inputs = self.surface.inputs(shares)
        losses = {}
        for target in self.surface.needed:
            draws = np.asarray(self.surface.fits.draws(target, inputs))[: self.first]
            losses[target] = self._moved(target, self.surface.fits.value(target, inputs), draws)
        values = self._scores(losses)
        return np.asarray(values.mean(axis=0) + self.margin * values.std(axis=0))

    @cached_property
    def levels(self) -> dict[str, Floats]:
        """By target, the mean of each member's log deviation over the mixtures of the data, shape (S, 1)."""
        inputs, fits = self.surface.inputs(self.surface.fits.seen.distinct), self.surface.fits
        return {
            target: np.log(np.asarray(fits.draws(target, inputs))[: self.first] / fits.value(target, inputs)).mean(
                axis=1, keepdims=True
            )
            for target in self.surface.needed
        }

    def _moved(self, target: str, centre: Floats, draws: Floats) -> Floats:
        """Losses of the members (S, n), moved away from the fit (n,) by the factors of the target."""
        level, contrast = self.surface.fits.factors(target)
        shift = np.exp((level - contrast) * self.levels[target]) if level != contrast else 1.0
        return np.asarray(centre * (draws / centre) ** contrast * shift)

    def _widened(self, target: str, inputs: Inputs, draws: Floats, slopes: Floats) -> tuple[Floats, Floats]:
        """Losses of the members (S, n) as ``_moved`` has them, and slopes (S, n, K); the level has no slope."""
        centre, slope = self.surface.fits.value_and_share_gradient(target, inputs)
        _, widen = self.surface.fits.factors(target)
        moved = self._moved(target, centre, draws)
        log_slopes = (1 - widen) * slope / centre[:, None] + widen * slopes / draws[..., None]
        return moved, moved[..., None] * log_slopes

    def _scores(self, losses: Mapping[str, Floats]) -> Floats:
        """Objective of every member, shape (S, n), from losses of that shape."""
        shape = next(iter(losses.values())).shape
        return self.surface.score({t: loss.ravel() for t, loss in losses.items()}).reshape(shape)

    def gradient(self, shares: Floats) -> tuple[Floats, Floats]:
        """Values (n,) and derivatives by the shares (n, K)."""
        inputs = self.surface.inputs(shares)
        losses, slopes = {}, {}
        for target in self.surface.needed:
            found = self.surface.fits.draws_and_share_gradients(target, inputs, self.first)
            if found is not None:
                losses[target], slopes[target] = self._widened(target, inputs, *found)
        values = self._scores(losses)
        rates = self.surface.rates({t: loss.ravel() for t, loss in losses.items()})
        centre, spread = values.mean(axis=0), values.std(axis=0)
        off = (values - centre) / np.maximum(spread, 1e-300)
        weight = (1 + self.margin * off) / len(values)
        slope = np.zeros(shares.shape)
        for target, by_share in slopes.items():
            slope += np.einsum("sn,snk->nk", weight * rates[target].reshape(values.shape), by_share)
        return centre + self.margin * spread, slope

    def hessian(self, share: Floats) -> Floats:
        """Second derivatives at one mixture, shape (K, K), over some of the members."""
        return differences(self._few, share)

    @cached_property
    def _few(self) -> Ensemble:
        return Ensemble(self.surface, self.margin, CURVATURE_MEMBERS)
