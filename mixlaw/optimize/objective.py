"""What a mixture is judged by: weights over losses and benchmarks, and limits that must not be crossed."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mixlaw.errors import InputError, UsageError
from mixlaw.files import is_file, read_mapping
from mixlaw.units import parse_number


@dataclass(frozen=True)
class Limit:
    """One loss must stay below, or one accuracy above, a level or the incumbent's value.

    Attributes:
        term: ``loss/<target>`` or ``bench/<task>``; ``*`` is every target of the fit.
        level: the bound, or what may be added to ``baseline``'s value.
        baseline: ``incumbent``, ``natural`` or ``uniform``; empty for a plain level.
    """

    term: str
    level: float
    baseline: str = ""

    @classmethod
    def parse(cls, text: str) -> Limit:
        """Read ``loss/web <= 2.9``, ``loss/web <= incumbent + 0.01``, ``bench/piqa >= 0.7``, ``* <= incumbent + 0.01``.

        Raises:
            InputError: for anything else.
        """
        match = re.fullmatch(r"\s*(\*|[\w./:-]+)\s*(<=|>=)\s*(.+?)\s*", text)
        if match is None:
            raise InputError(
                "a limit such as 'loss/web <= incumbent + 0.01', 'loss/web <= 2.9' or 'bench/piqa >= 0.7'", repr(text)
            )
        term, sign, rest = match.groups()
        upper = not term.startswith("bench/")
        if (sign == "<=") != upper:
            raise InputError(f"{'<=' if upper else '>='} in a limit on {term}", repr(text))
        relative = re.fullmatch(r"(incumbent|natural|uniform)\s*(?:([+-])\s*(\S+))?", rest)
        if relative is None:
            return cls(term, parse_number(rest, name=f"the level in limit {text!r}"))
        baseline, direction, amount = relative.groups()
        level = parse_number(amount, name=f"the amount in limit {text!r}") if amount else 0.0
        return cls(term, -level if direction == "-" else level, baseline)

    def insist_on(self, baselines: Container[str]) -> None:
        """Refuse a limit against a mixture that nobody gave.

        Raises:
            InputError: naming the option that gives it.
        """
        if self.baseline and self.baseline not in baselines:
            hint = f"Pass --{self.baseline}."
            raise InputError(f"the {self.baseline} mixture (limit {str(self)!r})", "none", hint=hint)

    def __str__(self) -> str:
        sign = ">=" if self.term.startswith("bench/") else "<="
        if not self.baseline:
            return f"{self.term} {sign} {self.level:g}"
        return f"{self.term} {sign} {self.baseline} {'-' if self.level < 0 else '+'} {abs(self.level):g}"


def risk_level(text: str) -> float | None:
    """Read ``mean``, which is None, or a quantile such as ``0.9``.

    Raises:
        UsageError: for anything else.
    """
    if text == "mean":
        return None
    level = parse_number(text, name="--risk (mean, or a quantile such as 0.9)")
    if not 0.5 <= level < 1:
        raise UsageError("--risk mean or a quantile from 0.5 to below 1", repr(text))
    return level


@dataclass(frozen=True)
class Objective:
    """Weights of ``loss/<target>`` (minimised) and ``bench/<task>`` (maximised), summing to 1; and limits.

    No weights at all mean the mean of all losses.
    """

    weights: Mapping[str, float]
    limits: tuple[Limit, ...] = ()

    @classmethod
    def parse(cls, text: str | None, *, limits: Iterable[str] = ()) -> Objective:
        """Read ``web=1,bench/mmlu=2`` or the path of an objective file; names without a prefix are losses.

        Raises:
            InputError: for weights that are no positive numbers, or a limit that cannot be read.
        """
        more = tuple(Limit.parse(limit) for limit in limits)
        if not text:
            return cls({}, more)
        if "=" not in text or is_file(text):
            return cls.load(Path(text), more)
        pairs = [part.rpartition("=") for part in text.split(",") if part.strip()]
        return cls.from_mapping({name.strip(): value for name, _, value in pairs}, more, "--objective")

    @classmethod
    def load(cls, path: Path, more: tuple[Limit, ...] = ()) -> Objective:
        """Read a file with ``objective: {loss/web: 1, bench/mmlu: 2}`` and ``limits: [...]``."""
        content = read_mapping(path)
        unknown = set(content) - {"objective", "limits"}
        if unknown:
            raise InputError("the keys objective and limits", ", ".join(sorted(unknown)), where=str(path))
        limits = tuple(Limit.parse(str(item)) for item in content.get("limits") or ())
        weights = content.get("objective") or {}
        if not isinstance(weights, Mapping):
            raise InputError("objective: to hold names and weights", repr(weights)[:60], where=str(path))
        return cls.from_mapping(weights, (*limits, *more), str(path))

    @classmethod
    def from_mapping(cls, content: Mapping[Any, Any], limits: tuple[Limit, ...], where: str) -> Objective:
        """Check the weights and scale them to sum to 1."""
        weights = {}
        for name, value in content.items():
            key = str(name) if str(name).startswith(("loss/", "bench/")) else f"loss/{name}"
            weights[key] = parse_number(value, name=f"weight of {name!r}")
            if weights[key] < 0:
                hint = "Losses are minimised and accuracies maximised; the weight is how much each matters."
                raise InputError(f"a weight of at least 0 for {name!r}", f"{weights[key]:g}", where=where, hint=hint)
        total = sum(weights.values())
        if weights and total <= 0:
            raise InputError("at least one weight above 0", "none", where=where)
        return cls({key: value / total for key, value in weights.items() if value > 0}, limits)

    def over(self, targets: Iterable[str], tasks: Iterable[str] = ()) -> Objective:
        """The objective for a fit with these targets and tasks; no weights become the mean of all losses.

        Raises:
            InputError: naming a target or task that the fit lacks.
        """
        known = [*(f"loss/{t}" for t in targets), *(f"bench/{t}" for t in tasks)]
        for name in [*self.weights, *(limit.term for limit in self.limits if limit.term != "*")]:
            if name not in known:
                raise InputError(f"names among {', '.join(known)} in the objective", repr(name))
        losses = [name for name in known if name.startswith("loss/")]
        weights = dict(self.weights) or dict.fromkeys(losses, 1 / len(losses))
        limits = [
            one
            for limit in self.limits
            for one in ([Limit(n, limit.level, limit.baseline) for n in losses] if limit.term == "*" else [limit])
        ]
        return Objective(weights, tuple(limits))
