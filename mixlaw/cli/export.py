"""``mixlaw export``: a mixture file in, a trainer's config out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mixlaw.cli.options import DomainsFile, Json, Output, TokensOption

FormatOption = Annotated[str | None, typer.Option("--format", help="Trainer format; --list shows them.")]


def export(
    mixture: Annotated[Path, typer.Argument(help="Mixture file (YAML).")],
    form: FormatOption = None,
    domains: DomainsFile = None,
    tokens: TokensOption = None,
    output: Output = None,
    json: Json = False,
) -> None:
    """Write a mixture as a trainer's config, so that the trainer draws these token shares."""
    from mixlaw.cli.output import remarks, write_json, write_to
    from mixlaw.domains import Domains
    from mixlaw.export import ExportOptions, render
    from mixlaw.mixture import Recipe
    from mixlaw.units import parse_positive

    facts = Domains.load(domains) if domains else None
    options = ExportOptions(tokens=parse_positive(tokens, name="--tokens") if tokens else None)
    written = render(form or "table", Recipe.load(mixture), domains=facts, options=options)
    remarks(written.remarks)
    if json:
        write_json({"format": form, "text": written.text, "remarks": list(written.remarks)})
    else:
        write_to(output, written.text)
