"""What a law is: a stateless functional form with named parameters, a gradient and starting points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Need = Literal["params", "tokens", "mix"]

PARAMS_UNIT = 1e8
"""Laws see N in units of 1e8 parameters ..."""
TOKENS_UNIT = 1e9
"""... and D in units of 1e9 tokens, so that logs of all parameters are of order one."""


@dataclass(frozen=True)
class Inputs:
    """What a law sees of n rows.

    Attributes:
        domains: names of the training domains, K of them.
        mixtures: distinct mixtures, shape (m, K).
        code: index of each row's mixture, shape (n,).
        params: N of each row, shape (n,); NaN where unknown.
        tokens: D of each row, shape (n,); NaN where unknown.
        about: index of the domain whose loss a row is, shape (n,); only where one law serves all domains at once.
    """

    domains: tuple[str, ...]
    mixtures: Floats
    code: NDArray[np.intp]
    params: Floats
    tokens: Floats
    about: NDArray[np.intp] | None = None

    def __len__(self) -> int:
        return len(self.code)

    @cached_property
    def log_params(self) -> Floats:
        """log(N / 1e8), shape (n,)."""
        return np.log(self.params / PARAMS_UNIT)

    @cached_property
    def log_tokens(self) -> Floats:
        """log(D / 1e9), shape (n,)."""
        return np.log(self.tokens / TOKENS_UNIT)

    @cached_property
    def sized_mixtures(self) -> tuple[Floats, Floats, NDArray[np.intp]]:
        """Distinct pairs of mixture and N: mixtures (q, K), log(N / 1e8) (q,), and each row's pair (n,)."""
        sizes, size = np.unique(self.log_params, return_inverse=True)
        pairs, code = np.unique(self.code * len(sizes) + size.reshape(-1), return_inverse=True)
        return self.mixtures[pairs // len(sizes)], sizes[pairs % len(sizes)], code.reshape(-1).astype(np.intp)

    @property
    def shares(self) -> Floats:
        """Mixture of each row, shape (n, K)."""
        return self.mixtures[self.code]

    def rows(self, index: NDArray[np.intp] | NDArray[np.bool_]) -> Inputs:
        """The inputs of some rows."""
        about = None if self.about is None else self.about[index]
        return Inputs(self.domains, self.mixtures, self.code[index], self.params[index], self.tokens[index], about)

    @classmethod
    def build(cls, domains: Sequence[str], shares: Floats, params: Floats | float, tokens: Floats | float) -> Inputs:
        """Build inputs from one mixture per row, shape (n, K); ``params`` and ``tokens`` may be one number."""
        mixtures, code = np.unique(np.atleast_2d(shares), axis=0, return_inverse=True)
        n = len(code)
        return cls(
            tuple(domains),
            mixtures,
            code.reshape(-1).astype(np.intp),
            np.broadcast_to(np.asarray(params, dtype=np.float64), (n,)).copy(),
            np.broadcast_to(np.asarray(tokens, dtype=np.float64), (n,)).copy(),
        )


@dataclass(frozen=True)
class Parameter:
    """One entry of a parameter vector.

    Attributes:
        name: symbol, with the domain where it belongs to one, as in ``c[web]``.
        log: the vector holds the natural logarithm of the value.
        lower: bound on the entry of the vector.
        upper: bound on the entry of the vector.
        prior: where starts are centred, and where ``pull`` pulls.
        pull: strength of a pull towards ``prior``, in units of the solver's ridge; 0 for none.
    """

    name: str
    log: bool = True
    lower: float = -np.inf
    upper: float = np.inf
    prior: float = 0.0
    pull: float = 0.0

    def value(self, entry: float) -> float:
        """The parameter itself, from its entry in the vector."""
        return float(np.exp(entry)) if self.log else float(entry)


class Law(Protocol):
    """A functional form for the loss of one target.

    ``theta`` has shape (..., P): any number of parameter vectors at once. Losses are in the unit of the data,
    shape (..., n); gradients have shape (..., n, P).
    """

    @property
    def name(self) -> str:
        """Key in ``LAWS``."""

    @property
    def needs(self) -> frozenset[Need]:
        """What must take at least two values in the data for the law to be fitted."""

    @property
    def reduced(self) -> tuple[Law, ...]:
        """Forms of the law with fewer needs, the richest first."""

    def parameters(self, domains: Sequence[str]) -> tuple[Parameter, ...]:
        """The parameter vector for these domains."""

    def predict(self, theta: Floats, inputs: Inputs) -> Floats:
        """Loss of each row."""

    def gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Derivative of the loss of each row by each entry of theta."""

    def share_gradient(self, theta: Floats, inputs: Inputs) -> Floats:
        """Derivative of the loss of each row by the shares of its mixture, shape (..., n, K).

        Shares count as free variables; a step along the simplex is the caller's business.
        """

    def starts(self, inputs: Inputs, y: Floats, rng: np.random.Generator, count: int) -> Floats:
        """Starting points, shape (count, P), inside the bounds; ``y`` holds losses, shape (n,)."""


@runtime_checkable
class DomainLaw(Law, Protocol):
    """A law of the loss on a training domain: it serves only targets that are domains, once bound to one."""

    @property
    def joint(self) -> bool:
        """Whether one theta serves all domains, so that all targets are fitted at once."""

    def about(self, domain: str) -> Law:
        """The law of the loss on this domain."""


@runtime_checkable
class Regressor(Law, Protocol):
    """A law without a parameter vector (P = 0): what it learned from data is kept as a text."""

    def train(self, inputs: Inputs, y: Floats, *, seed: int) -> str:
        """Learn from losses ``y``, shape (n,)."""

    def restored(self, state: str) -> Law:
        """The law with what ``train`` returned."""


@dataclass(frozen=True)
class Example:
    """A small problem with known parameters: feeds the contract test and the documentation.

    Attributes:
        domains: domain names.
        theta: true parameter vector, shape (P,).
        noise: standard deviation of log losses in the noisy case.
        params: model sizes of the design.
        tokens: token counts of the design.
        mixtures: number of mixtures drawn from a Dirichlet distribution.
    """

    domains: tuple[str, ...]
    theta: tuple[float, ...]
    noise: float = 1e-3
    params: tuple[float, ...] = (5e7, 1.5e8, 4e8, 1e9)
    tokens: tuple[float, ...] = (1e9, 3e9, 1e10, 3e10)
    mixtures: int = 20
    alpha: float = 1.0

    def inputs(self, rng: np.random.Generator) -> Inputs:
        """The design: every mixture at every size and token count."""
        shares = rng.dirichlet(np.full(len(self.domains), self.alpha), size=self.mixtures)
        which, n, d = np.meshgrid(np.arange(self.mixtures), self.params, self.tokens, indexing="ij")
        return Inputs.build(self.domains, shares[which.ravel()], n.ravel(), d.ravel())
