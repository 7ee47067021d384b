"""The Typer application: the list of commands and the options that belong to none of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

import mixlaw
from mixlaw.cli.allocate_budget import allocate_budget
from mixlaw.cli.compare import compare
from mixlaw.cli.export import export
from mixlaw.cli.fit import fit
from mixlaw.cli.ingest import ingest
from mixlaw.cli.optimize_mixture import optimize_mixture
from mixlaw.cli.predict import predict
from mixlaw.cli.predict_cmr import predict_cmr
from mixlaw.cli.report import report

app = typer.Typer(
    name="mixlaw",
    help="Fit data-mixture scaling laws on small training runs and choose the mixture of the large one.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: half the start-up time is Rich otherwise
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"mixlaw {mixlaw.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Options before the command."""


COMMANDS: dict[Callable[..., Any], str] = {
    ingest: "Read logs and tables into one run table.",
    fit: "Fit laws to every loss of a run table.",
    compare: "Score laws on runs that they have not seen.",
    predict: "Predict losses, with intervals.",
    optimize_mixture: "Choose the mixture to train with.",
    predict_cmr: "Find the largest safe domain share.",
    allocate_budget: "Plan which proxy runs to buy.",
    report: "Write all of it as one HTML page.",
    export: "Write a mixture as a trainer's config.",
}
"""The commands in the order of work, and their line in the list."""

for command, line in COMMANDS.items():
    app.command(command.__name__.replace("_", "-"), short_help=line)(command)
