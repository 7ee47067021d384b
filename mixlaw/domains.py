"""The domains file: what is known of each source of training data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from mixlaw.errors import InputError, MissingFactError
from mixlaw.files import read_mapping
from mixlaw.mixture import Constraints, Group, Mixture, domain_name
from mixlaw.units import human, parse_number, parse_positive

MOST_TOKENS = 1e18
"""More tokens than there are: a larger number is a slip."""


@dataclass(frozen=True)
class Domain:
    """Facts about one domain; every one may be unknown. Numbers of tokens are between 1 and ``MOST_TOKENS``.

    Attributes:
        prior: natural token share.
        available_tokens: unique tokens.
        max_epochs: how often the data may be seen in one run.
        min: smallest share allowed.
        max: largest share allowed.
        mean_tokens_per_document: training tokens per document, after truncation.
        paths: where the data lie, for trainer configs.
    """

    prior: float | None = None
    available_tokens: float | None = None
    max_epochs: float = 4.0
    min: float = 0.0
    max: float = 1.0
    mean_tokens_per_document: float | None = None
    paths: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for fact in ("available_tokens", "mean_tokens_per_document"):
            value = getattr(self, fact)
            if value is not None and not 1 <= value <= MOST_TOKENS:
                raise InputError(f"{fact} between 1 and {MOST_TOKENS:g}", f"{value:g}")


@dataclass(frozen=True)
class Domains:
    """All domains of a project, by name, and groups of them."""

    by_name: Mapping[str, Domain] = field(default_factory=dict)
    groups: tuple[Group, ...] = ()
    source: str = "the domains file"

    @classmethod
    def load(cls, path: Path) -> Domains:
        """Read a domains file.

        Raises:
            InputError: naming the file, the domain and the key that is wrong.
        """
        content = read_mapping(path)
        entries = content.get("domains")
        if not isinstance(entries, Mapping) or not entries:
            raise InputError("a mapping domains: {name: {...}}", repr(entries)[:60], where=str(path))
        names = {domain_name(key, where=str(path)): facts or {} for key, facts in entries.items()}
        by_name = {name: _domain(name, facts, str(path)) for name, facts in names.items()}
        groups = content.get("groups") or {}
        if not isinstance(groups, Mapping):
            raise InputError("a mapping groups: {name: {members: [...]}}", repr(groups)[:60], where=str(path))
        return cls(by_name, tuple(_group(str(n), g, str(path)) for n, g in groups.items()), str(path))

    def get(self, name: str) -> Domain:
        """Facts about a domain; all unknown for one that the file does not name."""
        return self.by_name.get(name, Domain())

    def natural(self) -> Mixture | None:
        """The mixture of the priors, rescaled to sum to 1; None unless every domain has one."""
        priors = {name: d.prior for name, d in self.by_name.items() if d.prior is not None}
        if not priors or len(priors) < len(self.by_name):
            return None
        total = sum(priors.values())
        if total <= 0:
            raise InputError("a prior above zero for at least one domain", "only zeros", where=self.source)
        return Mixture({name: value / total for name, value in priors.items()})

    def need(self, names: Iterable[str], fact: str, why: str) -> dict[str, Any]:
        """Return one fact for each name.

        Raises:
            MissingFactError: naming every domain that lacks it, and why it is needed.
        """
        values = {name: getattr(self.get(name), fact) for name in names}
        missing = [name for name, value in values.items() if value in (None, ())]
        if missing:
            raise MissingFactError(
                f"{fact} for every domain ({why})",
                f"none for {', '.join(missing)}",
                where=self.source,
                hint=f"Add '{fact}:' under 'domains:' in a file and pass it with --domains.",
            )
        return values

    def constraints(self, names: Iterable[str], *, tokens: float | None = None) -> Constraints:
        """Bounds on a mixture of ``names`` in a run of ``tokens`` tokens, token supply included."""
        order = tuple(names)
        facts = [self.get(name) for name in order]
        upper, reasons = [], {}
        for name, domain in zip(order, facts, strict=True):
            cap = domain.max
            if cap < 1:
                reasons[name] = f"max {cap:g}"
            if tokens and domain.available_tokens is not None:
                supply = domain.available_tokens * domain.max_epochs / tokens
                if supply < cap:
                    cap = supply
                    reasons[name] = f"{domain.max_epochs:g} epochs of {human(domain.available_tokens)} tokens"
            upper.append(cap)
        lower = np.array([d.min for d in facts])
        return Constraints(order, lower, np.array(upper), self.groups, reasons)


def _domain(name: str, facts: Any, where: str) -> Domain:
    where = f"{where}, domain {name!r}"
    if not isinstance(facts, Mapping):
        raise InputError("a mapping of facts", repr(facts), where=where)
    known = {f.name for f in fields(Domain)}
    unknown = set(map(str, facts)) - known
    if unknown:
        raise InputError(f"keys among {', '.join(sorted(known))}", ", ".join(sorted(unknown)), where=where)
    values: dict[str, Any] = {}
    for key, value in facts.items():
        if value is None:
            continue
        if key == "paths":
            values[key] = _texts(value, f"{where}: paths")
        elif key in ("min", "max", "prior"):
            values[key] = parse_number(value, name=f"{where}: {key}")
            if values[key] < 0:
                raise InputError(f"{key} of at least 0", repr(value), where=where)
        else:
            values[key] = parse_positive(value, name=f"{where}: {key}")
    try:
        return Domain(**values)
    except InputError as error:
        error.where = where
        raise


def _texts(value: Any, where: str) -> tuple[str, ...]:
    """One text, or a list of them."""
    found = [value] if isinstance(value, str) else value
    if not isinstance(found, list) or not all(isinstance(item, str | int) and str(item).strip() for item in found):
        raise InputError("a list of names", repr(value)[:80], where=where)
    return tuple(map(str, found))


def _group(name: str, facts: Any, where: str) -> Group:
    where = f"{where}, group {name!r}"
    if not isinstance(facts, Mapping) or not facts.get("members"):
        raise InputError("a mapping with members: [...]", repr(facts), where=where)
    minimum = parse_number(facts.get("min", 0.0), name=f"{where}: min")
    maximum = parse_number(facts.get("max", 1.0), name=f"{where}: max")
    return Group(name, _texts(facts["members"], f"{where}: members"), minimum, maximum)
