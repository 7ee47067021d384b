"""A plain table: share, tokens, epochs and documents per domain, for people and for trainers of one's own."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from mixlaw.errors import InputError
from mixlaw.export.base import About, Meaning, Order, Reading, Written
from mixlaw.export.content import keyed, mappings_at, parse
from mixlaw.export.digits import exact_shares, plain, rounded
from mixlaw.files import to_yaml

_COLUMNS = ("domain", "share", "tokens", "epochs", "documents")


class TableCsv:
    """CSV; cells whose facts are unknown stay empty. A curriculum adds a column ``stage``, last of all ``all``."""

    about = About("table", "any (CSV)", Meaning.SHARE, "this version", staged=True, placed=False)

    def write(self, order: Order) -> Written:
        """One row per domain with a share."""
        table = io.StringIO()
        columns = (("stage",) if order.stages else ()) + _COLUMNS
        writer = csv.DictWriter(table, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: _cell(value) for key, value in row.items()} for row in rows(order))
        return Written(table.getvalue())

    def read(self, text: str) -> Reading:
        """Read the shares (of ``all`` stages, where there are several)."""
        return _read(list(csv.DictReader(io.StringIO(text, newline=""))))


class TableYaml:
    """The same rows as YAML, under ``domains``."""

    about = About("table-yaml", "any (YAML)", Meaning.SHARE, "this version", staged=True, placed=False)

    def write(self, order: Order) -> Written:
        """One mapping per domain with a share; unknown facts are left out."""
        found = [{key: value for key, value in row.items() if value is not None} for row in rows(order)]
        return Written(to_yaml({"domains": found}))

    def read(self, text: str) -> Reading:
        """Read the shares (of ``all`` stages, where there are several)."""
        return _read(mappings_at(parse(text), "domains"))


def rows(order: Order) -> Iterator[dict[str, Any]]:
    """The table's rows; what follows from unknown facts is None."""
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
            "share": share,
            "tokens": None if used is None else round(used),
            "epochs": _ratio(used, facts.available_tokens),
            "documents": _ratio(used, facts.mean_tokens_per_document),
        }


def _ratio(used: float | None, size: float | None) -> Decimal | None:
    return None if used is None or size is None else rounded(used / size)


def _cell(value: Any) -> Any:
    return plain(value) if isinstance(value, Decimal) else "" if value is None else value


def _read(found: Sequence[Mapping[str, Any]]) -> Reading:
    kept = [row for row in found if str(row.get("stage", "all")) == "all"]
    if not kept or any(row.get("domain") is None or "share" not in row for row in kept):
        raise InputError("rows with domain and share", "; ".join(map(str, found[0])) if found else "no rows")
    return Reading.flat(keyed([row["domain"] for row in kept], [row["share"] for row in kept], "share"), Meaning.SHARE)
