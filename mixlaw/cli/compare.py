"""``mixlaw compare``: every law and baseline, judged on runs that they have not seen."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mixlaw.cli.options import DomainsFile, Jobs, Json, Plot, Seed


def compare(
    runs: Annotated[
        Path, typer.Argument(metavar="RUNS", help="Run table (from mixlaw ingest), or any table it reads.")
    ],
    holdout: Annotated[
        str | None,
        typer.Option("--holdout", help="largest, mixtures, longest or column=value; the hardest possible by default."),
    ] = None,
    law: Annotated[
        str, typer.Option("--law", help="Laws to compare, with commas; 'all' for every one and auto.")
    ] = "all",
    by_target: Annotated[bool, typer.Option("--by-target", help="Also print the error on each target.")] = False,
    domains: DomainsFile = None,
    starts: Annotated[int, typer.Option("--starts", help="Starting points per target.")] = 12,
    plot: Plot = None,
    jobs: Jobs = 1,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Score laws and rules of thumb on a held-out part of a run table, never on the part they were fitted on."""
    from mixlaw.check.auto import AUTO
    from mixlaw.check.compare import compare as run
    from mixlaw.cli import output as out
    from mixlaw.cli.choices import executor
    from mixlaw.cli.opening import open_runs
    from mixlaw.domains import Domains
    from mixlaw.fit import FitOptions
    from mixlaw.fitting import split_laws
    from mixlaw.laws import LAWS
    from mixlaw.render import compare as render

    out.check_plot(plot)
    names = [AUTO, *LAWS] if law == "all" else split_laws(law)
    natural = Domains.load(domains).natural() if domains else None
    table = open_runs(runs)
    with out.progress("comparing") as advance, executor(jobs) as pool:
        options = FitOptions(starts=starts, seed=seed)
        result = run(table, names, how=holdout, options=options, natural=natural, executor=pool, progress=advance)
    if json:
        out.write_json(render.as_json(result))
    else:
        out.show(render.comparison_table(result), *([render.target_table(result)] if by_target else []))
        out.write_result("\n".join(render.verdict(result)) + "\n")
    if plot is not None:
        from mixlaw.render.pictures.predicted import draw

        out.write_plot(draw(result), plot)
