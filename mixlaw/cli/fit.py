"""``mixlaw fit``: a run table in, fit.json out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mixlaw.cli.options import Jobs, Json, Plot, Seed, Strict


def fit(
    context: typer.Context,
    runs: Annotated[
        Path, typer.Argument(metavar="RUNS", help="Run table (from mixlaw ingest), or any table it reads.")
    ],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Fit file to write, e.g. fit.json.")] = None,
    law: Annotated[
        str, typer.Option("--law", help="auto (weighted by held-out error), a law, or several with commas to average.")
    ] = "auto",
    starts: Annotated[int, typer.Option("--starts", min=1, help="Starting points per target.")] = 12,
    drop_early: Annotated[
        float, typer.Option("--drop-early", min=0.0, max=0.99, help="Share of each run's tokens left out at its start.")
    ] = 0.25,
    checkpoints: Annotated[
        int, typer.Option("--checkpoints", min=0, help="Checkpoints used per run, evenly spaced; 0 for all.")
    ] = 4,
    loss: Annotated[str, typer.Option("--loss", help="Penalty on log residuals: huber, l2 or l1.")] = "huber",
    delta: Annotated[float, typer.Option("--delta", help="Width of the Huber penalty in log units.")] = 1e-2,
    exclude: Annotated[list[str] | None, typer.Option("--exclude", help="Run name or glob to leave out.")] = None,
    bootstrap: Annotated[
        int, typer.Option("--bootstrap", min=0, help="Bootstrap draws over runs; also calibrates the intervals.")
    ] = 0,
    jobs: Jobs = 1,
    chance: Annotated[
        list[str] | None,
        typer.Option(
            "--chance",
            help="Chance level of a benchmark, e.g. mmlu=0.25, or of several by glob; common ones are known.",
        ),
    ] = None,
    shrink: Annotated[
        float | None,
        typer.Option("--shrink", min=0.0, help="Pull coefficients towards those of all targets; chosen for few runs."),
    ] = None,
    repetition: Annotated[
        Path | None,
        typer.Option("--repetition", help="Domains file: tokens seen again count for less (needs available_tokens)."),
    ] = None,
    sensitivity: Annotated[
        bool, typer.Option("--sensitivity", help="Also print held-out errors for other values of --drop-early.")
    ] = False,
    parameters: Annotated[bool, typer.Option("--parameters", help="Also print every parameter.")] = False,
    plot: Plot = None,
    seed: Seed = 0,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """Fit a mixture law to every loss of a run table, and its benchmarks from the losses."""
    from dataclasses import replace

    from mixlaw import fitfile
    from mixlaw.benchmark import add_benchmarks, chances_of, curves, parse_chances
    from mixlaw.check.auto import AUTO
    from mixlaw.check.sensitivity import early_sensitivity
    from mixlaw.cli import output as out
    from mixlaw.cli.choices import command_line, executor, fit_options, unique_tokens
    from mixlaw.cli.opening import open_runs
    from mixlaw.fitting import DEFAULT_LAW, Request, fit_table, named_laws
    from mixlaw.render import fit as render
    from mixlaw.render.benchmark import curve_table

    out.check_plot(plot)
    options = fit_options(
        starts=starts, drop_early=drop_early, checkpoints=checkpoints, loss=loss, delta=delta,
        exclude=exclude or [], seed=seed, strict=strict,
    )  # fmt: skip
    if repetition is not None:
        options = replace(options, unique=unique_tokens(repetition))
    request = Request(named_laws(law), options, bootstrap, shrink)
    given = parse_chances(chance or [])
    table = open_runs(runs)
    chances = chances_of(given, table.benchmarks)
    with out.progress("fitting") as advance, executor(jobs) as pool:
        fits = fit_table(table, request, executor=pool, progress=advance)
        fits = add_benchmarks(fits, table, chances=chances)
    fits = replace(fits, command=command_line(context.obj or []))
    text = fitfile.dumps(fits)
    if output is not None:
        out.write_to(output, text)
    if plot is not None:
        from mixlaw.render.pictures.response import draw

        out.write_plot(draw(fits), plot)
    if json:
        out.write_result(text if str(output) != "-" else "")
    if json or str(output) == "-":
        return
    out.show(render.fit_table(fits), *([render.parameter_table(fits)] if parameters else []))
    if sensitivity:
        out.show(
            render.sensitivity_table(
                *early_sensitivity(table, DEFAULT_LAW if law == AUTO else request.laws[0], options)
            )
        )
    if fits.benchmarks:
        out.show(curve_table(curves(fits)))
    out.remark(render.data_line(fits))
    out.remarks(render.choice_lines(fits))
    out.remarks(f"flag {line}" for line in render.doubts(fits))
