"""All laws by name. One line a law; its file says the rest."""

from __future__ import annotations

from mixlaw.errors import UsageError
from mixlaw.laws import additive, capacity, chinchilla, datashare, exp, joint, linear, modulated, product
from mixlaw.laws.base import Example, Law

LAWS: dict[str, Law] = {
    "capacity": capacity.LAW,
    "capacity-powers": capacity.POWERS,
    "modulated": modulated.LAW,
    "datashare": datashare.LAW,
    "product": product.LAW,
    "joint": joint.LAW,
    "additive": additive.LAW,
    "exp": exp.LAW,
    "loglinear": exp.LOGLINEAR,
    "linear": linear.LAW,
    "chinchilla": chinchilla.LAW,
}
"""The laws a user may name."""

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
    "exp": exp.EXAMPLE,
    "loglinear": exp.EXAMPLE_LOGLINEAR,
    "linear": linear.EXAMPLE,
    "chinchilla": chinchilla.EXAMPLE,
}
"""A small problem with known parameters for each law."""


def named(name: str) -> Law:
    """Return a law by name.

    Raises:
        UsageError: for a name that is not in ``LAWS``.
    """
    if name not in LAWS:
        raise UsageError(f"a law among {', '.join(LAWS)}", repr(name))
    return LAWS[name]
