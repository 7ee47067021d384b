"""Options that several commands share, spelled once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Seed = Annotated[
    int, typer.Option("--seed", min=0, help="Seed of everything random: the same seed gives the same bytes.")
]
Strict = Annotated[bool, typer.Option("--strict", help="Turn repairs and doubtful fits into errors.")]
Output = Annotated[Path | None, typer.Option("-o", "--output", help="File to write ('-' for stdout).")]
ParamsOption = Annotated[str | None, typer.Option("--params", help="Parameters of the language model, e.g. 7B.")]
TokensOption = Annotated[str | None, typer.Option("--tokens", help="Training tokens of the run, e.g. 150B.")]
DomainsFile = Annotated[
    Path | None, typer.Option("--domains", help="Domains file (YAML): priors, token supply, limits, paths.")
]
Jobs = Annotated[int, typer.Option("--jobs", min=1, help="Processes to use; the result does not depend on it.")]
