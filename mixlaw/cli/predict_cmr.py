"""``mixlaw predict-cmr``: how much domain data is safe in continual pre-training."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mixlaw.cli.options import DomainsFile, Json, Output, Plot, Seed

if TYPE_CHECKING:
    from mixlaw.cmr import CmrOptions, Report


def predict_cmr(
    runs: Annotated[Path, typer.Argument(metavar="RUNS", help="Runs at several domain shares, with both losses.")],
    general: Annotated[str, typer.Option("--general", help="The general (replay) corpus: a mix/ column.")],
    domain: Annotated[str, typer.Option("--domain", help="The domain corpus: a mix/ column.")],
    tokens: Annotated[str, typer.Option("--tokens", help="Token budget, or several: 5B,10B,20B.")],
    tolerance: Annotated[
        str, typer.Option("--tolerance", help="How much general loss may rise: 0.05 (nats) or 3% of the base loss.")
    ] = "0.05",
    weight: Annotated[
        str, typer.Option("--weight", help="Lambda, the weight of general loss against domain loss; inf: it alone.")
    ] = "inf",
    form: Annotated[
        str, typer.Option("--form", help="surface (all runs in one smooth fit), reduced or paper (run by run).")
    ] = "surface",
    bootstrap: Annotated[int, typer.Option("--bootstrap", help="Draws behind the interval; 0 for none.")] = 500,
    base: Annotated[
        str | None,
        typer.Option("--base", help="Losses of the base model, general=2.86,domain=2.31; else rows at 0 tokens."),
    ] = None,
    forget: Annotated[str, typer.Option("--forget", help="Forgetting budget, in % of the base loss.")] = "3%",
    general_loss: Annotated[
        str, typer.Option("--general-loss", help="Loss target of the general corpus, if named otherwise.")
    ] = "",
    domain_loss: Annotated[
        str, typer.Option("--domain-loss", help="Loss target of the domain corpus, if named otherwise.")
    ] = "",
    trust_shares: Annotated[
        bool, typer.Option("--trust-shares", help="Do not doubt that the shares are domain shares.")
    ] = False,
    params: Annotated[str | None, typer.Option("--params", help="Only this size of the table, e.g. 1.6B.")] = None,
    plot: Plot = None,
    domains: DomainsFile = None,
    output: Output = None,
    export: Annotated[
        str | None, typer.Option("--format", help="Write a trainer's config; see mixlaw export --list.")
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Find the largest domain share that does not cost general ability at a token budget."""
    from mixlaw import cmr
    from mixlaw.cli import output as out
    from mixlaw.logs import IngestOptions, read_runs
    from mixlaw.units import parse_numbers, parse_positive

    names = cmr.Names(general, domain, general_loss, domain_loss)
    options = _options(form, tolerance, weight, forget, draws=bootstrap, curves=plot is not None, seed=seed)
    budgets = parse_numbers(tokens, name="--tokens")
    out.check_plot(plot)
    table = read_runs(runs, options=IngestOptions(keep_start=True))
    sizes = cmr.read_sizes(
        table, names, base=cmr.parse_base(base, names) if base else None,
        params=parse_positive(params, name="--params") if params else None, trust_shares=trust_shares,
    )  # fmt: skip
    report = cmr.predict_cmr(sizes, names, budgets, options=options)
    written = output is not None or (export is not None and not json)
    text = _config(report, export, domains) if written and report.answered else ""
    _show(report, json=json, aside=written and str(output or "-") == "-")
    if written and report.answered:
        out.write_to(output, text)
    if plot is not None:
        from mixlaw.render.pictures.cmr import draw

        out.write_plot(draw(report), plot)
    report.need_answer()


def _options(form: str, tolerance: str, weight: str, forget: str, *, draws: int, curves: bool, seed: int) -> CmrOptions:
    from mixlaw.cmr import CmrOptions, Tolerance
    from mixlaw.errors import UsageError
    from mixlaw.units import parse_positive

    limit = Tolerance.parse(forget, name="--forget")
    if not limit.relative:
        raise UsageError("--forget in per cent of the base loss, as in 3%", repr(forget))
    return CmrOptions(
        form=form,  # type: ignore[arg-type]  # checked by the options
        tolerance=Tolerance.parse(tolerance),
        weight=float("inf")
        if weight.strip().lower() in ("inf", "infinity")
        else parse_positive(weight, name="--weight"),
        draws=draws,
        forget=limit.value,
        curves=curves,
        seed=seed,
    )


def _show(report: Report, *, json: bool, aside: bool) -> None:
    """Stdout holds one thing: JSON, or a config that goes there, or else the tables."""
    from mixlaw.cli import output as out
    from mixlaw.render import cmr as render

    if json:
        out.write_json(report.to_mapping())
    else:
        out.show(*render.tables(report), *render.recommendations(report), aside=aside)
    out.remark(render.basis_line(report))
    out.remarks(render.notes(report))
    out.remarks(f"flag {line}" for line in render.doubts(report))
    out.remarks(render.unanswered(report))


def _config(report: Report, export: str | None, domains: Path | None) -> str:
    """The text of the mixture file, or of a trainer's config."""
    from mixlaw.cli import output as out
    from mixlaw.cmr.recipe import recipe
    from mixlaw.domains import Domains
    from mixlaw.export import render as render_format
    from mixlaw.files import to_yaml

    chosen = recipe(report)
    if export is None:
        return to_yaml(chosen.to_mapping())
    written = render_format(export, chosen, domains=Domains.load(domains) if domains else None)
    out.remarks(written.remarks)
    return written.text
