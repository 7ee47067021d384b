"""Forms of accuracy as a function of one or several losses.

    sigmoid      Acc = lo + (hi - lo) sigmoid(w0 - sum_i w_i L_i)     hi fitted, at most 1
    to_one       the same with hi = 1
    exponential  Acc = 1 - e + k exp(-sum_i g_i L_i)                  arXiv 2403.08540 (there for averages over tasks)

``lo`` is the chance level, known and not fitted; w and g are positive and stored as logarithms, k as a logarithm.
Losses are taken relative to the smallest seen, so that k and w0 say what happens there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mixlaw.laws.base import Floats


@dataclass(frozen=True)
class Sigmoid:
    """theta = (hi, w0, log w_1 ... log w_k)."""

    name: str
    lo: float
    free: bool

    def bounds(self, inputs: int) -> tuple[Floats, Floats]:
        """Lower and upper bounds, each (P,)."""
        low = np.array([self.lo + 0.02 if self.free else 1.0, -30.0, *[-12.0] * inputs])
        return low, np.array([1.0, 30.0, *[4.0] * inputs])

    def starts(self, losses: Floats, accuracy: Floats) -> Floats:
        """Starting points, shape (s, P)."""
        best = float(np.clip(np.quantile(accuracy, 0.9), self.lo + 0.02, 0.99))
        tops = [1.0, min(1.0, self.lo + 1.3 * (best - self.lo))] if self.free else [1.0]
        steep = (0.5, 1.0, 2.0, 4.0)
        return np.array([self._start(top, slope, best, losses.shape[1]) for top in tops for slope in steep])

    def _start(self, top: float, slope: float, best: float, inputs: int) -> list[float]:
        share = float(np.clip((best - self.lo) / (top - self.lo), 0.02, 0.98))
        return [top, float(np.log(share / (1 - share))), *[float(np.log(slope / inputs))] * inputs]

    def value(self, theta: Floats, losses: Floats) -> Floats:
        """Accuracy of each row, shape (B, n)."""
        return np.asarray(self.lo + (theta[:, :1] - self.lo) * self._sigmoid(theta, losses))

    def jacobian(self, theta: Floats, losses: Floats) -> tuple[Floats, Floats]:
        """Accuracy (B, n) and its derivatives by theta (B, n, P)."""
        s = self._sigmoid(theta, losses)
        slope = (theta[:, :1] - self.lo) * s * (1 - s)
        by_weight = -slope[..., None] * losses * np.exp(theta[:, None, 2:])
        return self.lo + (theta[:, :1] - self.lo) * s, np.concatenate([s[..., None], slope[..., None], by_weight], -1)

    def slope(self, theta: Floats, losses: Floats) -> Floats:
        """Derivative by the losses, (B, n, k)."""
        s = self._sigmoid(theta, losses)
        return np.asarray(-((theta[:, :1] - self.lo) * s * (1 - s))[..., None] * np.exp(theta[:, None, 2:]))

    @staticmethod
    def _sigmoid(theta: Floats, losses: Floats) -> Floats:
        index = theta[:, 1:2] - np.exp(theta[:, 2:]) @ losses.T
        return np.asarray(0.5 * (1 + np.tanh(0.5 * index)))


@dataclass(frozen=True)
class Exponential:
    """theta = (1 - e, log k, log g_1 ... log g_k)."""

    name: str = "exponential"

    def bounds(self, inputs: int) -> tuple[Floats, Floats]:
        """Lower and upper bounds, each (P,)."""
        return np.array([-1.0, -12.0, *[-4.0] * inputs]), np.array([1.0, 1.0, *[3.0] * inputs])

    def starts(self, losses: Floats, accuracy: Floats) -> Floats:
        """Starting points, shape (s, P)."""
        low = float(np.quantile(accuracy, 0.1))
        reach = float(np.log(max(np.quantile(accuracy, 0.95) - low, 0.02)))
        inputs = losses.shape[1]
        return np.array([[low, reach, *[np.log(g / inputs)] * inputs] for g in (0.3, 1.0, 3.0)])

    def value(self, theta: Floats, losses: Floats) -> Floats:
        """Accuracy of each row, shape (B, n)."""
        return np.asarray(theta[:, :1] + self._term(theta, losses))

    def jacobian(self, theta: Floats, losses: Floats) -> tuple[Floats, Floats]:
        """Accuracy (B, n) and its derivatives by theta (B, n, P)."""
        term = self._term(theta, losses)
        by_rate = -term[..., None] * losses * np.exp(theta[:, None, 2:])
        one = np.ones((*term.shape, 1))
        return theta[:, :1] + term, np.concatenate([one, term[..., None], by_rate], axis=-1)

    def slope(self, theta: Floats, losses: Floats) -> Floats:
        """Derivative by the losses, (B, n, k)."""
        return np.asarray(-self._term(theta, losses)[..., None] * np.exp(theta[:, None, 2:]))

    @staticmethod
    def _term(theta: Floats, losses: Floats) -> Floats:
        return np.asarray(np.exp(np.minimum(theta[:, 1:2] - np.exp(theta[:, 2:]) @ losses.T, 30.0)))


Form = Sigmoid | Exponential


def forms(chance: float, *, average: bool = False) -> tuple[Form, ...]:
    """The three forms for a task with this chance level; for an average over tasks the exponential alone.

    An average has no chance level or ceiling of its own; the exponential was published for averages.
    """
    if average:
        return (Exponential(),)
    return Sigmoid("sigmoid", chance, free=True), Sigmoid("to_one", chance, free=False), Exponential()
