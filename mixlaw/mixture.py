"""Mixtures: named points on the simplex, the recipe files that hold them, and constraints on them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixlaw.errors import InputError
from mixlaw.files import is_file, read_mapping
from mixlaw.units import parse_number, parse_positive

SUM_TOLERANCE = 0.005
"""Shares that miss 1 by at most this much are rescaled (public tables do); more is an error."""

_EXACT = 1e-9


def domain_name(key: Any, *, where: str = "") -> str:
    """Return a key of a YAML file as the name of a domain.

    Raises:
        InputError: for a key that YAML did not read as text or a whole number (``no`` is read as False), or that
            no trainer config could hold (blank, or with control characters).
    """
    if isinstance(key, bool) or not isinstance(key, str | int):
        raise InputError("names of domains as text", repr(key), where=where, hint="Put the name in quotes.")
    name = str(key)
    if not name.strip() or not name.isprintable():
        raise InputError("names of domains in printable characters", repr(name), where=where)
    return name


@dataclass(frozen=True)
class Mixture:
    """Token shares by domain name; each is finite and >= 0, and they sum to 1.

    Sums off 1 by rounding (``SUM_TOLERANCE``) are rescaled; ``rescaled`` tells when that changed anything.
    """

    shares: Mapping[str, float]
    rescaled: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        if not self.shares:
            raise InputError("at least one domain with a share", "an empty mixture")
        for name, share in self.shares.items():
            if not math.isfinite(share) or share < 0:
                raise InputError(f"a share of at least 0 for domain {name!r}", repr(share))
        total = math.fsum(self.shares.values())
        if abs(total - 1) > SUM_TOLERANCE:
            hint = "Shares are fractions: write 0.6, not 60." if 99 < total < 101 else ""
            raise InputError("shares that sum to 1", f"a sum of {total:.6g}", hint=hint)
        if total != 1:
            object.__setattr__(self, "shares", {k: v / total for k, v in self.shares.items()})
            object.__setattr__(self, "rescaled", abs(total - 1) > _EXACT)

    @classmethod
    def from_mapping(cls, content: Mapping[Any, Any], *, where: str = "") -> Mixture:
        """Build a mixture from a mapping of names to numbers as read from YAML.

        Raises:
            InputError: naming ``where`` and the domain when a share is no number.
        """
        if not isinstance(content, Mapping):
            raise InputError("a mapping of names to shares", repr(content)[:80], where=where)
        try:
            return cls({domain_name(k): parse_number(v, name=f"share of {k!r}") for k, v in content.items()})
        except InputError as error:
            error.where = error.where or where
            raise

    @classmethod
    def from_vector(cls, domains: Iterable[str], weights: NDArray[np.float64]) -> Mixture:
        """Build a mixture from weights in the order of ``domains``."""
        return cls(dict(zip(domains, (float(w) for w in weights), strict=True)))

    @classmethod
    def uniform(cls, domains: Iterable[str]) -> Mixture:
        """Give every domain the same share."""
        names = list(domains)
        return cls(dict.fromkeys(names, 1 / len(names)))

    @classmethod
    def parse(cls, text: str) -> Mixture:
        """Read ``web=0.6,code=0.4`` or the path of a mixture file."""
        if "=" not in text or is_file(text):
            return Recipe.load(Path(text)).mixture
        pairs = (part.rpartition("=") for part in text.split(",") if part.strip())
        return cls.from_mapping({name.strip(): value for name, _, value in pairs}, where=f"mixture {text!r}")

    def vector(self, domains: Iterable[str]) -> NDArray[np.float64]:
        """Shares in the order of ``domains``, shape (K,); a domain not named has share 0.

        Raises:
            InputError: when the mixture names a domain that is not among ``domains``.
        """
        names = list(domains)
        unknown = [name for name, share in self.shares.items() if name not in names and share > 0]
        if unknown:
            raise InputError(f"domains among {', '.join(names)}", ", ".join(unknown))
        return np.array([self.shares.get(name, 0.0) for name in names])

    def nonzero(self) -> dict[str, float]:
        """The domains with a share above 0."""
        return {name: share for name, share in self.shares.items() if share > 0}


@dataclass(frozen=True)
class Stage:
    """One part of a curriculum: so many tokens of one mixture."""

    tokens: float
    mixture: Mixture


@dataclass(frozen=True)
class Recipe:
    """The mixture to train with, the run it is for, and the evidence for it.

    Attributes:
        mixture: token shares over the whole run (the token-weighted mean of the stages, if any).
        tokens: training tokens of the run, or None.
        params: parameters of the language model, or None.
        stages: the curriculum in order; empty for one mixture throughout.
        evidence: plain data that says where the mixture comes from.
    """

    mixture: Mixture
    tokens: float | None = None
    params: float | None = None
    stages: tuple[Stage, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path) -> Recipe:
        """Read a mixture file: ``mixture:`` (or a bare mapping of shares), ``tokens:``, ``stages:``.

        Raises:
            InputError: naming the file and the key that is wrong.
        """
        return cls.from_mapping(read_mapping(path), where=str(path))

    @classmethod
    def from_mapping(cls, content: Mapping[str, Any], *, where: str = "") -> Recipe:
        """Build a recipe from the content of a mixture file."""
        if str(content.get("format", "")).startswith("mixlaw-fit/"):
            hint = "mixlaw optimize-mixture FIT -o mixture.yaml makes one of it."
            raise InputError("a mixture file", "a fit file", where=where, hint=hint)
        known = {key: content[key] for key in ("tokens", "params") if content.get(key) is not None}
        numbers = {key: parse_positive(value, name=f"{where}: {key}") for key, value in known.items()}
        evidence = content.get("evidence") or {}
        if not isinstance(evidence, Mapping):
            raise InputError("a mapping under evidence:", repr(evidence)[:80], where=where)
        if "stages" in content:
            recipe = cls.from_stages(_stages(content["stages"], where), params=numbers.get("params"), evidence=evidence)
            return recipe._agreeing(numbers.get("tokens"), where)
        mixture = Mixture.from_mapping(content.get("mixture", content), where=where)
        return cls(mixture, numbers.get("tokens"), numbers.get("params"), evidence=evidence)

    @classmethod
    def from_stages(
        cls,
        stages: tuple[Stage, ...],
        *,
        params: float | None = None,
        evidence: Mapping[str, Any] | None = None,
    ) -> Recipe:
        """Build a recipe from its stages; its mixture is their token-weighted mean."""
        if not stages:
            raise InputError("at least one stage", "an empty list of stages")
        total = math.fsum(stage.tokens for stage in stages)
        names = dict.fromkeys(name for stage in stages for name in stage.mixture.shares)
        mean = {n: math.fsum(s.tokens * s.mixture.shares.get(n, 0.0) for s in stages) / total for n in names}
        return cls(Mixture(mean), total, params, stages, evidence or {})

    def _agreeing(self, tokens: float | None, where: str) -> Recipe:
        """Refuse a file whose ``tokens:`` contradicts the sum of its stages."""
        if tokens is not None and self.tokens is not None and abs(self.tokens / tokens - 1) > SUM_TOLERANCE:
            raise InputError(f"stages that add up to tokens: {tokens:g}", f"{self.tokens:g}", where=where)
        return self

    def to_mapping(self) -> dict[str, Any]:
        """Return the recipe as the content of a mixture file."""
        content: dict[str, Any] = {}
        if self.stages:
            content["stages"] = [{"tokens": s.tokens, "mixture": dict(s.mixture.shares)} for s in self.stages]
        else:
            content["mixture"] = dict(self.mixture.shares)
            if self.tokens is not None:
                content["tokens"] = self.tokens
        if self.params is not None:
            content["params"] = self.params
        if self.evidence:
            content["evidence"] = dict(self.evidence)
        return content


def _stages(found: Any, where: str) -> tuple[Stage, ...]:
    if not isinstance(found, list) or not found:
        raise InputError("a list of at least one stage under stages:", repr(found)[:80], where=where)
    return tuple(_stage(item, f"{where}, stage {number}") for number, item in enumerate(found, start=1))


def _stage(item: Any, where: str) -> Stage:
    if not isinstance(item, Mapping) or not {"tokens", "mixture"} <= set(item):
        raise InputError("a stage with tokens: and mixture:", repr(item), where=where)
    tokens = parse_positive(item["tokens"], name=f"{where}: tokens")
    return Stage(tokens, Mixture.from_mapping(item["mixture"], where=where))


@dataclass(frozen=True)
class Group:
    """A bound on the summed share of several domains."""

    name: str
    members: tuple[str, ...]
    minimum: float = 0.0
    maximum: float = 1.0


@dataclass(frozen=True)
class Constraints:
    """Bounds on a mixture over ``domains``: per domain, and on sums of groups.

    Attributes:
        domains: names, in the order of the arrays.
        lower: smallest share per domain, shape (K,).
        upper: largest share per domain, shape (K,).
        groups: bounds on sums over several domains.
        reasons: why ``upper`` is what it is, by domain, where it is not 1 (for messages and tables).
    """

    domains: tuple[str, ...]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    groups: tuple[Group, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def free(cls, domains: Iterable[str]) -> Constraints:
        """The whole simplex."""
        names = tuple(domains)
        return cls(names, np.zeros(len(names)), np.ones(len(names)))

    def __post_init__(self) -> None:
        for name, low, high in zip(self.domains, self.lower, self.upper, strict=True):
            if not 0 <= low <= 1 or not 0 <= high <= 1:
                raise InputError(f"bounds between 0 and 1 for domain {name!r}", f"{low:g} to {high:g}")
        unknown = {m for g in self.groups for m in g.members} - set(self.domains)
        if unknown:
            raise InputError(f"group members among {', '.join(self.domains)}", ", ".join(sorted(unknown)))

    def members(self, group: Group) -> NDArray[np.float64]:
        """Indicator of the members of a group, shape (K,)."""
        return np.array([float(name in group.members) for name in self.domains])
