"""Effective capacity and effective data: ``capacity``, this project's own law.

    L(N, D, h) = E + (N sum_j v_j h_j)^-a + (D sum_j c_j (h_j + f)^g)^-b

======  ==========================================  ===========  =======
symbol  meaning                                     unit         shape
======  ==========================================  ===========  =======
E       irreducible loss                            loss         scalar
a, b    exponents of capacity and of data           1            scalar
g       returns of a domain's share                 1            scalar
v_j     use of a parameter under domain j           1/1e8        (K,)
c_j     worth of a token of domain j for the target 1/1e9        (K,)
f       floor that keeps empty domains finite       1            1e-4
======  ==========================================  ===========  =======

All parameters are positive and stored as logarithms. Source: this project; no paper prints this form. It has the
properties that CAMEL (arXiv 2603.08022) describes, a nonlinear interplay of model size and mixture, but CAMEL's
equations were not available to us and this is not one of them. Chosen by held-out error at larger scale.

Gauge: nothing is redundant while N and D vary independently. With one D/N for all runs a and b trade off; with one
N the capacity term and with one D the unit of data cannot be told apart, so the reduced forms drop them.

Use it when runs differ in size, tokens and mixture and the target run is larger than all of them. Not for targets
whose loss is flat in the mixture: K of the parameters then measure noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mixlaw.laws.base import Example, Floats, Inputs, Law, Need, Parameter
from mixlaw.laws.terms import FLOOR


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
        needs: set[Need] = {"mix"}
        needs |= {"params"} if self.sized else set()
        needs |= {"tokens"} if self.timed else set()
        return frozenset(needs)

    def parameters(self, domains: Sequence[str]) -> tuple[Parameter, ...]:
        """E, b, [a], g (or one per domain), c per domain, [v per domain]."""
        names = ["E", "b", *(["a"] if self.sized else [])]
        scalars = [Parameter(n, lower=np.log(low), upper=np.log(high), prior=p) for n, low, high, p in (
            ("E", 1e-3, 20.0, 0.5), ("b", 0.01, 3.0, -1.2), ("a", 0.01, 3.0, -1.2)) if n in names]  # fmt: skip
        powers = [f"g[{d}]" for d in domains] if self.per_domain else ["g"]
        scalars += [Parameter(n, lower=np.log(0.02), upper=np.log(3.0), prior=-0.7) for n in powers]
        worth = [Parameter(f"c[{d}]", lower=-18.0, upper=18.0) for d in domains]
        use = [Parameter(f"v[{d}]", lower=-18.0, upper=18.0) for d in domains] if self.sized else []
        return (*scalars, *worth, *use)

    def _split(self, theta: Floats, domains: int) -> dict[str, Floats]:
        """The parts of theta: scalars as (..., 1), vectors as (..., K)."""
        sizes = {"E": 1, "b": 1, **({"a": 1} if self.sized else {}), "g": domains if self.per_domain else 1}
        sizes |= {"c": domains, **({"v": domains} if self.sized else {})}
        ends = np.cumsum(list(sizes.values()))
        return {name: theta[..., end - size : end] for (name, size), end in zip(sizes.items(), ends, strict=True)}

    def _data(self, part: dict[str, Floats], inputs: Inputs) -> tuple[Floats, Floats, Floats]:
        """Worth per domain and mixture (..., m, K), its log sum (..., m), and the data term (..., n)."""
        log_share = np.log(inputs.mixtures + FLOOR)
        worth = np.exp(part["c"][..., None, :] + np.exp(part["g"])[..., None, :] * log_share)
        log_sum = np.log(worth.sum(axis=-1))
        log_data = np.take(log_sum, inputs.code, axis=-1)
        if self.timed:
            log_data = log_data + inputs.log_tokens
        return worth, log_sum, log_data

    def _capacity(self, part: dict[str, Floats], inputs: Inputs) -> tuple[Floats, Floats, Floats]:
        """As ``_data``, for the capacity term."""
        use = np.exp(part["v"])[..., None, :] * inputs.mixtures
        log_sum = np.log(use.sum(axis=-1))
        return use, log_sum, np.take(log_sum, inputs.code, axis=-1) + inputs.log_params

    def predict(self, theta: Floats, inputs: Inputs) -> Floats:
        """Loss of each row, shape (..., n)."""
        part = self._split(theta, len(inputs.domains))
        loss = np.exp(part["E"]) + np.exp(-np.exp(part["b"]) * self._data(part, inputs)[2])
        if self.sized:
            loss = loss + np.exp(-np.exp(part["a"]) * self._capacity(part, inputs)[2])
        return loss

    def gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Derivative of the loss by theta, shape (..., n, P)."""
        part = self._split(theta, len(inputs.domains))
        out = np.empty((*theta.shape[:-1], len(inputs), theta.shape[-1]))
        slot = self._split(out, len(inputs.domains))
        slot["E"][...] = np.exp(part["E"])[..., None, :]
        worth, log_sum, log_data = self._data(part, inputs)
        power = np.exp(part["b"])
        slope = -power * np.exp(-power * log_data)
        slot["b"][...] = (slope * log_data)[..., None]
        ratio = worth / np.exp(log_sum)[..., None]
        np.multiply(np.take(ratio, inputs.code, axis=-2), slope[..., None], out=slot["c"])
        by_power = ratio * np.log(inputs.mixtures + FLOOR) * np.exp(part["g"])[..., None, :]
        if not self.per_domain:
            by_power = by_power.sum(axis=-1, keepdims=True)
        np.multiply(np.take(by_power, inputs.code, axis=-2), slope[..., None], out=slot["g"])
        if self.sized:
            use, log_sum, log_size = self._capacity(part, inputs)
            power = np.exp(part["a"])
            slope = -power * np.exp(-power * log_size)
            slot["a"][...] = (slope * log_size)[..., None]
            ratio = use / np.exp(log_sum)[..., None]
            np.multiply(np.take(ratio, inputs.code, axis=-2), slope[..., None], out=slot["v"])
        return out

    def share_gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Derivative of the loss by the shares of each row's mixture, shape (..., n, K)."""
        part = self._split(theta, len(inputs.domains))
        worth, log_sum, log_data = self._data(part, inputs)
        power = np.exp(part["b"])
        slope = -power * np.exp(-power * log_data - np.take(log_sum, inputs.code, axis=-1))
        change = worth * np.exp(part["g"])[..., None, :] / (inputs.mixtures + FLOOR)
        out = np.take(change, inputs.code, axis=-2) * slope[..., None]
        if self.sized:
            _, log_sum, log_size = self._capacity(part, inputs)
            power = np.exp(part["a"])
            slope = -power * np.exp(-power * log_size - np.take(log_sum, inputs.code, axis=-1))
            out = out + np.exp(part["v"])[..., None, :] * slope[..., None]
        return np.asarray(out)

    def starts(self, inputs: Inputs, y: Floats, rng: np.random.Generator, count: int) -> Floats:
        """Exponents drawn log-uniformly; v and c so that the terms share what E leaves of the median loss."""
        domains = len(inputs.domains)
        theta = np.zeros((count, len(self.parameters(inputs.domains))))
        part = self._split(theta, domains)
        part["E"][...] = np.log(np.min(y) * rng.uniform(0.2, 0.9, (count, 1)))
        part["b"][...] = np.log(rng.uniform(0.1, 0.7, (count, 1)))
        part["g"][...] = np.log(rng.uniform(0.3, 1.0, (count, 1)))
        rest = np.maximum(np.median(y) - np.exp(part["E"]), 0.05)
        share = rng.uniform(0.2, 0.8, (count, 1)) if self.sized else np.ones((count, 1))
        middle = np.median(inputs.log_tokens) if self.timed else 0.0
        spread = np.exp(part["g"]) if self.per_domain else np.broadcast_to(np.exp(part["g"]), (count, domains))
        level = (spread * np.log(1 / domains)).mean(axis=1, keepdims=True) + np.log(domains)
        part["c"][...] = -np.log(rest * share) / np.exp(part["b"]) - middle - level
        part["c"][...] += 0.7 * rng.standard_normal((count, domains))
        if self.sized:
            part["a"][...] = np.log(rng.uniform(0.1, 0.7, (count, 1)))
            part["v"][...] = -np.log(rest * (1 - share)) / np.exp(part["a"]) - np.median(inputs.log_params)
            part["v"][...] += 0.7 * rng.standard_normal((count, domains))
        return theta


DATA = Capacity("capacity-data", sized=False, timed=False)
TIMED = Capacity("capacity-tokens", sized=False)
LAW = Capacity(reduced=(TIMED, DATA))

EXAMPLE = Example(
    domains=("web", "code", "math"),
    theta=(0.5, -1.1, -0.9, -0.6, -0.3, -2.0, -1.2, 0.4, -0.4, 1.0),
)
