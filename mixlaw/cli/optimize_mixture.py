"""``mixlaw optimize-mixture``: a fit in, the mixture to train with out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mixlaw.cli.options import (
    DomainsFile,
    Incumbent,
    Json,
    Limits,
    Natural,
    ObjectiveOption,
    Output,
    Plot,
    Seed,
    TargetParams,
    TargetTokens,
)

if TYPE_CHECKING:
    from mixlaw.fits import FitSet
    from mixlaw.optimize import Choice, Found, Request, Scale
    from mixlaw.runs import RunTable


def optimize_mixture(
    fit: Annotated[Path, typer.Argument(metavar="FIT", help="Fit file, or a run table to fit first; '-' for stdin.")],
    params: TargetParams = None,
    tokens: TargetTokens = None,
    objective: ObjectiveOption = None,
    limit: Limits = None,
    domains: DomainsFile = None,
    minimum: Annotated[str | None, typer.Option("--min", help="Smallest shares, e.g. web=0.1,code=0.05.")] = None,
    maximum: Annotated[str | None, typer.Option("--max", help="Largest shares, e.g. web=0.7.")] = None,
    natural: Natural = None,
    incumbent: Incumbent = None,
    kl: Annotated[float, typer.Option("--kl", help="Weight of the divergence from --reference.")] = 0.0,
    reference: Annotated[
        str | None, typer.Option("--reference", help="Mixture that --kl stays near; the natural one if left out.")
    ] = None,
    max_active: Annotated[int | None, typer.Option("--max-active", help="Most domains with a share above 0.")] = None,
    risk: Annotated[
        str, typer.Option("--risk", help="Over bootstrap members minimise their mean, or a quantile such as 0.9.")
    ] = "",
    pareto: Annotated[
        str | None, typer.Option("--pareto", help="Two names, a,b: write the front between them as table and plot.")
    ] = None,
    pareto_output: Annotated[
        Path, typer.Option("--pareto-output", help="Table of --pareto; the plot goes beside it as .png.")
    ] = Path("pareto.csv"),
    output: Output = None,
    form: Annotated[
        str | None, typer.Option("--format", help="Write a trainer's config; see mixlaw export --list.")
    ] = None,
    plot: Plot = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Choose the mixture with the best predicted objective at the size and tokens of the run to be trained."""
    from mixlaw.cli import output as out
    from mixlaw.cli.choices import mixture_of, scales
    from mixlaw.cli.opening import insist_on_one_stdout, insist_on_output, open_fits
    from mixlaw.domains import Domains
    from mixlaw.export import exporter
    from mixlaw.optimize import Objective, Request, SolveOptions, by_scale, choose

    asked = scales(params, tokens)
    request = Request(
        scale=asked[-1],
        objective=Objective.parse(objective, limits=limit or []),
        domains=Domains.load(domains) if domains else Domains(),
        minimum=_bounds(minimum, "--min"),
        maximum=_bounds(maximum, "--max"),
        natural=mixture_of(natural),
        incumbent=mixture_of(incumbent),
        kl=kl,
        reference=mixture_of(reference),
        max_active=max_active,
        risk=risk,
        solver=SolveOptions(seed=seed),
    )
    front = _checked_front(pareto, pareto_output)
    if form is not None:
        exporter(form)
    insist_on_one_stdout(output, json)
    insist_on_output(output)
    out.check_plot(plot)
    fits = open_fits(fit, seed=seed, check=lambda found: _check(found, request, front))
    with out.progress("searching") as advance:
        choice = choose(fits, request, progress=advance)
        moved = by_scale(fits, request, asked) if len(asked) > 1 else []
    _write(choice, moved, output, form, json)
    if plot is not None:
        from mixlaw.render.pictures.slices import draw

        out.write_plot(draw(choice), plot)
    if front:
        _write_front(fits, choice, front, pareto_output)


def _checked_front(names: str | None, path: Path) -> tuple[str, str] | None:
    """The two terms of ``--pareto``, and a table that can be written beside its picture."""
    from mixlaw.cli.opening import insist_on_output
    from mixlaw.errors import UsageError
    from mixlaw.optimize.pareto import parse_terms

    if not names:
        return None
    if path.suffix == ".png":
        raise UsageError("a table after --pareto-output, such as pareto.csv (the picture goes beside it)", str(path))
    insist_on_output(path)
    return parse_terms(names)


def _check(found: FitSet | RunTable, request: Request, front: tuple[str, str] | None) -> None:
    """Refuse names that the data lack, and bounds that collide, before laws are fitted or mixtures searched."""
    from mixlaw.fits import FitSet
    from mixlaw.optimize.ensemble import insist_on_bootstrap
    from mixlaw.optimize.objective import Objective
    from mixlaw.optimize.pareto import check_terms
    from mixlaw.optimize.surface import Surface

    request.check(found.domains, found.targets, found.benchmarks)
    if request.risk:
        insist_on_bootstrap(isinstance(found, FitSet) and found.bootstrapped)
    if front:
        check_terms(front, found.targets, found.benchmarks)
    if front and isinstance(found, FitSet):
        Surface.of(found, Objective(dict.fromkeys(front, 0.5)), request.scale)


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


def _write(
    choice: Choice, scales: list[tuple[Scale, Found]], output: Path | None, form: str | None, json: bool
) -> None:
    """Stdout holds one thing: JSON if asked for, else the config or mixture file without -o, else the tables."""
    import sys

    from mixlaw.cli import output as out
    from mixlaw.export import render as render_format
    from mixlaw.render import mixture as render

    if form is None:
        text = render.mixture_file(choice, scales)
    else:
        written = render_format(form, render.recipe(choice), domains=choice.request.domains)
        text = written.text
        out.remarks(written.remarks)
    file_to_stdout = not json and output is None and (form is not None or not sys.stdout.isatty())
    if json:
        out.write_json(render.choice_data(choice, scales))
    else:
        tables = [render.mixture_table(choice), render.standing_table(choice), render.term_table(choice)]
        tables += [render.scale_table(choice, scales)] if scales else []
        out.show(*tables, aside=file_to_stdout or str(output) == "-")
    if output is not None or file_to_stdout:
        out.write_to(output, text)
    out.remarks(render.remarks(choice))


def _write_front(fits: FitSet, choice: Choice, terms: tuple[str, str], path: Path) -> None:
    """Write the front as a table, and as a plot where Matplotlib is there."""
    from importlib.util import find_spec

    from mixlaw.cli import output as out
    from mixlaw.optimize.pareto import pareto
    from mixlaw.render.pareto import front_csv
    from mixlaw.render.pictures.front import draw

    with out.progress("front") as advance:
        front = pareto(fits, choice.request, terms, progress=advance)
    out.write_to(path, front_csv(front))
    if find_spec("matplotlib") is None:
        out.remark("no plot: install it with pip install 'mixlaw[plot]'")
        return
    mixtures = {"proposal": choice.proposal, **choice.baselines}
    a, b = terms
    marks = {
        name: (float(choice.surface.term(a, m[None])[0]), float(choice.surface.term(b, m[None])[0]))
        for name, m in mixtures.items()
    }
    out.write_plot(draw(front, marks, units=fits.units), path.with_suffix(".png"))
