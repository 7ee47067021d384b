"""Building blocks that several laws share: the scale terms and the floor under empty domains."""

from __future__ import annotations

import numpy as np

from mixlaw.laws.base import Floats, Inputs, Parameter

FLOOR = 1e-4
"""Added to every share where a power of it is taken, so that empty domains have finite derivatives."""


class Scale:
    """``E + A N^-a + B D^-b`` with theta = log (E, A, B, a, b), shape (..., 5)."""

    size = 5

    @staticmethod
    def parameters() -> tuple[Parameter, ...]:
        """E, A, B, a, b."""
        scale = [Parameter(n, lower=-7.0, upper=5.0, prior=p) for n, p in (("E", 0.5), ("A", 0.0), ("B", 0.0))]
        return (*scale, *(Parameter(n, lower=np.log(0.01), upper=np.log(3.0), prior=-1.2) for n in "ab"))

    @staticmethod
    def terms(theta: Floats, inputs: Inputs) -> tuple[Floats, Floats, Floats]:
        """The three terms, each of shape (..., n)."""
        e, a, b, alpha, beta = (theta[..., i, None] for i in range(5))
        size = np.exp(a - np.exp(alpha) * inputs.log_params)
        data = np.exp(b - np.exp(beta) * inputs.log_tokens)
        return np.broadcast_to(np.exp(e), size.shape), size, data

    @classmethod
    def predict(cls, theta: Floats, inputs: Inputs) -> Floats:
        """Sum of the terms, shape (..., n)."""
        constant, size, data = cls.terms(theta, inputs)
        return np.asarray(constant + size + data)

    @classmethod
    def gradient(cls, theta: Floats, inputs: Inputs) -> Floats:
        """Derivative of the sum by theta, shape (..., n, 5)."""
        constant, size, data = cls.terms(theta, inputs)
        by_alpha = -size * np.exp(theta[..., 3, None]) * inputs.log_params
        by_beta = -data * np.exp(theta[..., 4, None]) * inputs.log_tokens
        return np.stack([constant, size, data, by_alpha, by_beta], axis=-1)

    @staticmethod
    def starts(inputs: Inputs, y: Floats, rng: np.random.Generator, count: int) -> Floats:
        """E below the smallest loss, the rest shared by the two terms, exponents uniform."""
        floor = np.min(y) * rng.uniform(0.2, 0.95, count)
        rest = np.maximum(np.median(y) - floor, 0.02)
        share = rng.uniform(0.2, 0.8, count)
        alpha, beta = rng.uniform(0.1, 0.8, (2, count))
        a = np.log(rest * share) + alpha * np.median(inputs.log_params)
        b = np.log(rest * (1 - share)) + beta * np.median(inputs.log_tokens)
        return np.stack([np.log(floor), a, b, np.log(alpha), np.log(beta)], axis=-1)
