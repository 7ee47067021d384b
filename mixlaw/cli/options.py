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
Plot = Annotated[
    Path | None, typer.Option("--plot", help="Picture to write: .png, .svg or .pdf (needs the extra 'plot').")
]
ParamsOption = Annotated[str | None, typer.Option("--params", help="Parameters of the language model, e.g. 7B.")]
TokensOption = Annotated[str | None, typer.Option("--tokens", help="Training tokens of the run, e.g. 150B.")]
DomainsFile = Annotated[
    Path | None, typer.Option("--domains", help="Domains file (YAML): priors, token supply, limits, paths.")
]
TargetParams = Annotated[
    str | None, typer.Option("--params", help="Size of the run, e.g. 7B; of several (400M,7B) the last counts.")
]
TargetTokens = Annotated[
    str | None, typer.Option("--tokens", help="Training tokens, e.g. 150B; of several the last counts.")
]
ObjectiveOption = Annotated[
    str | None,
    typer.Option("--objective", help="web=1,bench/mmlu=2 or an objective file; the mean loss if left out."),
]
Limits = Annotated[
    list[str] | None, typer.Option("--limit", help="E.g. '* <= incumbent + 0.01' or 'bench/piqa >= 0.7'.")
]
Natural = Annotated[str | None, typer.Option("--natural", help="Natural mixture: web=0.6,... or a file.")]
Incumbent = Annotated[
    str | None, typer.Option("--incumbent", help="Mixture in use, kept in a tie: web=0.6,... or a file.")
]
Jobs = Annotated[int, typer.Option("--jobs", min=1, help="Processes to use; the result does not depend on it.")]
