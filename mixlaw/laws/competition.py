"""Competition for capacity: the language model divides its parameters among the domains so that training loss is least.

    L_i(N, D, h) = c_i x_i^-b_i + A_i (D (h_i + f))^-a_i + E_i
    x(h, N) = argmin sum_i (h_i + f) c_i x_i^-b_i   subject to   sum_i x_i = N + (K - 1) H,  x_i >= H

======  ====================================================  =====  ======
symbol  meaning                                               unit   shape
======  ====================================================  =====  ======
x_i     capacity that domain i gets                           1e8    (K,)
H       capacity that every domain has for nothing            1e8    scalar
c, b    height (at 1e8 parameters) and exponent of capacity   loss   (K,)
A, a    height (at 1e9 own tokens) and exponent of data       loss   (K,)
E_i     irreducible loss                                      loss   (K,)
f       floor that keeps empty domains finite                 1      1e-4
======  ====================================================  =====  ======

All parameters are positive and stored as logarithms; 5 K + 1 of them serve all K domains at once. Source:
arXiv 2606.08167. The optimum is ``x_i = max(H, (h_i b_i c_i / mu)^(1 / (b_i + 1)))``; the sum falls and is convex in
log mu, so that Newton's steps from a lower bracket never pass the root. H counts as at most N.

Gauge: c and b of a domain whose loss is not measured show only in the others' capacity.

Use it where the targets are the training domains and sizes differ: what one domain gains in capacity another loses.
Other targets are not served.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mixlaw.laws.base import Example, Floats, Inputs, Law, Need, Parameter
from mixlaw.laws.terms import FLOOR, clipped, exponent, split, weights_of

STEPS = 60
"""Most Newton steps for log mu; about eight are needed."""


@dataclass(frozen=True)
class Division:
    """How capacity is divided, on q distinct pairs of mixture and size.

    Attributes:
        log_x: log capacity of each domain, shape (..., q, K).
        own: derivative of log x_i by its own log weight while mu stays, shape (..., q, K); 0 at the bound H.
        pull: derivative of log mu by each domain's log weight, shape (..., q, K).
        by_floor: derivative of log x by log H, shape (..., q, K).
    """

    log_x: Floats
    own: Floats
    pull: Floats
    by_floor: Floats

    @classmethod
    def of(cls, log_weight: Floats, power: Floats, log_floor: Floats, log_size: Floats) -> Division:
        """Solve for mu.

        Args:
            log_weight: log of h b c, shape (..., q, K).
            power: b, shape (..., 1, K).
            log_floor: log H, shape (..., 1).
            log_size: log N, shape (q,).
        """
        slope = 1 / (power + 1)
        low = np.minimum(log_floor, log_size)[..., None]
        log_mu = np.max(log_weight - log_size[:, None] / slope, axis=-1, keepdims=True)
        spare = np.exp(log_size)[:, None] + (power.shape[-1] - 1) * np.exp(low)
        for _ in range(STEPS):
            log_x = slope * (log_weight - log_mu)
            active = log_x > low
            x = np.exp(np.where(active, log_x, low))
            over = x.sum(axis=-1, keepdims=True) - spare
            fall = (x * slope * active).sum(axis=-1, keepdims=True)
            log_mu = log_mu + np.where(fall > 0, over / np.where(fall > 0, fall, 1.0), 0.0)
            if np.all(over <= 1e-13 * spare):
                break
        log_x = slope * (log_weight - log_mu)
        active = log_x > low
        log_x = np.where(active, log_x, low)
        own = slope * active
        pull = np.exp(log_x) * own
        total = np.maximum(pull.sum(axis=-1, keepdims=True), 1e-300)
        free = log_floor[..., None] <= log_size[:, None]
        given = (active.sum(axis=-1, keepdims=True) - 1) * np.exp(low) / total
        by_floor = np.where(active, own * given, 1.0) * free
        return cls(log_x, own, pull / total, by_floor)


@dataclass(frozen=True)
class Competition:
    """The law, bound to a domain or not; theta = log (H, c_1 ..., b_1 ..., A_1 ..., a_1 ..., E_1 ...)."""

    name: str = "competition"
    domain: str = ""
    needs: frozenset[Need] = frozenset({"params", "tokens", "mix"})
    reduced: tuple[Law, ...] = ()
    joint: bool = True

    def about(self, domain: str) -> Competition:
        """The law of this domain's loss."""
        return replace(self, domain=domain)

    def parameters(self, domains: Sequence[str]) -> tuple[Parameter, ...]:
        """H, then c, b, A, a and E per domain."""
        powers = {s: [replace(exponent(s), name=f"{s}[{d}]") for d in domains] for s in "ba"}
        floor = Parameter("H", lower=-12.0, upper=3.0, prior=-4.0)
        heights, data = weights_of("c", domains, upper=5.0), weights_of("A", domains, upper=5.0)
        constants = [Parameter(f"E[{d}]", lower=-7.0, upper=3.0, prior=0.5) for d in domains]
        return (floor, *heights, *powers["b"], *data, *powers["a"], *constants)

    def _split(self, theta: Floats, inputs: Inputs) -> dict[str, Floats]:
        return split(theta, {"H": 1} | dict.fromkeys("cbAaE", len(inputs.domains)))

    def _about(self, inputs: Inputs) -> NDArray[np.intp]:
        """Index of each row's domain, shape (n,)."""
        if self.domain or inputs.about is None:
            return np.full(len(inputs), inputs.domains.index(self.domain), dtype=np.intp)
        return inputs.about

    def _divide(self, part: dict[str, Floats], inputs: Inputs) -> Division:
        mixtures, sizes, _ = inputs.sized_mixtures
        log_weight = np.log(mixtures + FLOOR) + (part["c"] + part["b"])[..., None, :]
        return Division.of(log_weight, np.exp(part["b"])[..., None, :], part["H"], sizes)

    def _terms(self, part: dict[str, Floats], inputs: Inputs, division: Division) -> tuple[Floats, Floats, Floats]:
        """The capacity term, the data term and its log tokens, each of shape (..., n)."""
        which = self._about(inputs)
        log_x = division.log_x[..., inputs.sized_mixtures[2], which]
        size = np.exp(part["c"][..., which] - np.exp(part["b"][..., which]) * log_x)
        tokens = inputs.log_tokens + np.log(inputs.mixtures[inputs.code, which] + FLOOR)
        return size, np.exp(part["A"][..., which] - np.exp(part["a"][..., which]) * tokens), tokens

    def predict(self, theta: Floats, inputs: Inputs) -> Floats:
        """Loss of each row, shape (..., n)."""
        part = self._split(theta, inputs)
        size, data, _ = self._terms(part, inputs, self._divide(part, inputs))
        return np.asarray(size + data + np.exp(part["E"][..., self._about(inputs)]))

    def _coupling(self, part: dict[str, Floats], inputs: Inputs, division: Division) -> tuple[Floats, Floats, Floats]:
        """Of each row, (..., n, K): its domain's indicator, d term / d log weight_k through x, and log x."""
        which, pair = self._about(inputs), inputs.sized_mixtures[2]
        own = (which[:, None] == np.arange(len(inputs.domains))).astype(np.float64)
        size, _, _ = self._terms(part, inputs, division)
        steep = size * np.exp(part["b"][..., which]) * division.own[..., pair, which]
        return (
            own,
            -steep[..., None] * (own - np.take(division.pull, pair, axis=-2)),
            np.take(division.log_x, pair, axis=-2),
        )

    def gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Derivative of the loss by theta, shape (..., n, P)."""
        part = self._split(theta, inputs)
        division = self._divide(part, inputs)
        which, pair = self._about(inputs), inputs.sized_mixtures[2]
        size, data, tokens = self._terms(part, inputs, division)
        own, coupling, log_x = self._coupling(part, inputs, division)
        power = np.exp(part["b"])[..., None, :]
        out = np.empty((*theta.shape[:-1], len(inputs), theta.shape[-1]))
        slot = self._split(out, inputs)
        slot["H"][...] = (-size * np.exp(part["b"][..., which]) * division.by_floor[..., pair, which])[..., None]
        slot["c"][...] = own * size[..., None] + coupling
        slot["b"][...] = -own * size[..., None] * power * log_x + coupling * (1 - power * log_x)
        slot["A"][...] = own * data[..., None]
        slot["a"][...] = -own * (data * tokens)[..., None] * np.exp(part["a"])[..., None, :]
        slot["E"][...] = own * np.exp(part["E"])[..., None, :]
        return out

    def share_gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Derivative of the loss by the shares of each row's mixture, shape (..., n, K)."""
        part = self._split(theta, inputs)
        division = self._divide(part, inputs)
        _, data, _ = self._terms(part, inputs, division)
        own, coupling, _ = self._coupling(part, inputs, division)
        tokens = own * data[..., None] * np.exp(part["a"])[..., None, :]
        return np.asarray((coupling - tokens) / (inputs.shares + FLOOR))

    def starts(self, inputs: Inputs, y: Floats, rng: np.random.Generator, count: int) -> Floats:
        """Per domain: E below the smallest loss, the rest shared by capacity and data; H a small part of N."""
        which, domains = self._about(inputs), len(inputs.domains)
        own = [y[which == i] if (which == i).any() else y for i in range(domains)]
        constant = np.array([v.min() for v in own]) * rng.uniform(0.2, 0.9, (count, domains))
        rest = np.maximum(np.array([np.median(v) for v in own]) - constant, 0.05)
        share = rng.uniform(0.2, 0.8, (count, domains))
        b, a = rng.uniform(0.1, 0.7, (2, count, domains))
        height = np.log(rest * share) + b * (np.median(inputs.log_params) - np.log(domains))
        data = np.log(rest * (1 - share)) + a * (np.median(inputs.log_tokens) - np.log(domains))
        floor = np.log(rng.uniform(0.01, 0.3, (count, 1)) / domains) + np.min(inputs.log_params)
        theta = np.concatenate([floor, height, np.log(b), data, np.log(a), np.log(constant)], axis=1)
        return clipped(theta, self.parameters(inputs.domains))


LAW = Competition()

EXAMPLE = Example(
    domains=("web", "code", "math"),
    theta=(-2.5, 0.0, -0.3, -0.6, -1.0, -0.7, -1.2, -0.3, -0.6, 0.0, -1.0, -0.8, -1.2, 0.5, 0.2, -0.1),
    alpha=2.0,
)
