"""What the user says about the files: names, units, constants, the key of a join."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase, translate
from pathlib import Path
from typing import Any

from mixlaw.errors import InputError
from mixlaw.files import read_mapping
from mixlaw.logs.convert import Conversion
from mixlaw.logs.metrics import in_brackets
from mixlaw.logs.part import Column
from mixlaw.units import Unit, parse_number, parse_positive

FACTS = (
    "params",
    "params_active",
    "flops",
    "tokens",
    "tokens_per_step",
    "sequence_length",
    "global_batch",
)
"""Numbers that a log may lack: ``--set`` and the run sheet give them."""

_FACT_ALIASES = {
    "seq_len": "sequence_length",
    "seq_length": "sequence_length",
    "context_length": "sequence_length",
    "global_batch_size": "global_batch",
    "batch_size": "global_batch",
    "active_params": "params_active",
}
_TABLE_NAME = re.compile(r"(run|step|tokens|params|params_active|flops)$|(mix|loss|bench|meta)/.+")


@dataclass(frozen=True)
class Rule:
    """One line of a column map: a name or glob in the file -> a run-table column (or "" to leave it out)."""

    pattern: str
    name: str
    unit: Unit | None = None
    scale: float = 1.0
    conversion: Conversion | None = None

    def apply(self, source: str) -> Column | None:
        """What the rule makes of a column, or None where it does not match."""
        if source == self.pattern:
            return self._column(source, source)
        if not fnmatchcase(source, self.pattern):
            return None
        return self._column(source, _matched(self.pattern, source))

    def _column(self, source: str, star: str) -> Column:
        return Column(source, self.name.replace("*", star), self.unit, self.scale, self.conversion)


def _matched(pattern: str, source: str) -> str:
    """The text that the first ``*`` of a glob stands for."""
    before, star, after = pattern.partition("*")
    if not star:
        return source
    match = re.match(f"{translate(before)[:-2]}(.*){translate(after)}", source, re.DOTALL)
    return match[1] if match else source


@dataclass(frozen=True)
class IngestOptions:
    """How to read.

    Attributes:
        rules: the user's column map, exact names before globs.
        facts: constants by name (``FACTS``) for runs whose files do not give them.
        mixture: shares for runs whose files do not give them.
        run: name of the run, for one file that does not name it.
        domains: names of the ratios that are written in paths, in order.
        join: column that names the run in each of several files.
        units: unit by glob of target names; ``*`` for all.
        strict: every repair is an error.
        keep_doubtful: keep runs that diverged, crashed or have not ended.
        keep_start: keep rows at step 0, the base model of continual pre-training.
        skip: globs of run names to leave out.
        sheets: run sheets or plan manifests with what logs do not hold.
        reader: name of the reader to use instead of detection.
    """

    rules: tuple[Rule, ...] = ()
    facts: Mapping[str, float] = field(default_factory=dict)
    mixture: Mapping[str, float] = field(default_factory=dict)
    run: str | None = None
    domains: tuple[str, ...] = ()
    join: str | None = None
    units: Mapping[str, Unit] = field(default_factory=dict)
    strict: bool = False
    keep_doubtful: bool = False
    keep_start: bool = False
    skip: tuple[str, ...] = ()
    sheets: tuple[Path, ...] = ()
    reader: str | None = None

    @classmethod
    def build(
        cls,
        *,
        column_map: Path | None = None,
        settings: tuple[str, ...] = (),
        units: tuple[str, ...] = (),
        **others: Any,
    ) -> IngestOptions:
        """Build options from the words of a command line.

        Args:
            column_map: YAML file of ``columns: {name or glob: column}``.
            settings: words ``name=value``.
            units: words ``bits/byte`` or ``glob=bits/byte``.
            others: the other attributes.

        Raises:
            InputError: for a word or a rule that cannot be understood.
        """
        facts: dict[str, float] = {}
        domains: tuple[str, ...] = ()
        mixture: dict[str, float] = {}
        run = None
        for word in settings:
            key, value = _setting(word)
            if key == "run":
                run = value
            elif key == "domains":
                domains = tuple(d.strip() for d in value.split(",") if d.strip())
            elif key.startswith("mix/"):
                mixture[key.removeprefix("mix/")] = parse_number(value, name=f"--set {key}")
            else:
                facts[key] = parse_positive(value, name=f"--set {key}")
        rules = load_rules(column_map) if column_map else ()
        return cls(rules, facts, mixture, run, domains=domains, units=dict(map(_unit, units)), **others)

    def rule(self, source: str) -> Column | None:
        """What the user's map makes of a column of a file."""
        exact = next((r for r in self.rules if r.pattern == source), None)
        if exact is not None:
            return exact.apply(source)
        return next((c for c in (r.apply(source) for r in self.rules) if c is not None), None)

    def unit(self, target: str, *, stated: Unit | None = None, source: str = "") -> Unit | None:
        """Unit of a target: what the user says of it, else what its name states, else what the user says of all.

        Raises:
            InputError: when the name of its column, ``source``, holds another unit in brackets than the user says.
        """
        named = next((u for p, u in self.units.items() if p != "*" and fnmatchcase(target, p)), None)
        written, said = in_brackets(source)[1], named or self.units.get("*")
        if written and said and said is not written:
            raise InputError(
                f"one unit for the loss of {target!r}",
                f"{written.value} in the name of its column {source!r}, {said.value} by --unit",
                hint="Leave --unit out, or give it for the other targets alone: --unit 'code=bits/byte'.",
            )
        return named or stated or written or self.units.get("*")


def fact_name(key: str) -> str | None:
    """The fact that a key of a sheet or ``--set`` means, or None."""
    key = key.strip().lower().replace(" ", "_").replace("-", "_")
    key = _FACT_ALIASES.get(key, key)
    return key if key in FACTS else None


def _setting(word: str) -> tuple[str, str]:
    key, equals, value = word.partition("=")
    key, value = key.strip(), value.strip()
    name = key if key in ("run", "domains") or key.startswith("mix/") else fact_name(key)
    if not equals or name is None or not value:
        known = ", ".join(FACTS)
        raise InputError(f"--set NAME=VALUE with a name among run, domains, mix/<domain>, {known}", repr(word))
    return name, value


def _unit(word: str) -> tuple[str, Unit]:
    pattern, _, unit = word.rpartition("=")
    return pattern.removeprefix("loss/") or "*", Unit.named(unit)


def load_rules(path: Path) -> tuple[Rule, ...]:
    """Read a column map: ``columns: {glob: loss/web}`` or ``{glob: {to: loss/web, unit: bits/byte, scale: 1}}``.

    ``convert: nats/token`` turns the numbers from ``unit`` into another; bits per byte need ``bytes_per_token``.

    Raises:
        InputError: naming the file and the rule that is wrong.
    """
    content = read_mapping(path)
    columns = content.get("columns", content)
    if not isinstance(columns, Mapping):
        raise InputError("columns: to map names to run-table columns", repr(columns), where=str(path))
    return tuple(_rule(str(pattern), entry, f"{path}, column {pattern!r}") for pattern, entry in columns.items())


def _rule(pattern: str, entry: Any, where: str) -> Rule:
    if entry in (None, "", "-", "ignore"):
        return Rule(pattern, "")
    facts = entry if isinstance(entry, Mapping) else {"to": entry}
    unknown = set(map(str, facts)) - {"to", "unit", "scale", "convert", "bytes_per_token"}
    if unknown or "to" not in facts:
        raise InputError(
            "keys to, unit, scale, convert, bytes_per_token", ", ".join(sorted(map(str, facts))), where=where
        )
    name = str(facts["to"])
    if not _TABLE_NAME.match(name):
        hint = "Columns are run, step, tokens, params, mix/<domain>, loss/<target>, bench/<task>, meta/<name>."
        raise InputError("a run-table column", repr(name), where=where, hint=hint)
    unit = Unit.named(str(facts["unit"])) if facts.get("unit") else None
    scale = parse_number(facts.get("scale", 1.0), name=f"{where}: scale")
    if not facts.get("convert"):
        return Rule(pattern, name, unit, scale)
    target = Unit.named(str(facts["convert"]))
    factor = facts.get("bytes_per_token")
    length = None if factor is None else parse_positive(factor, name=f"{where}: bytes_per_token")
    return Rule(pattern, name, target, scale, Conversion(unit or Unit.NATS, target, length))
