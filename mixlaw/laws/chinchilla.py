"""The null law: loss from size and tokens alone, whatever the mixture.

    L(N, D) = E + A N^-a + B D^-b

======  ====================================  =======  ======
symbol  meaning                               unit     shape
======  ====================================  =======  ======
E       irreducible loss                      loss     scalar
A, B    loss at N = 1e8 and at D = 1e9 above  loss     scalar
a, b    exponents                             1        scalar
======  ====================================  =======  ======

All parameters are positive and stored as logarithms. Source: Hoffmann et al., arXiv 2203.15556, equation 2; A and B
are quoted there for N and D counted one by one: ``A = ours * 1e8^a``, ``B = ours * 1e9^b``.

Gauge: none while N and D vary independently; with one D/N for all runs the two power laws cannot be told apart.

Use it as the baseline that any law with a mixture in it must beat. Not for choosing a mixture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mixlaw.laws.base import Example, Floats, Inputs, Law, Need, Parameter
from mixlaw.laws.terms import Scale

SCALE = Scale()


@dataclass(frozen=True)
class Chinchilla:
    """The law; theta = log (E, A, B, a, b)."""

    name: str = "chinchilla"
    needs: frozenset[Need] = frozenset({"params", "tokens"})
    reduced: tuple[Law, ...] = ()

    def parameters(self, domains: Sequence[str]) -> tuple[Parameter, ...]:
        """E, A, B, a, b, whatever the domains."""
        return SCALE.parameters()

    def predict(self, theta: Floats, inputs: Inputs) -> Floats:
        """Loss of each row, shape (..., n)."""
        return SCALE.predict(theta, inputs)

    def gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Derivative of the loss by theta, shape (..., n, P)."""
        return SCALE.gradient(theta, inputs)

    def share_gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Zero: the mixture does not enter."""
        return np.zeros((*theta.shape[:-1], len(inputs), len(inputs.domains)))

    def starts(self, inputs: Inputs, y: Floats, rng: np.random.Generator, count: int) -> Floats:
        """Those of the scale terms."""
        return SCALE.starts(inputs, y, rng, count)


LAW = Chinchilla()

EXAMPLE = Example(domains=("web", "code"), theta=(0.6, -0.5, -0.3, -1.1, -0.9), mixtures=2)
