"""What every trainer format is made of: the order it is given, the text it writes, the config it reads back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from functools import cached_property
from typing import Any, Protocol

from mixlaw.domains import MOST_TOKENS, Domains
from mixlaw.errors import InputError, MissingFactError
from mixlaw.export.digits import exact_shares
from mixlaw.mixture import Recipe, Stage


class Meaning(Enum):
    """What a trainer does with the number in its weight field; the value is the sentence for people."""

    SHARE = "share of fixed-length sequences (= token share)"
    PROBABILITY = "probability of the next document"
    PASSES = "passes over the source"
    COUNT = "documents drawn"

    @property
    def unit_class(self) -> str:
        """A: token share; B: document probability; C: passes and counts."""
        return {"SHARE": "A", "PROBABILITY": "B"}.get(self.name, "C")


@dataclass(frozen=True)
class ExportOptions:
    """Facts about the run that a format may need; None is unknown.

    Attributes:
        tokens: training tokens of the run; None takes those of the recipe.
        sequence_length: tokens per sequence.
        batch_size: sequences per optimiser step.
    """

    tokens: float | None = None
    sequence_length: int | None = None
    batch_size: int | None = None

    def need(self, name: str, why: str) -> int:
        """One of the numbers.

        Raises:
            MissingFactError: naming the option when it is unknown.
        """
        value = getattr(self, name)
        if value is None:
            flag = name.replace("_", "-")
            raise MissingFactError(f"the {flag.replace('-', ' ')} ({why})", "none", hint=f"Pass --{flag}.")
        return int(value)


@dataclass(frozen=True)
class Order:
    """One export: the recipe, what is known of its domains, and of the run."""

    recipe: Recipe
    domains: Domains = field(default_factory=Domains)
    options: ExportOptions = field(default_factory=ExportOptions)

    def __post_init__(self) -> None:
        if self.tokens is not None and not 1 <= self.tokens <= MOST_TOKENS:
            raise InputError(f"training tokens between 1 and {MOST_TOKENS:g}", f"{self.tokens:g}")

    @cached_property
    def shares(self) -> dict[str, float]:
        """Token shares over the whole run, zeros dropped."""
        return self.recipe.mixture.nonzero()

    @cached_property
    def exact(self) -> dict[str, Decimal]:
        """The same shares as decimals that sum to exactly 1 as printed."""
        return exact_shares(self.shares)

    @property
    def tokens(self) -> float | None:
        """Training tokens of the run, if known."""
        return self.options.tokens or self.recipe.tokens

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The curriculum, scaled to ``tokens``; empty for one mixture throughout."""
        if not self.recipe.stages or not self.tokens or not self.recipe.tokens:
            return self.recipe.stages
        factor = self.tokens / self.recipe.tokens
        return tuple(Stage(stage.tokens * factor, stage.mixture) for stage in self.recipe.stages)

    def need_tokens(self, why: str) -> float:
        """Training tokens of the run.

        Raises:
            MissingFactError: when neither the options nor the recipe say.
        """
        if self.tokens is None:
            raise MissingFactError(
                f"the training tokens of the run ({why})",
                "none",
                hint="Pass --tokens (for example --tokens 150B) or add 'tokens:' to the mixture file.",
            )
        return self.tokens

    def need(self, fact: str, why: str) -> dict[str, Any]:
        """One fact of each domain with a share, by name.

        Raises:
            MissingFactError: naming the fact and the domains that lack it.
        """
        return self.domains.need(self.shares, fact, why)

    def paths(self) -> dict[str, tuple[str, ...]]:
        """Paths of each domain with a share; its name where the domains file gives none."""
        return {name: self.domains.get(name).paths or (name,) for name in self.shares}

    def single_paths(self) -> dict[str, str]:
        """The one path of each domain with a share.

        Raises:
            InputError: when a domain has several paths, or two domains share one.
        """
        paths = self.paths()
        several = [name for name, found in paths.items() if len(found) > 1]
        if several:
            raise InputError(
                "one path for each domain in this format",
                f"several for {', '.join(map(repr, several))}",
                where=self.domains.source,
                hint="Join the files, or make each path a domain of its own: how to split a share over paths "
                "is not for mixlaw to guess.",
            )
        shared = [path for path, times in Counter(found[0] for found in paths.values()).items() if times > 1]
        if shared:
            raise InputError("a different path for each domain", f"{shared[0]!r} twice", where=self.domains.source)
        return {name: found[0] for name, found in paths.items()}


@dataclass(frozen=True)
class Written:
    """The text of a config and what its user should know.

    Attributes:
        text: content of the file.
        remarks: sentences for stderr.
    """

    text: str
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Entry:
    """One weight of a trainer config: ``key`` is a domain's name or path as the file has it."""

    key: str
    number: float
    meaning: Meaning


@dataclass(frozen=True)
class Phase:
    """The weights that hold from step ``start`` on."""

    entries: tuple[Entry, ...]
    start: int = 0


@dataclass(frozen=True)
class Reading:
    """What a trainer would make of a config.

    Attributes:
        phases: in order of their start; a config without a curriculum has one.
        warnings: traps that the config falls into.
    """

    phases: tuple[Phase, ...]
    warnings: tuple[str, ...] = ()

    @classmethod
    def flat(cls, numbers: Mapping[str, float], meaning: Meaning, *, warnings: tuple[str, ...] = ()) -> Reading:
        """A reading of one phase, all numbers of one meaning."""
        entries = tuple(Entry(key, float(number), meaning) for key, number in numbers.items())
        return cls((Phase(entries),), warnings)


@dataclass(frozen=True)
class About:
    """What ``--list`` says of a format.

    Attributes:
        name: the word after ``--format``.
        trainer: what reads the file, and where its name goes.
        meaning: what the trainer does with the numbers.
        checked: version of the trainer that the format was checked against, and how.
        needs: facts without which the format refuses.
        staged: whether it can hold a curriculum.
        placed: whether it holds paths of data.
    """

    name: str
    trainer: str
    meaning: Meaning
    checked: str
    needs: tuple[str, ...] = ()
    staged: bool = False
    placed: bool = True


class Exporter(Protocol):
    """A trainer format: how to write a recipe for it and how to read its config back."""

    @property
    def about(self) -> About:
        """What ``--list`` says of the format."""

    def write(self, order: Order) -> Written:
        """Write the config.

        Raises:
            MissingFactError: naming a fact that the format needs.
            InputError: for names, paths or shares that the trainer would misread.
        """

    def read(self, text: str) -> Reading:
        """Read a config as its trainer would.

        Raises:
            InputError: for a config that the trainer refuses, or would misread.
        """
