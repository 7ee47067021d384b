"""``mixlaw optimize-mixture``: a fit in, the mixture to train with out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mixlaw.cli.options import DomainsFile, Json, Output, ParamsOption, Seed, TokensOption

if TYPE_CHECKING:
    from mixlaw.optimize import Choice, Request


def optimize_mixture(
    fit: Annotated[Path, typer.Argument(metavar="FIT", help="Fit file, or a run table to fit first.")],
    params: ParamsOption = None,
    tokens: TokensOption = None,
    objective: Annotated[
        str | None, typer.Option("--objective", help="web=1,code=2 or an objective file; the mean loss if left out.")
    ] = None,
    domains: DomainsFile = None,
    minimum: Annotated[str | None, typer.Option("--min", help="Smallest shares, e.g. web=0.1,code=0.05.")] = None,
    maximum: Annotated[str | None, typer.Option("--max", help="Largest shares, e.g. web=0.7.")] = None,
    natural: Annotated[str | None, typer.Option("--natural", help="Natural mixture: web=0.6,... or a file.")] = None,
    incumbent: Annotated[str | None, typer.Option("--incumbent", help="Mixture in use: web=0.6,... or a file.")] = None,
    output: Output = None,
    form: Annotated[
        str | None, typer.Option("--format", help="Write a trainer's config; see mixlaw export --list.")
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Choose the mixture with the best predicted objective at the size and tokens of the run to be trained."""
    from mixlaw.cli import output as out
    from mixlaw.cli.opening import open_fits
    from mixlaw.optimize import choose

    request = _request(params, tokens, objective, domains, minimum, maximum, natural, incumbent, seed)
    fits = open_fits(fit, seed=seed)
    with out.progress("searching") as advance:
        choice = choose(fits, request, progress=advance)
    _write(choice, request, output, form, json)


def _request(
    params: str | None,
    tokens: str | None,
    objective: str | None,
    domains: Path | None,
    minimum: str | None,
    maximum: str | None,
    natural: str | None,
    incumbent: str | None,
    seed: int,
) -> Request:
    from mixlaw.domains import Domains
    from mixlaw.mixture import Mixture
    from mixlaw.optimize import Objective, Request, Scale, SolveOptions
    from mixlaw.units import parse_positive

    scale = Scale(
        parse_positive(params, name="--params") if params else None,
        parse_positive(tokens, name="--tokens") if tokens else None,
    )
    return Request(
        scale=scale,
        objective=Objective.parse(objective),
        domains=Domains.load(domains) if domains else Domains(),
        minimum=_bounds(minimum, "--min"),
        maximum=_bounds(maximum, "--max"),
        natural=Mixture.parse(natural) if natural else None,
        incumbent=Mixture.parse(incumbent) if incumbent else None,
        solver=SolveOptions(seed=seed),
    )


def _bounds(text: str | None, option: str) -> dict[str, float]:
    from mixlaw.errors import UsageError
    from mixlaw.units import parse_number

    bounds = {}
    for part in (text or "").split(","):
        name, equals, value = part.rpartition("=")
        if part.strip() and not equals:
            raise UsageError(f"{option} domain=share,...", repr(part))
        if part.strip():
            bounds[name.strip()] = parse_number(value, name=f"{option} {name.strip()}")
    return bounds


def _write(choice: Choice, request: Request, output: Path | None, form: str | None, json: bool) -> None:
    """Stdout holds one thing: JSON if asked for, else the config or mixture file without -o, else the tables."""
    import sys

    from mixlaw.cli import output as out
    from mixlaw.export import render as render_format
    from mixlaw.files import to_yaml
    from mixlaw.render import mixture as render

    recipe = render.recipe(choice)
    text = to_yaml(recipe.to_mapping())
    if form is not None:
        written = render_format(form, recipe, domains=request.domains)
        text = written.text
        out.remarks(written.remarks)
    file_to_stdout = not json and output is None and (form is not None or not sys.stdout.isatty())
    if json:
        out.write_json(render.choice_data(choice))
    else:
        tables = [render.mixture_table(choice), render.objective_table(choice)]
        out.show(*tables, aside=file_to_stdout or str(output) == "-")
    if output is not None or file_to_stdout:
        out.write_to(output, text)
    out.remarks(f"flag {flag}" for flag in choice.flags)
