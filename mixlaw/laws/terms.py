"""Building blocks that several laws share: the scale terms, a weighted sum of powers of shares, and their starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mixlaw.laws.base import Floats, Inputs, Need, Parameter

FLOOR = 1e-4
"""Added to every share where a power of it is taken, so that empty domains have finite derivatives."""


def split(theta: Floats, sizes: Mapping[str, int]) -> dict[str, Floats]:
    """Named views of the last axis of ``theta``, each of shape (..., size)."""
    ends = np.cumsum(list(sizes.values()))
    return {name: theta[..., end - size : end] for (name, size), end in zip(sizes.items(), ends, strict=True)}


def by_row(values: Floats, inputs: Inputs, *, axis: int = -1) -> Floats:
    """Spread values of distinct mixtures over the rows: axis -1 for (..., m), axis -2 for (..., m, K)."""
    return np.take(values, inputs.code, axis=axis)


def needs_of(*, sized: bool, timed: bool) -> frozenset[Need]:
    """Needs of a law with a mixture in it, and with N or D or both."""
    needs: list[Need] = ["mix"]
    needs += ["params"] if sized else []
    needs += ["tokens"] if timed else []
    return frozenset(needs)


EXPONENT_PULL = 300.0
"""Pull of exponents towards 0.3, in units of the ridge (1e-6): 3e-4 = s^2 / t^2.

That is a prior with a spread of t = 0.5 in log around the exponents that scaling laws report, when residuals are of
size s = 0.5 % and the four checkpoints of a run count as one. Where sizes or token counts are few the data alone
cannot tell a small constant with a small exponent from a large one with a large exponent, and the two part ways at the
next scale; where they are many the pull is too weak to matter.
"""


def exponent(name: str) -> Parameter:
    """An exponent of N or D: 0.01 to 3, pulled gently towards 0.3."""
    return Parameter(name, lower=np.log(0.01), upper=np.log(3.0), prior=-1.2, pull=EXPONENT_PULL)


def weights_of(symbol: str, domains: Sequence[str], *, lower: float = -12.0, upper: float = 18.0) -> list[Parameter]:
    """One positive weight per domain."""
    return [Parameter(f"{symbol}[{d}]", lower=lower, upper=upper) for d in domains]


def powers_of(symbol: str, domains: Sequence[str]) -> list[Parameter]:
    """One exponent of a share per domain: 0.02 to 4, around 0.5."""
    return [Parameter(f"{symbol}[{d}]", lower=np.log(0.02), upper=np.log(4.0), prior=-0.7) for d in domains]


@dataclass(frozen=True)
class Blend:
    """``S = sum_j w_j (h_j + f)^g_j`` on every distinct mixture; linear in h, without floor, where there is no power.

    Attributes:
        weight: log w, shape (..., K).
        power: log g, shape (..., K) or (..., 1) for one power of all; None for g = 1.
        mixtures: shape (m, K).
        log: log S, shape (..., m).
        by_weight: derivative of log S by log w, shape (..., m, K).
    """

    weight: Floats
    power: Floats | None
    mixtures: Floats
    log: Floats
    by_weight: Floats

    @classmethod
    def of(cls, weight: Floats, power: Floats | None, inputs: Inputs) -> Blend:
        """Evaluate the sum."""
        mixtures = inputs.mixtures
        if power is None:
            terms = np.exp(weight)[..., None, :] * mixtures
        else:
            terms = np.exp(weight[..., None, :] + np.exp(power)[..., None, :] * np.log(mixtures + FLOOR))
        total = terms.sum(axis=-1)
        return cls(weight, power, mixtures, np.log(total), terms / total[..., None])

    @property
    def by_power(self) -> Floats:
        """Derivative of log S by log g, shape (..., m, K) or (..., m, 1)."""
        assert self.power is not None
        slope = self.by_weight * np.log(self.mixtures + FLOOR) * np.exp(self.power)[..., None, :]
        return slope if self.power.shape[-1] == self.weight.shape[-1] else slope.sum(axis=-1, keepdims=True)

    @property
    def by_share(self) -> Floats:
        """Derivative of log S by h, shape (..., m, K)."""
        if self.power is None:
            return np.exp(self.weight[..., None, :] - self.log[..., None])
        return self.by_weight * np.exp(self.power)[..., None, :] / (self.mixtures + FLOOR)


@dataclass(frozen=True)
class Scale:
    """``E + A N^-a + B D^-b`` with theta = log (E, A, B, a, b); without A, a or B, b where N or D do not vary."""

    sized: bool = True
    timed: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """Symbols in the order of theta."""
        wanted = {"E": True, "A": self.sized, "B": self.timed, "a": self.sized, "b": self.timed}
        return tuple(name for name, there in wanted.items() if there)

    @property
    def size(self) -> int:
        """Number of parameters."""
        return len(self.names)

    def parameters(self) -> tuple[Parameter, ...]:
        """E, A, B, a, b."""
        priors = {"E": 0.5, "A": 0.0, "B": 0.0}
        return tuple(
            Parameter(n, lower=-7.0, upper=5.0, prior=priors[n]) if n in priors else exponent(n) for n in self.names
        )

    def terms(self, theta: Floats, inputs: Inputs) -> dict[str, Floats]:
        """The terms by their first symbol, each of shape (..., n)."""
        part = split(theta, dict.fromkeys(self.names, 1))
        out = {"E": np.broadcast_to(np.exp(part["E"]), (*theta.shape[:-1], len(inputs)))}
        if self.sized:
            out["A"] = np.exp(part["A"] - np.exp(part["a"]) * inputs.log_params)
        if self.timed:
            out["B"] = np.exp(part["B"] - np.exp(part["b"]) * inputs.log_tokens)
        return out

    def predict(self, theta: Floats, inputs: Inputs) -> Floats:
        """Sum of the terms, shape (..., n)."""
        return np.asarray(sum(self.terms(theta, inputs).values()))

    def gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Derivative of the sum by theta, shape (..., n, size)."""
        part = split(theta, dict.fromkeys(self.names, 1))
        slopes = self.terms(theta, inputs)
        if self.sized:
            slopes["a"] = -slopes["A"] * np.exp(part["a"]) * inputs.log_params
        if self.timed:
            slopes["b"] = -slopes["B"] * np.exp(part["b"]) * inputs.log_tokens
        return np.stack([slopes[name] for name in self.names], axis=-1)

    def starts(
        self, inputs: Inputs, y: Floats, rng: np.random.Generator, count: int, *, part: Floats | float = 1.0
    ) -> Floats:
        """E below the smallest loss, ``part`` of the rest shared by the terms, exponents uniform; (count, size)."""
        floor = np.min(y) * rng.uniform(0.2, 0.95, count)
        rest = np.maximum(np.median(y) - floor, 0.02) * part
        share = rng.uniform(0.2, 0.8, count)
        alpha, beta = rng.uniform(0.1, 0.8, (2, count))
        entries = {"E": np.log(floor), "a": np.log(alpha), "b": np.log(beta)}
        if self.sized:
            mine = share if self.timed else 1.0
            entries["A"] = np.log(rest * mine) + alpha * np.median(inputs.log_params)
        if self.timed:
            mine = 1 - share if self.sized else 1.0
            entries["B"] = np.log(rest * mine) + beta * np.median(inputs.log_tokens)
        return np.stack([entries[name] for name in self.names], axis=-1)


def blend_starts(level: Floats, rng: np.random.Generator, domains: int) -> tuple[Floats, Floats]:
    """Log weights and log powers, each (count, K), of a sum that is ``level`` (count, 1) on the even mixture."""
    count = len(level)
    power = np.log(rng.uniform(0.2, 1.0, (count, domains)))
    weight = np.log(level / domains) - np.exp(power) * np.log(1 / domains)
    return weight + 0.5 * rng.standard_normal((count, domains)), power


def clipped(theta: Floats, parameters: Sequence[Parameter]) -> Floats:
    """Starts moved inside their bounds."""
    return np.clip(theta, [p.lower for p in parameters], [p.upper for p in parameters])
