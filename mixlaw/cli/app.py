"""The Typer application: the list of commands and the options that belong to none of them."""

from __future__ import annotations

from typing import Annotated

import typer

import mixlaw
from mixlaw.cli import fit, ingest, predict, predict_cmr
from mixlaw.cli.export import export
from mixlaw.cli.optimize_mixture import optimize_mixture

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


app.command("ingest")(ingest.ingest)
app.command("fit")(fit.fit)
app.command("predict")(predict.predict)
app.command()(optimize_mixture)
app.command()(export)
app.command("predict-cmr")(predict_cmr.predict_cmr)
