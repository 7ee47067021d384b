"""Trainer formats and audited configs as tables for people, and as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.table import Table

from mixlaw.export import EXPORTERS, REFUSED, Audit
from mixlaw.units import human


def formats() -> list[dict[str, Any]]:
    """Every format as plain data, the refused ones last."""
    written = [
        {
            "format": name,
            "class": about.meaning.unit_class,
            "number": about.meaning.value,
            "trainer": about.trainer,
            "needs": list(about.needs),
            "stages": about.staged,
            "checked": about.checked,
        }
        for name, about in ((name, exporter.about) for name, exporter in EXPORTERS.items())
    ]
    refused = [
        {"format": name, "class": None, "trainer": r.trainer, "refused": r.why, "instead": r.instead}
        for name, r in REFUSED.items()
    ]
    return written + refused


def formats_table() -> Table:
    """Every format in a row."""
    table = Table(box=None, pad_edge=False)
    for column in ("format", "class", "read by", "needs", "checked against"):
        table.add_column(column, no_wrap=column in ("format", "needs"), overflow="fold")
    for row in formats():
        if row["class"] is None:
            table.add_row(row["format"], "refused", row["trainer"], "", row["refused"])
        else:
            needs = "\n".join([*row["needs"], *(["(takes stages)"] if row["stages"] else [])])
            table.add_row(row["format"], row["class"], row["trainer"], needs, row["checked"])
    return table


LEGEND = (
    "class A: token shares as they are; B: probabilities of documents, converted with mean_tokens_per_document; "
    "C: passes and counts, converted with available_tokens or mean_tokens_per_document and the run's tokens"
)


def audit_data(audit: Audit, asked: Mapping[str, float]) -> dict[str, Any]:
    """An audited config as plain data.

    Args:
        audit: what the config means.
        asked: token shares to compare with; may be empty.
    """
    domains = [
        {
            "domain": name,
            "number": audit.numbers.get(name),
            "meaning": audit.meanings[name].value if name in audit.meanings else None,
            "share": audit.shares.get(name, 0.0),
            "epochs": audit.epochs.get(name),
            **({"asked": asked.get(name, 0.0)} if asked else {}),
        }
        for name in dict.fromkeys([*audit.shares, *asked])
    ]
    phases = [{"start_step": phase.start, "mixture": dict(phase.shares)} for phase in audit.phases]
    content: dict[str, Any] = {"tokens": audit.tokens, "domains": domains, "warnings": list(audit.warnings)}
    return content if len(phases) == 1 else {**content, "stages": phases}


def audit_table(audit: Audit, asked: Mapping[str, float]) -> Table:
    """The token mixture of a config, a row per domain."""
    staged = [f"from step {phase.start}" for phase in audit.phases] if len(audit.phases) > 1 else []
    title = f"{human(audit.tokens)} tokens" if audit.tokens else None
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    table.add_column("domain")
    for column in ("in the file", "token share", *(["asked", "off by"] if asked else []), "epochs", *staged):
        table.add_column(column, justify="right")
    for name in dict.fromkeys([*audit.shares, *asked]):
        table.add_row(name, *_cells(audit, asked, name))
    return table


def _cells(audit: Audit, asked: Mapping[str, float], name: str) -> Iterator[str]:
    share = audit.shares.get(name, 0.0)
    yield f"{audit.numbers[name]:.6g}" if name in audit.numbers else "-"
    yield f"{share:.6g}"
    if asked:
        yield f"{asked.get(name, 0.0):.6g}"
        yield f"{share - asked.get(name, 0.0):+.2g}"
    yield f"{audit.epochs[name]:.3g}" if name in audit.epochs else "-"
    if len(audit.phases) > 1:
        yield from (f"{phase.shares.get(name, 0.0):.6g}" for phase in audit.phases)
