"""What there is to say for a mixture: against the baselines, near the optimum, and against the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mixlaw.domains import Domains
from mixlaw.fits import Z90, FitSet, Seen
from mixlaw.laws.base import Floats
from mixlaw.optimize.surface import Surface

SURE = 0.95
"""Probability of being better from which one of two mixtures is called better; below it they are a tie."""


@dataclass(frozen=True)
class Standing:
    """The objective of one mixture, and the proposal against it.

    Attributes:
        value: predicted objective (accuracies positive where the objective is made of accuracies alone).
        low: lower end of its 90 % interval.
        high: upper end.
        beaten: share of the scenarios in which the proposal is better; NaN for the proposal itself.
        regret: objective of the proposal minus this one's, quantiles 5, 50 and 95 %; below 0 the proposal is better.
        allowed: whether the mixture satisfies the constraints that the proposal has to satisfy.
        scenarios: number S of scenarios behind ``beaten``, which cannot tell what lies within 1 / (S + 1) of 0 or 1.
    """

    value: float
    low: float
    high: float
    beaten: float = float("nan")
    regret: tuple[float, float, float] = (0.0, 0.0, 0.0)
    allowed: bool = True
    scenarios: int = 0

    @property
    def unknown(self) -> float:
        """1 / (S + 1): how near to 0 or 1 a probability cannot be told from it by S scenarios."""
        return 1 / (self.scenarios + 1)

    @property
    def probability(self) -> float:
        """Probability that the proposal is better, no nearer to 0 or 1 than the scenarios can tell."""
        return min(max(self.beaten, self.unknown), 1 - self.unknown)

    @property
    def tie(self) -> bool:
        """Whether neither is surely better."""
        return 1 - SURE < self.probability < SURE

    @property
    def ahead(self) -> bool:
        """Whether this mixture is surely better than the proposal (which penalties or limits hold back)."""
        return self.probability <= 1 - SURE


def standings(surface: Surface, proposal: Floats, baselines: Mapping[str, Floats]) -> dict[str, Standing]:
    """The proposal (as ``proposal``) and every baseline, judged under the same scenarios.

    Equal mixtures do not beat each other: differences below 1e-9 count half.
    """
    shares = np.vstack([proposal, *baselines.values()])
    values, scenarios = surface.value(shares), surface.scenarios(shares)
    spread = scenarios.std(axis=0)
    out = {}
    for index, name in enumerate(["proposal", *baselines]):
        gap = scenarios[:, 0] - scenarios[:, index]
        beaten = float(np.mean(np.where(np.abs(gap) < 1e-9, 0.5, gap < 0))) if index else float("nan")
        low, middle, high = (float(q) for q in np.quantile(gap, [0.05, 0.5, 0.95]))
        value, half = float(values[index]), Z90 * float(spread[index])
        out[name] = Standing(value, value - half, value + half, beaten, (low, middle, high), scenarios=len(scenarios))
    return out


def run_noise(fits: FitSet, surface: Surface, share: Floats) -> float:
    """Standard deviation of the objective of one more run: residuals of the fits, taken as independent by target."""
    inputs = surface.inputs(share[None])
    losses = {target: fits.value(target, inputs) for target in surface.needed}
    rates = surface.rates(losses)
    sds = [
        float(rates[t][0] * losses[t][0]) * 1.4826 * sum(m.weight * m.fit.residual for m in fits.members[t])
        for t in surface.needed
    ]
    return float(np.sqrt(np.sum(np.square(sds))))


@dataclass(frozen=True)
class Nearest:
    """The run whose mixture is nearest.

    Attributes:
        run: its name.
        distance: half the sum of absolute differences of shares, 0 to 1.
        usual: largest distance of a run in the data to its own nearest neighbour.
    """

    run: str
    distance: float
    usual: float


def nearest(seen: Seen, share: Floats) -> Nearest:
    """The run nearest to a mixture, shape (K,)."""
    mixtures, first = np.unique(seen.mixtures, axis=0, return_index=True)
    gaps = 0.5 * np.abs(mixtures - share).sum(axis=1)
    between = 0.5 * np.abs(mixtures[:, None] - mixtures[None]).sum(axis=2)
    np.fill_diagonal(between, np.inf)
    usual = float(between.min(axis=1).max()) if len(mixtures) > 1 else 0.0
    closest = int(np.argmin(gaps))
    return Nearest(seen.runs[int(first[closest])], float(gaps[closest]), usual)


@dataclass(frozen=True)
class Epochs:
    """Passes over one domain's data.

    Attributes:
        target: in the run to be trained.
        proxies: most in any run of the data; NaN where their tokens are unknown.
    """

    target: float
    proxies: float

    @property
    def mismatch(self) -> bool:
        """Whether the target repeats data that no proxy repeated so much: above 1 and twice the proxies."""
        return self.target > 1 and not self.target <= 2 * self.proxies


def epochs(
    domains: Domains, names: tuple[str, ...], share: Floats, tokens: float | None, seen: Seen
) -> dict[str, Epochs | None]:
    """Epochs by domain; None where supply or tokens are unknown."""
    found: dict[str, Epochs | None] = {}
    for index, name in enumerate(names):
        supply = domains.get(name).available_tokens
        if supply is None or tokens is None:
            found[name] = None
            continue
        used = seen.mixtures[:, index] * seen.tokens
        most = float(np.nanmax(used)) / supply if np.isfinite(used).any() else float("nan")
        found[name] = Epochs(float(share[index]) * tokens / supply, most)
    return found
