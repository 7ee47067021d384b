"""``mixlaw report``: a fit in, one page out that says what to do, how sure that is, and what would change it."""

from __future__ import annotations

from dataclasses import replace
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
    Seed,
    TargetParams,
    TargetTokens,
)

STARTS = 4
"""Starting points per target of a law that is only compared."""

if TYPE_CHECKING:
    from mixlaw.allocate.helpful import Helpful
    from mixlaw.check.compare import Comparison
    from mixlaw.errors import InputError
    from mixlaw.fits import FitSet
    from mixlaw.optimize import Request, Scale
    from mixlaw.render.report import Report
    from mixlaw.runs import RunTable


def report(
    context: typer.Context,
    fit: Annotated[Path, typer.Argument(metavar="FIT", help="Fit file, or a run table to fit first.")],
    params: TargetParams = None,
    tokens: TargetTokens = None,
    runs: Annotated[
        Path | None, typer.Option("--runs", help="Run table of the fit: adds laws compared on held-out runs.")
    ] = None,
    domains: DomainsFile = None,
    objective: ObjectiveOption = None,
    limit: Limits = None,
    natural: Natural = None,
    incumbent: Incumbent = None,
    output: Output = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Write one self-contained HTML page: the mixture to train with, the evidence for it, and every doubt."""
    from mixlaw.cli import output as out
    from mixlaw.cli.choices import command_line, mixture_of, scales
    from mixlaw.cli.opening import insist_on_one_stdout, open_fits_and_runs, open_runs
    from mixlaw.domains import Domains
    from mixlaw.optimize import Objective, Request, SolveOptions
    from mixlaw.render.report import page, report_data
    from mixlaw.render.report.figures import MISSING, can_draw

    insist_on_one_stdout(output, json)
    _insist_on_place(output, json)
    asked = scales(params, tokens)
    request = Request(
        objective=Objective.parse(objective, limits=limit or []),
        domains=Domains.load(domains) if domains else Domains(),
        natural=mixture_of(natural),
        incumbent=mixture_of(incumbent),
        solver=SolveOptions(seed=seed),
    )
    fits, fitted = open_fits_and_runs(
        fit, seed=seed, check=lambda found: request.check(found.domains, found.targets, found.benchmarks)
    )
    table = open_runs(runs) if runs is not None else fitted
    commands = {
        **_fit_command(fit, fits, made_here=fitted is not None, seed=seed),
        "This report": command_line(context.obj or []),
    }
    content = replace(_gather(fits, table, request, asked), commands=commands)
    if json:
        out.write_json(report_data(content))
    if not json or output is not None:
        out.write_to(output, page(content))
        out.remarks([] if can_draw() else [MISSING])
    out.remarks(content.notes)


def _insist_on_place(output: Path | None, json: bool) -> None:
    """Refuse what could not be written, or would flood a terminal, before the work."""
    import sys

    from mixlaw.cli.opening import insist_on_output
    from mixlaw.errors import UsageError

    insist_on_output(output)
    if output is None and not json and sys.stdout.isatty():
        raise UsageError("-o FILE, such as -o report.html", "none", hint="A page is not for a terminal; a pipe works.")


def _fit_command(path: Path, fits: FitSet, *, made_here: bool, seed: int) -> dict[str, str]:
    """The command that made the fits, with the words above it; no command where the file does not hold it."""
    import shlex

    if fits.command:
        return {"The fit": fits.command}
    if made_here:
        words = ["mixlaw", "fit", str(path), *(["--seed", str(seed)] if seed else [])]
        return {"The fit, made for this report from the run table; the same as": shlex.join(words)}
    return {"The fit: its file does not hold the command that made it": ""}


def _gather(fits: FitSet, table: RunTable | None, request: Request, asked: list[Scale]) -> Report:
    """Do the work: choose, compare, find the run that helps most."""
    import mixlaw
    from mixlaw.cli import output as out
    from mixlaw.optimize import by_scale, choose
    from mixlaw.render.report import Report

    asked, notes = _at_data_scale(asked, fits)
    request = replace(request, scale=asked[-1])
    with out.progress("searching") as advance:
        choice = choose(fits, request, progress=advance)
        moved = tuple(by_scale(fits, request, asked)) if len(asked) > 1 else ()
    if table is not None and table.fingerprint != fits.seen.fingerprint:
        notes += (
            "The run table of --runs is not the one that was fitted (fingerprint "
            f"{table.fingerprint}, fit {fits.seen.fingerprint}): the held-out comparison is about that table.",
        )
    comparison, no_comparison = _compare(fits, table, request)
    helpful, no_helpful = _helpful(fits, request)
    return Report(choice, moved, comparison, no_comparison, helpful, no_helpful, notes, version=mixlaw.__version__)


def _at_data_scale(asked: list[Scale], fits: FitSet) -> tuple[list[Scale], tuple[str, ...]]:
    """Scales with what was left out taken from the data, its largest, and the words that say so."""
    import numpy as np

    from mixlaw.units import human

    notes: tuple[str, ...] = ()
    for name, seen, what in (("params", fits.seen.params, "size"), ("tokens", fits.seen.tokens, "token count")):
        known = seen[np.isfinite(seen)]
        if getattr(asked[-1], name) is None and len(known):
            largest = float(known.max())
            asked = [replace(scale, **{name: largest}) for scale in asked]
            notes += (f"--{name} was left out: this is for the largest {what} in the data, {human(largest)}.",)
    return asked, notes


def _compare(fits: FitSet, table: RunTable | None, request: Request) -> tuple[Comparison | None, str]:
    """The laws of the fit, together where one part is held out, and the references on held-out runs; or why not."""
    from mixlaw.check.auto import AUTO
    from mixlaw.check.compare import compare
    from mixlaw.check.holdout import splits
    from mixlaw.check.trial import sample_targets
    from mixlaw.cli import output as out
    from mixlaw.errors import InputError
    from mixlaw.render.report.content import asked_laws
    from mixlaw.render.report.top import REFERENCES

    if table is None:
        return None, "no run table was given (--runs RUNS adds it)"
    options = replace(fits.options, starts=min(fits.options.starts, STARTS), shrink=0.0, strict=False)
    laws = [*asked_laws(fits), *REFERENCES]
    try:
        if "choice" in fits.evidence and len(splits(table, seed=options.seed)) == 1:
            laws.insert(0, AUTO)  # on every fold anew it would take minutes
        with out.progress("comparing") as advance:
            return compare(
                sample_targets(table), list(dict.fromkeys(laws)),
                options=options, natural=request.natural_mixture, progress=advance,
            ), ""  # fmt: skip
    except InputError as error:
        return None, _reason(error)


def _helpful(fits: FitSet, request: Request) -> tuple[Helpful | None, str]:
    """The run that would help most; or why none can be named."""
    from mixlaw.allocate.helpful import most_helpful
    from mixlaw.errors import InputError

    try:
        return most_helpful(fits, request, seed=request.solver.seed), ""
    except InputError as error:
        return None, _reason(error)


def _reason(error: InputError) -> str:
    """What an error says, as part of a sentence."""
    return error.expected if error.got is None else f"that takes {error.expected}; here: {error.got}"
