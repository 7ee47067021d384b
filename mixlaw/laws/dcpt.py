"""The D-CPT law of continual pre-training: loss on one corpus against its share, model size and tokens.

    L_i(N, D, r) = E + A N^-a + B r^eta D^-b + C (r + e)^-g

======  ==============================================  =======  ======
symbol  meaning                                         unit     shape
======  ==============================================  =======  ======
r       share of the corpus i that is predicted         1        (n,)
E       irreducible loss                                loss     scalar
A, a    size term at N = 1e8, its exponent              loss, 1  scalar
B, b    data term at D = 1e9 and r = 1, its exponent    loss, 1  scalar
eta     how the data term grows with the share          1        scalar
C, g    cost of a small share at r + e = 1, exponent    loss, 1  scalar
e       share at which that cost levels off             1        scalar
======  ==============================================  =======  ======

All nine parameters are positive and stored as logarithms. Source: Que et al., arXiv 2406.01375, fitted separately to
the loss on the domain corpus (r its share) and on the general corpus (r the replay share). A floor of 1e-4 is added
to r in the data term, so that a corpus with share 0 has derivatives.

Gauge: none while N, D and r vary independently. Without several sizes A and a go into E, without several token counts
b goes into B: the reduced forms leave them out. The paper asks for dL/dr < 0 on the box that is used; nothing in the
form enforces it.

Use it for the forgetting budget of continual pre-training, where targets are the corpora themselves. It is monotone
in D and cannot describe a loss that rises and then falls within a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mixlaw.laws.base import Example, Floats, Inputs, Law, Need, Parameter
from mixlaw.laws.terms import FLOOR, by_row, clipped, exponent, needs_of, split

_PARAMETERS = (
    Parameter("E", lower=-7.0, upper=5.0, prior=0.5),
    Parameter("A", lower=-9.0, upper=5.0),
    exponent("a"),
    Parameter("B", lower=-12.0, upper=5.0, prior=-1.0),
    exponent("b"),
    Parameter("eta", lower=np.log(0.02), upper=np.log(6.0)),
    Parameter("C", lower=-12.0, upper=5.0, prior=-2.0),
    Parameter("g", lower=np.log(0.01), upper=np.log(6.0), prior=-1.0),
    Parameter("e", lower=np.log(1e-5), upper=0.0, prior=-3.0),
)


@dataclass(frozen=True)
class Dcpt:
    """The law of one corpus's loss, or its form for one N or one D.

    Attributes:
        name: of the form.
        domain: corpus whose loss is predicted.
        sized: with A and a.
        timed: with b.
        reduced: forms with fewer needs.
        joint: every corpus has its own theta.
    """

    name: str = "dcpt"
    domain: str = ""
    sized: bool = True
    timed: bool = True
    reduced: tuple[Law, ...] = ()
    joint: bool = False

    def about(self, domain: str) -> Dcpt:
        """The law of this corpus's loss."""
        return replace(self, domain=domain)

    @property
    def needs(self) -> frozenset[Need]:
        """Columns that must take several values."""
        return needs_of(sized=self.sized, timed=self.timed)

    def parameters(self, domains: Sequence[str]) -> tuple[Parameter, ...]:
        """E, A, a, B, b, eta, C, g, e, as far as the form has them."""
        absent = {*(() if self.sized else ("A", "a")), *(() if self.timed else ("b",))}
        return tuple(p for p in _PARAMETERS if p.name not in absent)

    def _terms(self, theta: Floats, inputs: Inputs) -> dict[str, Floats]:
        """Parameters (..., 1) by name, the share r (n,), and the three varying terms (..., n)."""
        names = [p.name for p in self.parameters(inputs.domains)]
        value = {name: np.exp(part) for name, part in split(theta, dict.fromkeys(names, 1)).items()}
        r = by_row(inputs.mixtures[:, inputs.domains.index(self.domain)], inputs)
        data = value["B"] * (r + FLOOR) ** value["eta"]
        if self.timed:
            data = data * np.exp(-value["b"] * inputs.log_tokens)
        value |= {"r": r, "data": data, "scarce": value["C"] * (r + value["e"]) ** -value["g"]}
        if self.sized:
            value["size"] = value["A"] * np.exp(-value["a"] * inputs.log_params)
        return value

    def predict(self, theta: Floats, inputs: Inputs) -> Floats:
        """Loss of each row, shape (..., n)."""
        t = self._terms(theta, inputs)
        return np.asarray(t["E"] + t["data"] + t["scarce"] + (t["size"] if self.sized else 0.0))

    def gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Derivative of the loss by theta, shape (..., n, P)."""
        t = self._terms(theta, inputs)
        slopes = {
            "E": np.broadcast_to(t["E"], t["data"].shape),
            "B": t["data"],
            "eta": t["eta"] * t["data"] * np.log(t["r"] + FLOOR),
            "C": t["scarce"],
            "g": -t["g"] * t["scarce"] * np.log(t["r"] + t["e"]),
            "e": -t["g"] * t["e"] * t["scarce"] / (t["r"] + t["e"]),
        }
        if self.sized:
            slopes |= {"A": t["size"], "a": -t["a"] * t["size"] * inputs.log_params}
        if self.timed:
            slopes["b"] = -t["b"] * t["data"] * inputs.log_tokens
        return np.stack([slopes[p.name] for p in self.parameters(inputs.domains)], axis=-1)

    def share_gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Derivative of the loss by the shares of each row's mixture, shape (..., n, K); zero but for its own."""
        t = self._terms(theta, inputs)
        out = np.zeros((*t["data"].shape, len(inputs.domains)))
        slope = t["eta"] * t["data"] / (t["r"] + FLOOR) - t["g"] * t["scarce"] / (t["r"] + t["e"])
        out[..., inputs.domains.index(self.domain)] = slope
        return out

    def starts(self, inputs: Inputs, y: Floats, rng: np.random.Generator, count: int) -> Floats:
        """Most of the loss in E, the spread of losses divided at random among the other terms."""
        spread = max(float(np.ptp(y)), 0.01)
        ranges = {"a": (0.1, 0.8), "b": (0.05, 0.6), "eta": (0.2, 2.0), "g": (0.2, 2.0), "e": (0.005, 0.3)}
        drawn = {name: np.log(rng.uniform(*limits, count)) for name, limits in ranges.items()}
        drawn["E"] = np.log(float(np.min(y)) * rng.uniform(0.5, 0.97, count))
        for name in "ABC":
            drawn[name] = np.log(spread * rng.uniform(0.05, 1.0, count))
        columns = [drawn[p.name] for p in self.parameters(inputs.domains)]
        return clipped(np.stack(columns, axis=-1), self.parameters(inputs.domains))


STILL = Dcpt("dcpt-mix", sized=False, timed=False)
UNSIZED = Dcpt("dcpt-tokens", sized=False)
UNTIMED = Dcpt("dcpt-params", timed=False)
LAW = Dcpt(reduced=(UNTIMED, UNSIZED, STILL))

EXAMPLE = Example(domains=("general", "code"), theta=(0.3, -0.4, -0.9, -0.7, -0.8, -0.5, -1.6, -0.3, -2.0), mixtures=24)
