"""All laws by name. One line a law; its file says the rest."""

from __future__ import annotations

from mixlaw.errors import UsageError
from mixlaw.laws import (
    additive,
    bimix,
    capacity,
    chinchilla,
    competition,
    datashare,
    dcpt,
    exp,
    gbm,
    joint,
    linear,
    modulated,
    product,
)
from mixlaw.laws.base import DomainLaw, Example, Law, Regressor
from mixlaw.laws.repeated import Repeated, Unique

LAWS: dict[str, Law] = {
    "capacity": capacity.LAW,
    "capacity-powers": capacity.POWERS,
    "modulated": modulated.LAW,
    "datashare": datashare.LAW,
    "product": product.LAW,
    "joint": joint.LAW,
    "additive": additive.LAW,
    "competition": competition.LAW,
    "bimix": bimix.LAW,
    "dcpt": dcpt.LAW,
    "exp": exp.LAW,
    "loglinear": exp.LOGLINEAR,
    "linear": linear.LAW,
    "gbm": gbm.LAW,
    "chinchilla": chinchilla.LAW,
}
"""The laws a user may name: those that move the mixture with scale first, baselines last."""

FORMS: dict[str, Law] = {form.name: form for law in LAWS.values() for form in (law, *law.reduced)}
"""The laws and their reduced forms, as fit files name them."""

EXAMPLES: dict[str, Example] = {
    "capacity": capacity.EXAMPLE,
    "capacity-powers": capacity.EXAMPLE_POWERS,
    "modulated": modulated.EXAMPLE,
    "datashare": datashare.EXAMPLE,
    "product": product.EXAMPLE,
    "joint": joint.EXAMPLE,
    "additive": additive.EXAMPLE,
    "competition": competition.EXAMPLE,
    "bimix": bimix.EXAMPLE,
    "dcpt": dcpt.EXAMPLE,
    "exp": exp.EXAMPLE,
    "loglinear": exp.EXAMPLE_LOGLINEAR,
    "linear": linear.EXAMPLE,
    "chinchilla": chinchilla.EXAMPLE,
}
"""A small problem with known parameters for each law that has parameters."""


def named(name: str) -> Law:
    """Return a law by name.

    Raises:
        UsageError: for a name that is not in ``LAWS``.
    """
    if name not in LAWS:
        raise UsageError(f"a law among {', '.join(LAWS)}", repr(name))
    return LAWS[name]


def bound(form: str, target: str, *, state: str = "", unique: Unique = ()) -> Law:
    """The law or reduced form named ``form`` as it predicts one target.

    Args:
        form: key of ``FORMS``.
        target: what the loss is measured on; matters to laws of a domain's own loss.
        state: what a regressor learned.
        unique: unique tokens of domains whose repetition counts.
    """
    law = FORMS[form]
    if isinstance(law, DomainLaw):
        law = law.about(target)
    if isinstance(law, Regressor):
        law = law.restored(state)
    return Repeated(law, unique) if unique else law
