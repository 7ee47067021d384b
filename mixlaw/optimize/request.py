"""What is asked of ``optimize-mixture``, and the constraints that follow from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from mixlaw.domains import Domains
from mixlaw.errors import InputError, MissingFactError, UsageError
from mixlaw.laws.base import Floats
from mixlaw.mixture import Constraints, Mixture
from mixlaw.optimize.objective import Objective, risk_level
from mixlaw.optimize.region import Region
from mixlaw.optimize.solver import SolveOptions
from mixlaw.optimize.surface import Scale


@dataclass(frozen=True)
class Request:
    """What is asked.

    Attributes:
        scale: of the run to be trained.
        objective: weights and limits; empty for the mean loss.
        domains: supply, bounds, groups and priors.
        minimum: floors by domain on top of the domains file.
        maximum: ceilings by domain on top of the domains file.
        natural: natural mixture; None takes the priors of the domains file.
        incumbent: mixture in use.
        kl: weight of the divergence from ``reference`` (in units of the objective per nat); 0 for none.
        reference: mixture to stay near; None takes the natural one.
        max_active: most domains with a share; None for any number.
        risk: ``mean`` or a quantile over bootstrap members; empty for the point fit.
        solver: how to search.
    """

    scale: Scale = field(default_factory=Scale)
    objective: Objective = field(default_factory=lambda: Objective({}))
    domains: Domains = field(default_factory=Domains)
    minimum: Mapping[str, float] = field(default_factory=dict)
    maximum: Mapping[str, float] = field(default_factory=dict)
    natural: Mixture | None = None
    incumbent: Mixture | None = None
    kl: float = 0.0
    reference: Mixture | None = None
    max_active: int | None = None
    risk: str = ""
    solver: SolveOptions = field(default_factory=SolveOptions)

    def __post_init__(self) -> None:
        if self.kl < 0:
            raise UsageError("--kl of at least 0", f"{self.kl:g}")
        if self.max_active is not None and self.max_active < 1:
            raise UsageError("--max-active of at least 1", str(self.max_active))
        risk_level(self.risk or "mean")

    @property
    def natural_mixture(self) -> Mixture | None:
        """The natural mixture: given, or the priors of the domains file."""
        return self.natural or self.domains.natural()

    def reference_shares(self, domains: tuple[str, ...]) -> Floats | None:
        """The mixture to stay near, shape (K,); None without ``kl``.

        Raises:
            MissingFactError: when there is nothing to stay near.
        """
        if not self.kl:
            return None
        reference = self.reference or self.natural_mixture
        if reference is None:
            hint = "Pass --reference, --natural, or priors for every domain in --domains."
            raise MissingFactError("a mixture to stay near (--kl)", "none", hint=hint)
        return reference.vector(domains)

    def baselines(self, domains: tuple[str, ...]) -> dict[str, Floats]:
        """Natural, incumbent and uniform mixtures, each of shape (K,), where known."""
        known = {"natural": self.natural_mixture, "incumbent": self.incumbent}
        found = {name: mixture.vector(domains) for name, mixture in known.items() if mixture is not None}
        return {**found, "uniform": np.full(len(domains), 1 / len(domains))}

    def check(self, domains: tuple[str, ...], targets: Iterable[str], tasks: Iterable[str]) -> None:
        """Hold every name that was asked for against those of the data, and the bounds against each other.

        Raises:
            InputError: naming what the data lack.
            InfeasibleError: naming bounds that collide.
        """
        if not domains:
            hint = "Add mix/<domain> columns to the run table and fit again."
            raise InputError("a fit of runs with mixtures", "one without any mixture", hint=hint)
        self.objective.over(targets, tasks)
        baselines = self.baselines(domains)
        for limit in self.objective.limits:
            limit.insist_on(baselines)
        Region.of(self.constraints(domains))

    def constraints(self, domains: tuple[str, ...]) -> Constraints:
        """All bounds on a mixture of these domains.

        Raises:
            InputError: for bounds on a domain that the fit does not know.
        """
        base = self.domains.constraints(domains, tokens=self.scale.tokens)
        lower, upper, reasons = base.lower.copy(), base.upper.copy(), dict(base.reasons)
        for name, bound in self.minimum.items():
            index = _index(name, domains, "--min")
            lower[index] = max(lower[index], bound)
        for name, bound in self.maximum.items():
            index = _index(name, domains, "--max")
            if bound < upper[index]:
                upper[index], reasons[name] = bound, f"max {bound:g}"
        reference = self.reference_shares(domains)
        if reference is not None:
            for index, name in enumerate(domains):
                if reference[index] == 0:
                    upper[index], reasons[name] = 0.0, "not in the reference of --kl"
        return replace(base, lower=lower, upper=upper, reasons=reasons)


def _index(name: str, domains: tuple[str, ...], option: str) -> int:
    if name not in domains:
        raise InputError(f"domains among {', '.join(domains)} in {option}", repr(name))
    return domains.index(name)
