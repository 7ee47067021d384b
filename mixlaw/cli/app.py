"""The Typer application: the list of commands and the options that belong to none of them."""

from __future__ import annotations

from typing import Annotated

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

app = typer.Typer(
    name="mixlaw",
    help="Fit data-mixture scaling laws on small training runs and choose the mixture of the large one.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
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


for command in (ingest, fit, compare, predict, optimize_mixture, predict_cmr, export, allocate_budget):
    app.command(command.__name__.replace("_", "-"))(command)
