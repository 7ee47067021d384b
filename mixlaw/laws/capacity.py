"""Effective capacity and effective data: ``capacity`` and ``capacity-powers``, this project's own laws.

    L(N, D, h) = E + (N sum_j v_j h_j)^-a + (D sum_j c_j (h_j + f)^g)^-b

======  ==========================================  ===========  =======
symbol  meaning                                     unit         shape
======  ==========================================  ===========  =======
E       irreducible loss                            loss         scalar
a, b    exponents of capacity and of data           1            scalar
g       returns of a domain's share; one per domain 1            scalar
        in ``capacity-powers``                                   or (K,)
v_j     use of a parameter under domain j           1/1e8        (K,)
c_j     worth of a token of domain j for the target 1/1e9        (K,)
f       floor that keeps empty domains finite       1            1e-4
======  ==========================================  ===========  =======

All parameters are positive and stored as logarithms. Source: this project; no paper prints this form. It has the
properties that CAMEL (arXiv 2603.08022) describes, a nonlinear interplay of model size and mixture, but CAMEL's
equations were not available to us and this is not one of them. Chosen by held-out error at larger scale.

Gauge: nothing is redundant while N and D vary independently. With one D/N for all runs a and b trade off; with one
N the capacity term and with one D the unit of data cannot be told apart, so the reduced forms drop them.

Reduced forms: with one N the capacity term is left out, with one N and one D the tokens too (`-data`).

Use it when runs differ in size, tokens and mixture and the target run is larger than all of them. Not for targets
whose loss is flat in the mixture: K of the parameters then measure noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mixlaw.laws.base import Example, Floats, Inputs, Law, Need, Parameter
from mixlaw.laws.terms import Blend, by_row, clipped, exponent, needs_of, split, weights_of


@dataclass(frozen=True)
class Capacity:
    """The law, or a reduced form of it for data with one N (``sized=False``) or one N and one D."""

    name: str = "capacity"
    sized: bool = True
    timed: bool = True
    per_domain: bool = False
    reduced: tuple[Law, ...] = ()

    @property
    def needs(self) -> frozenset[Need]:
        """Columns that must take several values."""
        return needs_of(sized=self.sized, timed=self.timed)

    def parameters(self, domains: Sequence[str]) -> tuple[Parameter, ...]:
        """E, b, [a], g (or one per domain), c per domain, [v per domain]."""
        constant = Parameter("E", lower=np.log(1e-3), upper=np.log(20.0), prior=0.5)
        names = [f"g[{d}]" for d in domains] if self.per_domain else ["g"]
        powers = [Parameter(n, lower=np.log(0.02), upper=np.log(3.0), prior=-0.7) for n in names]
        worth = weights_of("c", domains, lower=-18.0)
        use = weights_of("v", domains, lower=-18.0) if self.sized else []
        return (constant, *map(exponent, "ba" if self.sized else "b"), *powers, *worth, *use)

    def _split(self, theta: Floats, inputs: Inputs) -> dict[str, Floats]:
        """The parts of theta: scalars as (..., 1), vectors as (..., K)."""
        count = len(inputs.domains)
        sizes = {"E": 1, "b": 1, **({"a": 1} if self.sized else {}), "g": count if self.per_domain else 1}
        return split(theta, {**sizes, "c": count, **({"v": count} if self.sized else {})})

    def _terms(self, part: dict[str, Floats], inputs: Inputs) -> list[tuple[str, str, Blend, Floats]]:
        """Exponent and weights by name, the sum over domains, and log effective quantity (..., n) of each term."""
        data = Blend.of(part["c"], part["g"], inputs)
        terms = [("b", "c", data, by_row(data.log, inputs) + (inputs.log_tokens if self.timed else 0.0))]
        if self.sized:
            use = Blend.of(part["v"], None, inputs)
            terms.append(("a", "v", use, by_row(use.log, inputs) + inputs.log_params))
        return terms

    def predict(self, theta: Floats, inputs: Inputs) -> Floats:
        """Loss of each row, shape (..., n)."""
        part = self._split(theta, inputs)
        terms = self._terms(part, inputs)
        return np.exp(part["E"]) + sum(np.exp(-np.exp(part[power]) * log) for power, _, _, log in terms)

    def gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Derivative of the loss by theta, shape (..., n, P)."""
        part = self._split(theta, inputs)
        out = np.empty((*theta.shape[:-1], len(inputs), theta.shape[-1]))
        slot = self._split(out, inputs)
        slot["E"][...] = np.exp(part["E"])[..., None, :]
        for power, weights, blend, log in self._terms(part, inputs):
            slope = -np.exp(part[power]) * np.exp(-np.exp(part[power]) * log)
            slot[power][...] = (slope * log)[..., None]
            np.multiply(by_row(blend.by_weight, inputs, axis=-2), slope[..., None], out=slot[weights])
            if blend.power is not None:
                np.multiply(by_row(blend.by_power, inputs, axis=-2), slope[..., None], out=slot["g"])
        return out

    def share_gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Derivative of the loss by the shares of each row's mixture, shape (..., n, K)."""
        part = self._split(theta, inputs)
        out = np.zeros((*theta.shape[:-1], len(inputs), len(inputs.domains)))
        for power, _, blend, log in self._terms(part, inputs):
            slope = -np.exp(part[power]) * np.exp(-np.exp(part[power]) * log)
            out += by_row(blend.by_share, inputs, axis=-2) * slope[..., None]
        return out

    def starts(self, inputs: Inputs, y: Floats, rng: np.random.Generator, count: int) -> Floats:
        """Exponents drawn log-uniformly; v and c so that the terms share what E leaves of the median loss."""
        domains = len(inputs.domains)
        theta = np.zeros((count, len(self.parameters(inputs.domains))))
        part = self._split(theta, inputs)
        part["E"][...] = np.log(np.min(y) * rng.uniform(0.2, 0.9, (count, 1)))
        part["b"][...] = np.log(rng.uniform(0.1, 0.7, (count, 1)))
        part["g"][...] = np.log(rng.uniform(0.3, 1.0, (count, 1)))
        rest = np.maximum(np.median(y) - np.exp(part["E"]), 0.05)
        share = rng.uniform(0.2, 0.8, (count, 1)) if self.sized else np.ones((count, 1))
        middle = np.median(inputs.log_tokens) if self.timed else 0.0
        level = (1 - np.exp(part["g"][:, :1])) * np.log(domains)
        part["c"][...] = -np.log(rest * share) / np.exp(part["b"]) - middle - level
        part["c"][...] += 0.7 * rng.standard_normal((count, domains))
        if self.sized:
            part["a"][...] = np.log(rng.uniform(0.1, 0.7, (count, 1)))
            part["v"][...] = -np.log(rest * (1 - share)) / np.exp(part["a"]) - np.median(inputs.log_params)
            part["v"][...] += 0.7 * rng.standard_normal((count, domains))
        return clipped(theta, self.parameters(inputs.domains))


DATA = Capacity("capacity-data", sized=False, timed=False)
TIMED = Capacity("capacity-tokens", sized=False)
LAW = Capacity(reduced=(TIMED, DATA))

DATA_POWERS = Capacity("capacity-powers-data", sized=False, timed=False, per_domain=True)
TIMED_POWERS = Capacity("capacity-powers-tokens", sized=False, per_domain=True)
POWERS = Capacity("capacity-powers", per_domain=True, reduced=(TIMED_POWERS, DATA_POWERS))

EXAMPLE = Example(
    domains=("web", "code", "math"),
    theta=(0.5, -1.1, -0.9, -0.6, -0.3, -2.0, -1.2, 0.4, -0.4, 1.0),
)

EXAMPLE_POWERS = Example(
    domains=("web", "code", "math"),
    theta=(0.5, -1.1, -0.9, -0.6, -0.2, -1.0, -0.3, -2.0, -1.2, 0.4, -0.4, 1.0),
    mixtures=30,
)
