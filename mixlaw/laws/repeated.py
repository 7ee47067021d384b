"""Repeated data: any law, on the tokens that a run with repetition is worth.

    T_j = D h_j,   T'_j = U_j + U_j r (1 - exp(-(T_j / U_j - 1) / r))  where T_j > U_j, else T_j
    L'(N, D, h) = L(N, D', h')   with   D' = sum_j T'_j,   h'_j = T'_j / D'

======  =============================================  ======  ======
symbol  meaning                                        unit    shape
======  =============================================  ======  ======
U_j     unique tokens of domain j, where known         tokens  (K,)
r       epochs after which a repeated token is 1/e     1       15.39
======  =============================================  ======  ======

Source: Muennighoff et al., arXiv 2305.16264, equations 5 and 6, there for one corpus; here domain by domain. Nothing is
fitted beyond the law's own parameters.

Use it when some domains are seen more than once, in the runs or at the target. Beyond about 4 epochs it matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mixlaw.laws.base import Floats, Inputs, Law, Need, Parameter

DECAY = 15.39
UNLIMITED = 1e30
"""Unique tokens of a domain where they are not known."""
STEP = 1e-5
"""Relative step in D of the one derivative that laws do not give."""

Unique = tuple[tuple[str, float], ...]
"""Domain and unique tokens, for each domain where they are known."""


def worth(tokens: Floats, unique: Floats, *, decay: float = DECAY) -> tuple[Floats, Floats]:
    """Effective tokens of ``tokens`` drawn from ``unique`` ones, and their derivative; any one shape."""
    repeats = np.maximum(tokens / unique - 1, 0.0)
    return np.minimum(tokens, unique) - unique * decay * np.expm1(-repeats / decay), np.exp(-repeats / decay)


@dataclass(frozen=True)
class Repeated:
    """A law on effective tokens.

    Attributes:
        law: the law.
        unique: unique tokens by domain.
    """

    law: Law
    unique: Unique

    @property
    def name(self) -> str:
        """Name of the law inside."""
        return self.law.name

    @property
    def needs(self) -> frozenset[Need]:
        """Needs of the law inside."""
        return self.law.needs

    @property
    def reduced(self) -> tuple[Law, ...]:
        """Reduced forms of the law inside, on effective tokens."""
        return tuple(Repeated(law, self.unique) for law in self.law.reduced)

    def parameters(self, domains: Sequence[str]) -> tuple[Parameter, ...]:
        """Parameters of the law inside."""
        return self.law.parameters(domains)

    def predict(self, theta: Floats, inputs: Inputs) -> Floats:
        """Loss of each row, shape (..., n)."""
        return self.law.predict(theta, effective(inputs, self.unique))

    def gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Derivative of the loss by theta, shape (..., n, P)."""
        return self.law.gradient(theta, effective(inputs, self.unique))

    def share_gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Derivative of the loss by the shares, shape (..., n, K); that by D' is a central difference."""
        seen = effective(inputs, self.unique)
        gradient = self.law.share_gradient(theta, seen)
        sides = [self.law.predict(theta, _longer(seen, np.exp(by))) for by in (STEP, -STEP)]
        by_tokens = (sides[0] - sides[1]) / (2 * STEP)
        _, fading = worth(inputs.tokens[:, None] * inputs.shares, _supply(inputs, self.unique))
        centred = gradient - np.sum(gradient * seen.shares, axis=-1, keepdims=True) + by_tokens[..., None]
        return np.asarray(centred * fading * (inputs.tokens / seen.tokens)[:, None])

    def starts(self, inputs: Inputs, y: Floats, rng: np.random.Generator, count: int) -> Floats:
        """Starts of the law inside, shape (count, P)."""
        return self.law.starts(effective(inputs, self.unique), y, rng, count)


def effective(inputs: Inputs, unique: Unique) -> Inputs:
    """The inputs of runs without repetition that are worth as much."""
    tokens, _ = worth(inputs.tokens[:, None] * inputs.shares, _supply(inputs, unique))
    total = tokens.sum(axis=1)
    return replace(Inputs.build(inputs.domains, tokens / total[:, None], inputs.params, total), about=inputs.about)


def _supply(inputs: Inputs, unique: Unique) -> Floats:
    known = dict(unique)
    return np.array([known.get(domain, UNLIMITED) for domain in inputs.domains])


def _longer(inputs: Inputs, factor: float) -> Inputs:
    return replace(inputs, tokens=inputs.tokens * factor)
