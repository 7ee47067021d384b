"""BiMix: the loss on a training domain from that domain's own share and the tokens.

    L_i(D, h) = (h_i + f)^-a (B D^-b + C)

======  =====================================================  =====  ======
symbol  meaning                                                unit   shape
======  =====================================================  =====  ======
h_i     share of the domain that the target is                 1      scalar
a       returns of the domain's own share                      1      scalar
B, b    height (at D = 1e9) and exponent of the data term      loss   scalar
C       what no amount of tokens removes at h_i = 1            loss   scalar
f       floor that keeps a domain with share 0 finite          1      1e-4
======  =====================================================  =====  ======

All parameters are positive and stored as logarithms. Source: Ge et al., arXiv 2405.14908, equation 1, where
``A_i h_i^-a_i (B_i s^-b_i + C_i)`` is printed over training steps s; tokens here.

Gauge: the printed A is redundant (only AB and AC count); A = 1 here.

Use it where targets are the training domains and a domain's loss depends on little but its own share. It knows
nothing of N: with several sizes in the table it averages over them. Targets that are not domains are not served.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mixlaw.laws.base import Example, Floats, Inputs, Law, Need, Parameter
from mixlaw.laws.terms import FLOOR, by_row, clipped, exponent, needs_of, split


@dataclass(frozen=True)
class BiMix:
    """The law of one domain's loss, or its form for one D; theta = log (a, C, B, b)."""

    name: str = "bimix"
    domain: str = ""
    timed: bool = True
    reduced: tuple[Law, ...] = ()
    joint: bool = False

    def about(self, domain: str) -> BiMix:
        """The law of this domain's loss."""
        return replace(self, domain=domain)

    @property
    def needs(self) -> frozenset[Need]:
        """Columns that must take several values."""
        return needs_of(sized=False, timed=self.timed)

    def parameters(self, domains: Sequence[str]) -> tuple[Parameter, ...]:
        """a, C, B, b, whatever the domains."""
        shape = Parameter("a", lower=np.log(1e-3), upper=np.log(3.0), prior=-2.0)
        data = (Parameter("B", lower=-7.0, upper=5.0), exponent("b")) if self.timed else ()
        return (shape, Parameter("C", lower=-7.0, upper=5.0, prior=0.5), *data)

    def _parts(self, theta: Floats, inputs: Inputs) -> tuple[dict[str, Floats], Floats, Floats, Floats, Floats]:
        """Theta by name; log share (m,), its power (..., n), the constant and the data term (..., n)."""
        part = split(theta, dict.fromkeys("aCBb" if self.timed else "aC", 1))
        log_share = np.log(inputs.mixtures[:, inputs.domains.index(self.domain)] + FLOOR)
        power = by_row(np.exp(-np.exp(part["a"]) * log_share), inputs)
        data = np.exp(part["B"] - np.exp(part["b"]) * inputs.log_tokens) if self.timed else np.zeros(())
        return part, log_share, power, np.exp(part["C"]), data

    def predict(self, theta: Floats, inputs: Inputs) -> Floats:
        """Loss of each row, shape (..., n)."""
        _, _, power, constant, data = self._parts(theta, inputs)
        return np.asarray(power * (constant + data))

    def gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Derivative of the loss by theta, shape (..., n, P)."""
        part, log_share, power, constant, data = self._parts(theta, inputs)
        slopes = [-power * (constant + data) * np.exp(part["a"]) * by_row(log_share, inputs), power * constant]
        if self.timed:
            slopes += [power * data, -power * data * np.exp(part["b"]) * inputs.log_tokens]
        return np.stack(slopes, axis=-1)

    def share_gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Derivative of the loss by the shares of each row's mixture, shape (..., n, K); zero but for its own."""
        part, log_share, power, constant, data = self._parts(theta, inputs)
        out = np.zeros((*power.shape, len(inputs.domains)))
        slope = -power * (constant + data) * np.exp(part["a"]) / np.exp(by_row(log_share, inputs))
        out[..., inputs.domains.index(self.domain)] = slope
        return out

    def starts(self, inputs: Inputs, y: Floats, rng: np.random.Generator, count: int) -> Floats:
        """A small exponent of the share, the rest of the median loss divided between C and the data term."""
        shape, power = rng.uniform(0.01, 0.3, (count, 1)), rng.uniform(0.1, 0.7, (count, 1))
        own = inputs.shares[:, inputs.domains.index(self.domain)] + FLOOR
        level = np.median(y) * np.exp(shape * np.median(np.log(own)))
        constant = level * rng.uniform(0.3, 0.95, (count, 1)) if self.timed else level
        columns = [np.log(shape), np.log(constant)]
        if self.timed:
            columns += [np.log(level - constant) + power * np.median(inputs.log_tokens), np.log(power)]
        return clipped(np.concatenate(columns, axis=1), self.parameters(inputs.domains))


STILL = BiMix("bimix-mix", timed=False)
LAW = BiMix(reduced=(STILL,))

EXAMPLE = Example(domains=("web", "code", "math"), theta=(-2.3, 0.5, -0.4, -1.0), params=(1e8,), alpha=2.0)
