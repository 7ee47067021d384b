"""What a report is made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mixlaw.allocate.helpful import Helpful
from mixlaw.check.compare import Comparison
from mixlaw.fits import FitSet
from mixlaw.laws import LAWS
from mixlaw.optimize import Choice, Found, Scale


@dataclass(frozen=True)
class Report:
    """A decision, the evidence, and the commands that made them.

    Attributes:
        choice: the mixture recommended.
        scales: the optimum at every scale that was asked for; empty for one.
        comparison: laws and rules of thumb on held-out runs; None where there is none, and then ``no_comparison``
            says why.
        helpful: the run that would help most; None where there is none, and then ``no_helpful`` says why.
        notes: what was assumed or does not fit together, in sentences.
        commands: what was done -> command line.
        version: of mixlaw.
    """

    choice: Choice
    scales: tuple[tuple[Scale, Found], ...] = ()
    comparison: Comparison | None = None
    no_comparison: str = ""
    helpful: Helpful | None = None
    no_helpful: str = ""
    notes: tuple[str, ...] = ()
    commands: Mapping[str, str] = field(default_factory=dict)
    version: str = ""

    @property
    def fits(self) -> FitSet:
        """The laws that answer."""
        return self.choice.fits

    @property
    def laws(self) -> tuple[str, ...]:
        """Names of the laws that answer, the heaviest first."""
        weights = law_weights(self.fits)
        return tuple(sorted(weights, key=lambda name: -weights[name]))


def law_weights(fits: FitSet) -> dict[str, float]:
    """Weight of each law, mean over targets."""
    weights: dict[str, float] = {}
    for members in fits.members.values():
        for member in members:
            weights[member.fit.form] = weights.get(member.fit.form, 0.0) + member.weight / len(fits.members)
    return weights


def asked_laws(fits: FitSet) -> list[str]:
    """The laws that a user asked for, as far as the fits tell: what ``auto`` weighted, else the forms fitted."""
    choice = fits.evidence.get("choice")
    if isinstance(choice, dict):
        return list(choice["weights"])
    law_of = {form.name: law.name for law in reversed(LAWS.values()) for form in (law, *law.reduced)}
    return list(dict.fromkeys(law_of[form] for form in law_weights(fits)))
