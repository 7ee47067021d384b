"""Effective data: a power law of size beside a power law of tokens weighed by their worth for the target.

    L(N, D, h) = E + A N^-a + (D sum_j c_j (h_j + f)^g_j)^-b

======  =============================================  =======  ======
symbol  meaning                                        unit     shape
======  =============================================  =======  ======
E       irreducible loss                               loss     scalar
A       loss at N = 1e8 above                          loss     scalar
a, b    exponents of size and of data                  1        scalar
c_j     worth of a token of domain j for the target    1/1e9    (K,)
g_j     returns of a domain's share                    1        (K,)
f       floor that keeps empty domains finite          1        1e-4
======  =============================================  =======  ======

All parameters are positive and stored as logarithms. Source: this project; ``capacity`` without the mixture in its
capacity term.

Gauge: none while N and D vary independently and every share takes several values.

Reduced form: with one N its term is left out; with one D only a form without tokens is left (``capacity``'s data term
is that form). Use it where the worth of a domain shows in its tokens; the best mixture of one target does not move with
scale, the balance between targets does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mixlaw.laws.base import Example, Floats, Inputs, Law, Need, Parameter
from mixlaw.laws.terms import (
    Blend,
    Scale,
    blend_starts,
    by_row,
    clipped,
    exponent,
    needs_of,
    powers_of,
    split,
    weights_of,
)


@dataclass(frozen=True)
class DataShare:
    """The law, or a form without N or without D in it; theta = log (E, A, a, b, c_1 ... c_K, g_1 ... g_K)."""

    name: str = "datashare"
    sized: bool = True
    timed: bool = True
    reduced: tuple[Law, ...] = ()

    @property
    def needs(self) -> frozenset[Need]:
        """Columns that must take several values."""
        return needs_of(sized=self.sized, timed=self.timed)

    @property
    def _scale(self) -> Scale:
        return Scale(sized=self.sized, timed=False)

    def parameters(self, domains: Sequence[str]) -> tuple[Parameter, ...]:
        """E, A, a, b, then c and g per domain."""
        worth = weights_of("c", domains, lower=-18.0)
        return (*self._scale.parameters(), exponent("b"), *worth, *powers_of("g", domains))

    def _split(self, theta: Floats, inputs: Inputs) -> dict[str, Floats]:
        count = len(inputs.domains)
        return split(theta, {"scale": self._scale.size, "b": 1, "c": count, "g": count})

    def _data(self, theta: Floats, inputs: Inputs) -> tuple[Blend, Floats, Floats]:
        """The worth of each mixture, the log effective tokens (..., n), and the data term (..., n)."""
        part = self._split(theta, inputs)
        blend = Blend.of(part["c"], part["g"], inputs)
        log_data = by_row(blend.log, inputs) + (inputs.log_tokens if self.timed else 0.0)
        return blend, log_data, np.exp(-np.exp(part["b"]) * log_data)

    def predict(self, theta: Floats, inputs: Inputs) -> Floats:
        """Loss of each row, shape (..., n)."""
        return self._scale.predict(self._split(theta, inputs)["scale"], inputs) + self._data(theta, inputs)[2]

    def gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Derivative of the loss by theta, shape (..., n, P)."""
        part = self._split(theta, inputs)
        blend, log_data, term = self._data(theta, inputs)
        slope = -np.exp(part["b"]) * term
        out = np.empty((*theta.shape[:-1], len(inputs), theta.shape[-1]))
        slot = self._split(out, inputs)
        slot["scale"][...] = self._scale.gradient(part["scale"], inputs)
        slot["b"][...] = (slope * log_data)[..., None]
        np.multiply(by_row(blend.by_weight, inputs, axis=-2), slope[..., None], out=slot["c"])
        np.multiply(by_row(blend.by_power, inputs, axis=-2), slope[..., None], out=slot["g"])
        return out

    def share_gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Derivative of the loss by the shares of each row's mixture, shape (..., n, K)."""
        blend, _, term = self._data(theta, inputs)
        slope = -np.exp(self._split(theta, inputs)["b"]) * term
        return by_row(blend.by_share, inputs, axis=-2) * slope[..., None]

    def starts(self, inputs: Inputs, y: Floats, rng: np.random.Generator, count: int) -> Floats:
        """The two terms share what E leaves of the median loss; exponents uniform."""
        part = rng.uniform(0.2, 0.8, (count, 1)) if self.sized else np.ones((count, 1))
        scale = self._scale.starts(inputs, y, rng, count, part=np.maximum(1 - part[:, 0], 0.1))
        rest = np.maximum(np.median(y) - np.exp(scale[:, :1]), 0.05) * part
        power = np.log(rng.uniform(0.1, 0.7, (count, 1)))
        middle = np.median(inputs.log_tokens) if self.timed else 0.0
        worth, powers = blend_starts(np.exp(-np.log(rest) / np.exp(power) - middle), rng, len(inputs.domains))
        return clipped(np.concatenate([scale, power, worth, powers], axis=1), self.parameters(inputs.domains))


TIMED = DataShare("datashare-tokens", sized=False)
SIZED = DataShare("datashare-params", timed=False)
LAW = DataShare(reduced=(SIZED, TIMED))

EXAMPLE = Example(
    domains=("web", "code", "math"),
    theta=(0.4, -0.7, -1.1, -0.9, -0.3, -1.5, -0.8, -0.7, -0.3, -0.9),
    mixtures=30,
)
