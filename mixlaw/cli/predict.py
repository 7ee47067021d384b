"""``mixlaw predict``: losses of a mixture at a scale, or of every row of a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mixlaw.cli.options import Json, Output, ParamsOption, Plot, Seed, TokensOption

if TYPE_CHECKING:
    from mixlaw.fits import FitSet
    from mixlaw.mixture import Mixture
    from mixlaw.runs import RunTable


def predict(
    fit: Annotated[Path, typer.Argument(metavar="FIT", help="Fit file, or a run table to fit first; '-' for stdin.")],
    mixture: Annotated[
        str | None, typer.Option("--mixture", help="web=0.6,code=0.4 or a mixture file; uniform if left out.")
    ] = None,
    params: ParamsOption = None,
    tokens: TokensOption = None,
    at: Annotated[Path | None, typer.Option("--at", help="Run table: predict every row of it.")] = None,
    output: Output = None,
    plot: Plot = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Predict losses, with 90 % intervals."""
    from mixlaw.cli.choices import mixture_of
    from mixlaw.cli.opening import insist_on_one_stdout, insist_on_output, open_fits
    from mixlaw.cli.output import check_plot
    from mixlaw.errors import InputError
    from mixlaw.logs import read_runs
    from mixlaw.predicting import insist_on_domains
    from mixlaw.units import parse_positive

    insist_on_one_stdout(output, json)
    insist_on_output(output)
    check_plot(plot)
    chosen = mixture_of(mixture)
    size = parse_positive(params, name="--params") if params else None
    length = parse_positive(tokens, name="--tokens") if tokens else None
    if at is not None:
        _insist_on_rows(fit, at, {"--mixture": mixture, "--params": params, "--tokens": tokens})
        rows = read_runs(at)
        fits = open_fits(fit, seed=seed, check=lambda found: insist_on_domains(rows, found.domains))
        _predict_table(fits, rows, output, plot, json)
        return

    def check(found: FitSet | RunTable) -> None:
        if chosen is not None and not found.domains:
            raise InputError("no --mixture for a fit of runs without mixtures", repr(mixture))
        if chosen is not None:
            chosen.vector(found.domains)

    fits = open_fits(fit, seed=seed, check=check)
    _predict_one(fits, chosen, size, length, output, plot, json)


def _insist_on_rows(fit: Path, at: Path, others: dict[str, str | None]) -> None:
    """Refuse what ``--at`` leaves without a meaning.

    Raises:
        UsageError: for an option that speaks of one mixture, or for two files from stdin.
        InputError: when there is no such file.
    """
    from mixlaw.errors import InputError, UsageError

    given = [name for name, value in others.items() if value is not None]
    if given:
        raise UsageError("--at alone: its rows say mixture, size and tokens", " and ".join(["--at", *given]))
    if str(fit) == str(at) == "-":
        raise UsageError("one file from stdin", "FIT and --at from there")
    if str(at) != "-" and not at.exists():
        raise InputError("a run table after --at", "no such file", where=str(at))


def _predict_one(
    fits: FitSet,
    mixture: Mixture | None,
    size: float | None,
    length: float | None,
    output: Path | None,
    plot: Path | None,
    json: bool,
) -> None:
    from dataclasses import asdict

    import numpy as np

    from mixlaw.benchmark import curves, predict_accuracies
    from mixlaw.check.calibrate import calibration_flags
    from mixlaw.cli import output as out
    from mixlaw.files import to_json
    from mixlaw.mixture import Mixture
    from mixlaw.predicting import doubts_at
    from mixlaw.render import predict as render
    from mixlaw.render.benchmark import accuracy_table

    chosen = mixture or (Mixture.uniform(fits.domains) if fits.domains else None)
    shares = chosen.vector(fits.domains) if chosen else np.zeros(0)
    predictions = fits.predict(fits.inputs(shares[None], size, length))
    flags = (*doubts_at(fits, shares, size, length), *calibration_flags(fits))
    accuracies = predict_accuracies(fits, fits.inputs(shares[None], size, length))
    if json or output is not None:
        predicted = {
            t: {"value": float(p.value[0]), "low": float(p.low[0]), "high": float(p.high[0])}
            for t, p in predictions.items()
        }
        mixed = dict(chosen.shares) if chosen else {}
        content = {"mixture": mixed, "params": size, "tokens": length, "predicted": predicted}
        if fits.benchmarks:
            content["benchmarks"] = {task: asdict(found) for task, found in accuracies.items()}
        text = to_json({**content, "flags": [f.name for f in flags]})
        if output is not None:
            out.write_to(output, text)
        if json:
            out.write_result(text)
    if not json:
        tables = [render.prediction_table(predictions, fits.units)]
        tables += [accuracy_table(accuracies, curves(fits))] if fits.benchmarks else []
        out.show(*tables, aside=str(output) == "-")
    if plot is not None:
        from mixlaw.render.pictures.predicted import draw_intervals, in_words

        words = in_words(chosen, size, length) if chosen else ""
        out.write_plot(draw_intervals(predictions, fits.units, words), plot)
    out.remarks(f"flag {flag}" for flag in flags)


def _predict_table(fits: FitSet, rows: RunTable, output: Path | None, plot: Path | None, json: bool) -> None:
    from dataclasses import asdict

    from mixlaw.benchmark import with_accuracies
    from mixlaw.cli import output as out
    from mixlaw.files import to_json
    from mixlaw.predicting import predict_table
    from mixlaw.render import predict as render

    result = predict_table(fits, rows)
    rows_out = with_accuracies(fits, result.frame)
    csv = rows_out.to_csv(index=False)
    if output is not None:
        out.write_to(output, csv)
    if json:
        scores = {t: {**asdict(s), "covered": result.covered[t]} for t, s in result.scores.items()}
        told = [str(flag) for flag in result.flags]
        out.write_result(to_json({"scores": scores, "flags": told, "rows": rows_out.to_dict("records")}))
    elif output is None:
        out.write_result(csv)
    elif result.scores:
        out.show(render.score_table(result), aside=str(output) == "-")
    if plot is not None:
        from mixlaw.render.pictures.predicted import draw_table

        out.write_plot(draw_table(result), plot)
    out.remarks(f"flag {flag}" for flag in result.flags)
