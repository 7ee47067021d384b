"""What a trainer config means: the token mixture that it realises, and how often each source is seen.

A config holds numbers of one meaning (see ``Meaning``). With N available tokens and L mean tokens per document,
a source gets tokens in proportion to its share w, to p L for a document probability p, to r N for r passes,
and to n L for n documents.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mixlaw.domains import Domains
from mixlaw.errors import InputError
from mixlaw.export.base import Entry, ExportOptions, Meaning, Phase, Reading
from mixlaw.export.convert import LENGTH, SUPPLY
from mixlaw.units import human

_FACTS = {Meaning.PROBABILITY: LENGTH, Meaning.COUNT: LENGTH, Meaning.PASSES: SUPPLY}
_BUDGET_TOLERANCE = 1e-3


@dataclass(frozen=True)
class AuditedPhase:
    """One phase of a config: token shares by domain from step ``start`` on."""

    start: int
    shares: Mapping[str, float]


@dataclass(frozen=True)
class Audit:
    """The token mixture of a config.

    Attributes:
        numbers: what the config says, by domain (of the first phase that names it).
        meanings: what the trainer does with each number.
        shares: token shares over the whole run, by domain; they sum to 1.
        tokens: training tokens: the budget given, else what passes or counts add up to, else None.
        epochs: passes over each domain whose supply is known.
        phases: the curriculum; one phase for one mixture throughout.
        warnings: traps, in sentences.
    """

    numbers: Mapping[str, float]
    meanings: Mapping[str, Meaning]
    shares: Mapping[str, float]
    tokens: float | None
    epochs: Mapping[str, float]
    phases: tuple[AuditedPhase, ...]
    warnings: tuple[str, ...]


def audit(reading: Reading, domains: Domains, *, options: ExportOptions) -> Audit:
    """Work out the token mixture of a config.

    Args:
        reading: the config as its trainer reads it.
        domains: facts that the meaning of the numbers may need; paths are matched to names.
        options: the run, for epochs and to weigh stages.

    Raises:
        MissingFactError: naming a fact that the meaning of the numbers needs.
        InputError: when no source has any weight.
    """
    names = _names(domains)
    phases = tuple(_rename(phase, names) for phase in reading.phases)
    drawn = [_tokens(phase.entries, domains) for phase in phases]
    audited = tuple(AuditedPhase(p.start, _normal(d)) for p, d in zip(phases, drawn, strict=True))
    counted = _counted(phases, drawn)
    tokens = options.tokens or counted
    shares = _overall(audited, options)
    epochs = {
        name: share * tokens / supply
        for name, share in shares.items()
        if tokens and (supply := domains.get(name).available_tokens)
    }
    entries = {entry.key: entry for phase in reversed(phases) for entry in phase.entries}
    warnings = (
        *reading.warnings,
        *_strangers(entries, domains),
        *_budget(counted, options.tokens),
        *_worn(epochs, domains),
    )
    return Audit(
        {name: entries[name].number for name in shares},
        {name: entries[name].meaning for name in shares},
        shares,
        tokens,
        epochs,
        audited,
        warnings,
    )


def _names(domains: Domains) -> dict[str, str]:
    """Domain by the text that a config may call it."""
    by_path = {path: name for name, facts in domains.by_name.items() for path in facts.paths}
    joined = {", ".join(facts.paths): name for name, facts in domains.by_name.items() if facts.paths}
    return {**joined, **by_path, **{name: name for name in domains.by_name}}


def _rename(phase: Phase, names: Mapping[str, str]) -> Phase:
    entries = tuple(Entry(names.get(e.key, e.key), e.number, e.meaning) for e in phase.entries)
    return Phase(entries, phase.start)


def _tokens(entries: Iterable[Entry], domains: Domains) -> dict[str, float]:
    """Tokens by domain, up to a factor that all of one meaning share."""
    drawn: dict[str, float] = {}
    for entry in entries:
        fact = _FACTS.get(entry.meaning)
        size = domains.need([entry.key], fact, f"the config gives its {entry.meaning.value}")[entry.key] if fact else 1
        drawn[entry.key] = drawn.get(entry.key, 0.0) + entry.number * size
    return drawn


def _normal(drawn: Mapping[str, float]) -> dict[str, float]:
    total = math.fsum(drawn.values())
    if total <= 0:
        raise InputError("at least one source with a weight", "only zeros")
    return {name: value / total for name, value in drawn.items()}


def _counted(phases: tuple[Phase, ...], drawn: list[dict[str, float]]) -> float | None:
    """Tokens of a config of passes and counts, which set their own budget; None for the other meanings."""
    meanings = {entry.meaning for phase in phases for entry in phase.entries}
    if not meanings <= {Meaning.PASSES, Meaning.COUNT}:
        return None
    return math.fsum(value for phase in drawn for value in phase.values())


def _overall(phases: tuple[AuditedPhase, ...], options: ExportOptions) -> dict[str, float]:
    """Token-weighted mean of the phases."""
    if len(phases) == 1:
        return dict(phases[0].shares)
    why = "stages begin at steps"
    per_step = options.need("sequence_length", why) * options.need("batch_size", why)
    bounds = [*(phase.start * per_step for phase in phases), options.need("tokens", why)]
    if bounds[-1] <= bounds[-2]:
        raise InputError("a run that reaches the last stage", f"{human(bounds[-1])} tokens")
    total: dict[str, float] = {}
    for phase, begin, end in zip(phases, bounds, bounds[1:], strict=False):
        for name, share in phase.shares.items():
            total[name] = total.get(name, 0.0) + share * (end - begin)
    return _normal(total)


def _strangers(entries: Mapping[str, Entry], domains: Domains) -> Iterable[str]:
    strangers = [name for name in entries if name not in domains.by_name]
    if domains.by_name and strangers:
        yield f"not in {domains.source}: {', '.join(strangers)}"


def _budget(counted: float | None, asked: float | None) -> Iterable[str]:
    if counted is not None and asked is not None and abs(counted / asked - 1) > _BUDGET_TOLERANCE:
        yield f"the config draws {human(counted)} tokens, the run asks for {human(asked)}"


def _worn(epochs: Mapping[str, float], domains: Domains) -> Iterable[str]:
    for name, seen in epochs.items():
        limit = domains.get(name).max_epochs
        if seen > limit * (1 + 1e-9):
            yield f"{name}: {seen:.3g} epochs, above max_epochs {limit:g}"
