"""The run sheet: what logs do not hold, by run name or glob. A plan manifest is one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pandas as pd

from mixlaw.errors import InputError
from mixlaw.files import read_mapping, to_yaml
from mixlaw.logs.options import IngestOptions, fact_name
from mixlaw.logs.part import Column
from mixlaw.logs.readers.table_csv import read_csv
from mixlaw.logs.source import Source
from mixlaw.mixture import Mixture
from mixlaw.units import parse_positive, shorten

_PLANNED = ("seed", "checkpoints", "cost")
"""What a plan manifest has beside facts: for the launcher."""
_NAMES = ("name", "run", "run_name", "pattern", "glob")


@dataclass(frozen=True)
class Entry:
    """Facts of the runs that a name or glob matches.

    Attributes:
        pattern: the name or glob.
        facts: numbers by name, of ``FACTS``.
        mixture: shares by domain; empty where the entry has none.
        place: file and entry, for messages.
        file: the file alone.
        unused: keys that mean nothing to mixlaw.
    """

    pattern: str
    facts: Mapping[str, float] = field(default_factory=dict)
    mixture: Mapping[str, float] = field(default_factory=dict)
    place: str = ""
    file: str = ""
    unused: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sheet:
    """Entries in the order of the files; an exact name goes before globs, the first glob before later ones."""

    entries: tuple[Entry, ...] = ()

    def __post_init__(self) -> None:
        known: dict[str, Entry] = {}
        for entry in self.entries:
            _insist_on_one(known.setdefault(entry.pattern, entry), entry)

    def _entries(self, run: str) -> list[Entry]:
        exact = [e for e in self.entries if e.pattern == run]
        return exact + [e for e in self.entries if e.pattern != run and fnmatchcase(run, e.pattern)]

    def facts(self, run: str) -> dict[str, float]:
        """Facts of a run."""
        facts: dict[str, float] = {}
        for entry in reversed(self._entries(run)):
            facts |= entry.facts
        return facts

    def mixture(self, run: str) -> Mapping[str, float]:
        """Shares of a run; empty where the sheet has none."""
        return next((e.mixture for e in self._entries(run) if e.mixture), {})

    def place(self, run: str, fact: str) -> str:
        """Where the sheet has a fact, or the ``mixture``, of a run."""
        found = (e for e in self._entries(run) if (fact in e.facts if fact != "mixture" else e.mixture))
        return next((e.place for e in found), "the run sheet")

    def unused(self) -> list[str]:
        """A remark for each file of which something was not understood."""
        names: dict[str, dict[str, None]] = {}
        for entry in self.entries:
            if entry.unused:
                names.setdefault(entry.file, {}).update(dict.fromkeys(entry.unused))
        return [f"run sheet {file}: not understood and not used: {shorten(list(n), 8)}" for file, n in names.items()]

    def gives(self, fact: str) -> bool:
        """Whether some entry has a fact."""
        return any(fact in e.facts for e in self.entries)

    def names(self, run: str) -> bool:
        """Whether an entry other than ``*`` is for this run."""
        return any(e.pattern != "*" for e in self._entries(run))

    def unseen(self, runs: Iterable[str]) -> list[str]:
        """Names and globs of the sheet that match no run."""
        names = list(runs)
        return [e.pattern for e in self.entries if not any(fnmatchcase(r, e.pattern) or r == e.pattern for r in names)]

    @classmethod
    def load_all(cls, paths: Iterable[Path]) -> Sheet:
        """Read several sheets as one.

        Raises:
            InputError: when two of them have different facts under one name.
        """
        return cls(tuple(replace(e, file=str(path)) for path in paths for e in cls.load(path).entries))

    @classmethod
    def load(cls, path: Path) -> Sheet:
        """Read a sheet: YAML ``runs: [{name, params, tokens_per_step, mixture}]`` or CSV with the same columns.

        Raises:
            InputError: naming the file and the entry that is wrong.
        """
        if path.suffix.lower() in (".csv", ".tsv"):
            return cls(tuple(_csv_entries(path)))
        content = read_mapping(path)
        runs = content.get("runs", content)
        if isinstance(runs, Mapping):
            runs = [{"name": name, **_as_mapping(facts, f"{path}, run {name!r}")} for name, facts in runs.items()]
        if not isinstance(runs, list) or not runs:
            raise InputError("runs: with a list of runs", repr(runs)[:60], where=str(path))
        return cls(tuple(_entry(item, f"{path}, run {i + 1}") for i, item in enumerate(runs)))


def _insist_on_one(first: Entry, entry: Entry) -> None:
    """Refuse two entries of one name that say different things.

    Raises:
        InputError: naming the run, both values and both places.
    """
    for fact in (f for f in first.facts if f in entry.facts):
        left, right = first.facts[fact], entry.facts[fact]
        if abs(left - right) > 1e-9 * abs(left):
            got = f"{left:,.10g} in {first.place} and {right:,.10g} in {entry.place}"
            raise InputError(f"one number of {fact} for run {entry.pattern!r}", got)
    if first.mixture and entry.mixture:
        for domain in {**first.mixture, **entry.mixture}:
            left, right = first.mixture.get(domain, 0.0), entry.mixture.get(domain, 0.0)
            if abs(left - right) > 1e-9:
                got = f"{domain} {left:g} in {first.place} and {right:g} in {entry.place}"
                raise InputError(f"one mixture for run {entry.pattern!r}", got)


def _as_mapping(facts: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(facts, Mapping):
        raise InputError("a mapping of facts", repr(facts), where=where)
    return facts


def _entry(item: Any, where: str) -> Entry:
    if not isinstance(item, Mapping):
        raise InputError("a run with name: and facts", repr(item)[:60], where=where)
    name = next((str(item[k]) for k in _NAMES if item.get(k) is not None), None)
    if name is None:
        raise InputError("name: with the name of a run or a glob", ", ".join(map(str, item)), where=where)
    where = f"{where} ({name})"
    unused = tuple(k for k in map(str, item) if not (k in (*_NAMES, *_PLANNED, "mixture") or fact_name(k)))
    known = {fact_name(str(k)): v for k, v in item.items() if v is not None}
    facts = {k: parse_positive(v, name=f"{where}: {k}") for k, v in known.items() if k is not None}
    shares = item.get("mixture") or {}
    if not isinstance(shares, Mapping):
        raise InputError("mixture: to hold names and shares", repr(shares)[:60], where=where)
    given = {k: v for k, v in shares.items() if v is not None}
    return Entry(name, facts, Mixture.from_mapping(given, where=where).shares if given else {}, where, unused=unused)


def _csv_entries(path: Path) -> Iterable[Entry]:
    source = Source.at(path)
    for part in read_csv(source, IngestOptions()):
        if "run" not in part.frame:
            raise InputError("a column run or name", "none", where=str(path))
        extra = _extra_facts(source)
        frame = part.frame.join(extra) if len(extra) else part.frame
        unused = tuple(c.source for c in part.columns if not _is_fact(c) and c.source not in _PLANNED)
        for row, line in zip(frame.to_dict("records"), part.lines, strict=True):
            yield _row_entry({str(k): v for k, v in row.items()}, f"{path}, line {line}", unused)


def _is_fact(column: Column) -> bool:
    return column.name == "run" or column.name.startswith("mix/") or bool(fact_name(column.name or column.source))


def _extra_facts(source: Source) -> pd.DataFrame:
    """Columns of a sheet that a run table does not have: tokens per step, length, batch."""
    with source.reading(), source.text() as handle:
        raw = pd.read_csv(handle, sep=None, engine="python", dtype=str)
    names = {str(c): fact_name(str(c)) for c in raw.columns}
    wanted = {c: n for c, n in names.items() if n in ("tokens_per_step", "sequence_length", "global_batch")}
    return raw[list(wanted)].rename(columns=wanted)


def _row_entry(row: Mapping[str, Any], where: str, unused: tuple[str, ...]) -> Entry:
    name = str(row["run"])
    present = {k: v for k, v in row.items() if not pd.isna(v)}
    facts = {k: parse_positive(v, name=f"{where}, run {name}: {k}") for k, v in present.items() if fact_name(k)}
    shares = {k.removeprefix("mix/"): v for k, v in present.items() if k.startswith("mix/")}
    mixture = Mixture.from_mapping(shares, where=f"{where}, run {name}").shares if shares else {}
    return Entry(name, facts, mixture, where, unused=unused)


def template(runs: Iterable[str], lacking: Mapping[str, list[str]], *, steps: bool) -> str:
    """A run sheet with the runs filled in and the facts that are lacking left open.

    Args:
        runs: names of all runs.
        lacking: fact -> runs that lack it.
        steps: rows have steps, so that tokens come from tokens per step.
    """
    keys = {"params": "params", "tokens": "tokens_per_step" if steps else "tokens"}
    whole = [fact for fact in keys if len(lacking.get(fact, ())) == len(set(runs))]
    entries: list[dict[str, Any]] = [{"name": "*", **{keys[fact]: None for fact in whole}}] if whole else []
    open_facts = [fact for fact in lacking if fact not in whole]
    for run in dict.fromkeys(r for fact in open_facts for r in lacking[fact]):
        entry: dict[str, Any] = {"name": run}
        entry |= {keys[f]: None for f in open_facts if f in keys and run in lacking[f]}
        if run in lacking.get("mixture", ()):
            entry["mixture"] = {"web": None, "code": None}
        entries.append(entry)
    return to_yaml({"runs": entries}).replace(" null", "")


def beginning(sheet: str, limit: int = 60) -> str:
    """The first lines of a run sheet; the ``--report`` file holds all of it."""
    lines = sheet.splitlines()
    more = [f"# ... {len(lines) - limit} more lines: template in the --report file"] if len(lines) > limit else []
    return "\n".join([*lines[:limit], *more])
