"""``mixlaw predict``: losses of a mixture at a scale, or of every row of a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mixlaw.cli.options import Json, Output, ParamsOption, Seed, TokensOption

if TYPE_CHECKING:
    from mixlaw.fits import FitSet


def predict(
    fit: Annotated[Path, typer.Argument(metavar="FIT", help="Fit file, or a run table to fit first.")],
    mixture: Annotated[
        str | None, typer.Option("--mixture", help="web=0.6,code=0.4 or a mixture file; uniform if left out.")
    ] = None,
    params: ParamsOption = None,
    tokens: TokensOption = None,
    at: Annotated[Path | None, typer.Option("--at", help="Run table: predict every row of it.")] = None,
    output: Output = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Predict losses, with 90 % intervals."""
    from mixlaw.cli.opening import open_fits

    fits = open_fits(fit, seed=seed)
    if at is not None:
        _predict_table(fits, at, output, json)
    else:
        _predict_one(fits, mixture, params, tokens, output, json)


def _predict_one(
    fits: FitSet, mixture: str | None, params: str | None, tokens: str | None, output: Path | None, json: bool
) -> None:
    from dataclasses import asdict

    from mixlaw.benchmark import curves, predict_accuracies
    from mixlaw.cli import output as out
    from mixlaw.files import to_json
    from mixlaw.mixture import Mixture
    from mixlaw.render import predict as render
    from mixlaw.render.benchmark import accuracy_table
    from mixlaw.units import parse_positive

    chosen = Mixture.parse(mixture) if mixture else Mixture.uniform(fits.domains)
    size = parse_positive(params, name="--params") if params else None
    length = parse_positive(tokens, name="--tokens") if tokens else None
    shares = chosen.vector(fits.domains)
    predictions = fits.predict(fits.inputs(shares[None], size, length))
    flags = fits.flags_at(shares, size, length)
    accuracies = predict_accuracies(fits, fits.inputs(shares[None], size, length))
    if json or output is not None:
        predicted = {
            t: {"value": float(p.value[0]), "low": float(p.low[0]), "high": float(p.high[0])}
            for t, p in predictions.items()
        }
        content = {"mixture": dict(chosen.shares), "params": size, "tokens": length, "predicted": predicted}
        if fits.benchmarks:
            content["benchmarks"] = {task: asdict(found) for task, found in accuracies.items()}
        out.write_to(output, to_json({**content, "flags": [f.name for f in flags]}))
    if not json:
        out.show(render.prediction_table(predictions, fits.units))
        if fits.benchmarks:
            out.show(accuracy_table(accuracies, curves(fits)))
    out.remarks(f"flag {flag}" for flag in flags)


def _predict_table(fits: FitSet, at: Path, output: Path | None, json: bool) -> None:
    from dataclasses import asdict

    from mixlaw.benchmark import with_accuracies
    from mixlaw.cli import output as out
    from mixlaw.files import to_json
    from mixlaw.logs import read_runs
    from mixlaw.predicting import predict_table
    from mixlaw.render import predict as render

    result = predict_table(fits, read_runs(at))
    csv = with_accuracies(fits, result.frame).to_csv(index=False)
    if output is not None:
        out.write_to(output, csv)
    if json:
        out.write_result(to_json({"scores": {t: asdict(s) for t, s in result.scores.items()}}))
    elif output is None:
        out.write_result(csv)
    elif result.scores:
        out.show(render.score_table(result.scores))
