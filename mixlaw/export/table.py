"""A plain table: share, tokens, epochs and documents per domain, for people and for trainers of one's own."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mixlaw.errors import InputError
from mixlaw.export.base import Meaning, Order, Reading, Written
from mixlaw.export.digits import exact_shares, plain, rounded

_COLUMNS = ("domain", "share", "tokens", "epochs", "documents")


@dataclass(frozen=True)
class Table:
    """CSV; cells whose facts are unknown stay empty. A curriculum adds a column ``stage``, last of all ``all``."""

    name: str = "table"
    trainer: str = "any (CSV)"
    meaning: Meaning = Meaning.SHARE
    needs: tuple[str, ...] = ()
    checked: str = "this version"
    staged: bool = True

    def write(self, order: Order) -> Written:
        """One row per domain with a share."""
        table = io.StringIO()
        columns = (("stage",) if order.stages else ()) + _COLUMNS
        writer = csv.DictWriter(table, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows(order))
        return Written(table.getvalue())

    def read(self, text: str, order: Order) -> Reading:
        """Read the shares (of ``all`` stages, where there are several)."""
        found = list(csv.DictReader(io.StringIO(text)))
        if not found or not {"domain", "share"} <= set(found[0]):
            raise InputError("columns domain and share", "; ".join(found[0] if found else ()) or "no rows")
        kept = [row for row in found if row.get("stage", "all") == "all"]
        return Reading.flat({row["domain"]: float(row["share"]) for row in kept}, Meaning.SHARE)


def rows(order: Order) -> Iterator[dict[str, Any]]:
    """The table's rows; numbers are plain decimals, unknown cells empty."""
    for number, stage in enumerate(order.stages, start=1):
        for row in _rows(order, stage.mixture.nonzero(), stage.tokens):
            yield {"stage": number, **row}
    for row in _rows(order, order.shares, order.tokens):
        yield {"stage": "all", **row} if order.stages else row


def _rows(order: Order, shares: dict[str, float], tokens: float | None) -> Iterator[dict[str, Any]]:
    for name, share in exact_shares(shares).items():
        facts = order.domains.get(name)
        used = None if tokens is None else shares[name] * tokens
        yield {
            "domain": name,
            "share": plain(share),
            "tokens": "" if used is None else f"{used:.0f}",
            "epochs": _ratio(used, facts.available_tokens),
            "documents": _ratio(used, facts.mean_tokens_per_document),
        }


def _ratio(used: float | None, size: float | None) -> str:
    return "" if used is None or size is None else plain(rounded(used / size))
