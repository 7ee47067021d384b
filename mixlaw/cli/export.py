"""``mixlaw export``: a mixture file in, a trainer's config out; and the audit of a config that is there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mixlaw.cli.options import DomainsFile, Json, Output, TokensOption
from mixlaw.errors import UsageError

if TYPE_CHECKING:
    from mixlaw.domains import Domains
    from mixlaw.export import ExportOptions

FormatOption = Annotated[str | None, typer.Option("--format", help="Trainer format; --list shows them.")]
MixtureFile = Annotated[
    Path | None, typer.Argument(help="Mixture file (YAML); with --check, the mixture to compare with.")
]
ListOption = Annotated[bool, typer.Option("--list", help="Show the formats, what they need, and stop.")]
CheckOption = Annotated[
    Path | None, typer.Option("--check", help="Read this trainer config back and show the token mixture it means.")
]
LengthOption = Annotated[
    int | None, typer.Option("--sequence-length", min=1, help="Tokens per sequence, for stages and epoch sizes.")
]
BatchOption = Annotated[int | None, typer.Option("--batch-size", min=1, help="Sequences per step, for stages.")]


def export(
    mixture: MixtureFile = None,
    form: FormatOption = None,
    domains: DomainsFile = None,
    tokens: TokensOption = None,
    sequence_length: LengthOption = None,
    batch_size: BatchOption = None,
    show_list: ListOption = False,
    check: CheckOption = None,
    output: Output = None,
    json: Json = False,
) -> None:
    """Write a mixture as a trainer's config, so that the trainer draws these token shares."""
    from mixlaw.domains import Domains
    from mixlaw.export import ExportOptions
    from mixlaw.units import parse_positive

    if show_list:
        return _list(json)
    if form is None:
        raise UsageError("--format NAME", "none", hint="mixlaw export --list shows the formats.")
    facts = Domains.load(domains) if domains else Domains()
    budget = parse_positive(tokens, name="--tokens") if tokens else None
    options = ExportOptions(tokens=budget, sequence_length=sequence_length, batch_size=batch_size)
    if check is not None:
        return _check(check, form, facts, options=options, asked=mixture, json=json)
    if mixture is None:
        raise UsageError("a mixture file", "none", hint="For example: mixlaw export mixture.yaml --format megatron")
    return _write(mixture, form, facts, options=options, output=output, json=json)


def _list(json: bool) -> None:
    from mixlaw.cli.output import remark, show, write_json
    from mixlaw.render.export import LEGEND, formats, formats_table

    if json:
        write_json(formats())
    else:
        show(formats_table())
        remark(LEGEND)


def _write(
    mixture: Path, form: str, domains: Domains, *, options: ExportOptions, output: Path | None, json: bool
) -> None:
    from mixlaw.cli.output import remarks, write_json, write_to
    from mixlaw.export import render
    from mixlaw.mixture import Recipe

    written = render(form, Recipe.load(mixture), domains=domains, options=options)
    remarks(written.remarks)
    if output is not None or not json:
        write_to(output, written.text)
    if json:
        write_json({"format": form, "text": written.text, "remarks": list(written.remarks)})


def _check(path: Path, form: str, domains: Domains, *, options: ExportOptions, asked: Path | None, json: bool) -> None:
    from mixlaw.cli.output import remarks, show, write_json
    from mixlaw.export import check
    from mixlaw.files import read_text
    from mixlaw.mixture import Recipe
    from mixlaw.render.export import audit_data, audit_table

    recipe = Recipe.load(asked) if asked else None
    if recipe and options.tokens is None:
        options = replace(options, tokens=recipe.tokens)
    audit = check(form, read_text(path), domains=domains, options=options, where=str(path))
    shares = recipe.mixture.nonzero() if recipe else {}
    if json:
        write_json(audit_data(audit, shares))
    else:
        show(audit_table(audit, shares))
    remarks(f"warning: {warning}" for warning in audit.warnings)
