"""``mixlaw allocate-budget``: a budget in, the proxy runs to buy out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mixlaw.cli.options import DomainsFile, Json, Output, Plot, Seed

if TYPE_CHECKING:
    from mixlaw.allocate.plan import Done, Plan, PlanRequest
    from mixlaw.allocate.prior import Prior
    from mixlaw.allocate.sizes import Scale, Size
    from mixlaw.runs import RunTable

_Runs = Annotated[
    Path | None,
    typer.Argument(metavar="RUNS", help="Runs done already: they are the prior and are not bought again."),
]
_Budget = Annotated[str | None, typer.Option("--flops", metavar="FLOPS", help="Budget in FLOPs, e.g. 1e21.")]
_Hours = Annotated[
    str | None, typer.Option("--hours", metavar="HOURS", help="Budget in the unit of --price, e.g. GPU-hours.")
]
_Price = Annotated[
    str | None,
    typer.Option("--price", metavar="SIZE=COST,...", help="Cost of one run by size: 60M=12,150M=40 (GPU-hours)."),
]
_Sizes = Annotated[
    str | None, typer.Option("--sizes", metavar="SIZE,...", help="Proxy sizes: 60M,150M,1B; 7B-A1B for 1B active.")
]
_PerParam = Annotated[
    str,
    typer.Option(
        "--tokens-per-param",
        metavar="RATIO,...",
        help="Tokens per parameter; several (5,10,20) are checkpoints of one run.",
    ),
]
_Tokens = Annotated[
    str | None,
    typer.Option(
        "--tokens", metavar="SIZE=TOKENS,...", help="Tokens by size instead: 60M=1B/3B,150M=6B (slash: checkpoints)."
    ),
]
_TargetParams = Annotated[
    str | None, typer.Option("--target-params", metavar="SIZE", help="Size of the run to predict, e.g. 7B.")
]
_TargetTokens = Annotated[str | None, typer.Option("--target-tokens", metavar="TOKENS", help="Its tokens, e.g. 150B.")]
_Strategy = Annotated[
    str,
    typer.Option("--strategy", metavar="NAME", help="optimal, uniform, equal-flops, pyramid, hourglass, ends or top."),
]
_Design = Annotated[str, typer.Option("--design", metavar="KIND", help="Dirichlet draws: dense, sparse or both.")]
_Incumbent = Annotated[
    str | None, typer.Option("--incumbent", metavar="MIXTURE", help="Mixture in use: web=0.6,... or a file.")
]
_Prior = Annotated[
    Path | None,
    typer.Option("--prior", metavar="FIT", help="Fit file to take the law from; default: RUNS, or a default prior."),
]
_Nested = Annotated[bool, typer.Option("--nested", help="Sizes share mixtures; says whether that helps.")]
_Next = Annotated[int, typer.Option("--next", metavar="N", min=0, help="With RUNS: propose so many runs to make next.")]
_Replay = Annotated[
    bool, typer.Option("--replay", help="Judge the strategies on RUNS: buy from it, refit, score its largest size.")
]
_Seeds = Annotated[int, typer.Option("--seeds", metavar="N", min=1, help="With --replay: repetitions.")]
_Budgets = Annotated[
    str, typer.Option("--budgets", metavar="SHARE,...", help="With --replay: shares of the FLOPs of the fitting runs.")
]
_Below = Annotated[
    str | None, typer.Option("--below", metavar="SIZE", help="With --replay: leave out sizes from here on, e.g. 900M.")
]
_Strategies = Annotated[
    str | None, typer.Option("--strategies", metavar="NAME,...", help="With --replay: names; all if left out.")
]


def allocate_budget(
    runs: _Runs = None,
    flops: _Budget = None,
    sizes: _Sizes = None,
    tokens_per_param: _PerParam = "20",
    tokens: _Tokens = None,
    target_params: _TargetParams = None,
    target_tokens: _TargetTokens = None,
    domains: DomainsFile = None,
    strategy: _Strategy = "optimal",
    hours: _Hours = None,
    price: _Price = None,
    design: _Design = "both",
    incumbent: _Incumbent = None,
    prior: _Prior = None,
    nested: _Nested = False,
    next_runs: _Next = 0,
    replay: _Replay = False,
    seeds: _Seeds = 20,
    budgets: _Budgets = "0.1,0.25,0.5",
    below: _Below = None,
    strategies: _Strategies = None,
    output: Output = None,
    plot: Plot = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Plan which proxy runs to buy: how many at each size, at which mixtures, and what that is expected to reach."""
    from mixlaw.cli.output import check_plot
    from mixlaw.errors import UsageError
    from mixlaw.logs import read_runs

    if json and str(output) == "-":
        raise UsageError("--json or -o -, not both on stdout", "both")
    if plot is not None and next_runs:
        raise UsageError("--plot with a plan or with --replay", "--plot with --next")
    check_plot(plot)
    table = read_runs(runs) if runs else None
    if replay:
        _replay(
            table, budgets=budgets, strategies=strategies, seeds=seeds, below=below, plot=plot, seed=seed, json=json
        )
        return
    words = _Words(
        flops=flops, hours=hours, price=price, sizes=sizes, per_param=tokens_per_param, tokens=tokens,
        target_params=target_params, target_tokens=target_tokens, design=design, incumbent=incumbent, nested=nested,
    )  # fmt: skip
    request = _request(words, table, domains=domains, seed=seed, unbounded=next_runs > 0)
    known, law = _earlier(table, prior, request)
    if next_runs:
        _propose(request, known, law, count=next_runs, output=output, json=json)
    else:
        _plan(request, known, law, strategy=strategy, output=output, plot=plot, json=json)


@dataclass(frozen=True)
class _Words:
    """What was typed, by option."""

    flops: str | None
    hours: str | None
    price: str | None
    sizes: str | None
    per_param: str
    tokens: str | None
    target_params: str | None
    target_tokens: str | None
    design: str
    incumbent: str | None
    nested: bool


def _budget(words: _Words, *, unbounded: bool) -> float:
    """The budget in FLOPs or in hours; infinite where none is given and none is needed."""
    from mixlaw.errors import UsageError
    from mixlaw.units import parse_positive

    if words.price and words.flops:
        raise UsageError("--hours with --price, or --flops without", "--flops with --price")
    if words.hours and not words.price:
        raise UsageError("--price with the cost of one run of every size beside --hours", "--hours alone")
    name = "--hours" if words.price else "--flops"
    text = words.hours or words.flops
    if text is None and not unbounded:
        raise UsageError(f"a budget, {name} {'500' if words.price else '1e21'}", "none")
    return parse_positive(text, name=name) if text else float("inf")


def _sizes(words: _Words, table: RunTable | None) -> tuple[tuple[Size, ...], Scale]:
    """Sizes of the proxies, those of the runs done where they are meant, and the target."""
    from mixlaw.allocate.sizes import Scale, build_sizes, parse_pairs, parse_size
    from mixlaw.errors import UsageError
    from mixlaw.units import parse_numbers, parse_positive

    if words.sizes is None or words.target_params is None or words.target_tokens is None:
        given = {"--sizes 60M,400M,1B": words.sizes, "--target-params 7B": words.target_params,
                 "--target-tokens 150B": words.target_tokens}  # fmt: skip
        raise UsageError("the sizes to buy and the run to predict", "not all of it", hint="Add "
                         + " ".join(name for name, value in given.items() if value is None) + ".")  # fmt: skip
    params, active = parse_size(words.target_params, name="--target-params")
    sizes = build_sizes(
        words.sizes.split(","),
        per_param=parse_numbers(words.per_param, name="--tokens-per-param"),
        tokens=parse_pairs(words.tokens, name="--tokens"),
        prices=parse_pairs(words.price, name="--price"),
        known=() if table is None else _known_sizes(table),
    )
    return sizes, Scale(params, parse_positive(words.target_tokens, name="--target-tokens"), active)


def _known_sizes(table: RunTable) -> list[float]:
    import numpy as np

    from mixlaw.dataset import inputs_of

    params = np.unique(inputs_of(table).params)
    return [float(size) for size in params[np.isfinite(params)]]


def _say_sizes(words: _Words, sizes: tuple[Size, ...]) -> None:
    """Say which sizes are taken to be those of the runs done."""
    from mixlaw.allocate.sizes import parse_size
    from mixlaw.cli.output import remark
    from mixlaw.units import human

    asked = sorted(active or params for params, active in map(parse_size, (words.sizes or "").split(",")))
    moved = [(a, s.effective) for a, s in zip(asked, sizes, strict=True) if a != s.effective]
    if moved:
        listed = ", ".join(f"{human(a)} as {human(b)} ({100 * abs(b / a - 1):.1f}% apart)" for a, b in moved)
        remark(f"sizes that RUNS have, within 5%, are planned as those: {listed}")


def _request(words: _Words, table: RunTable | None, *, domains: Path | None, seed: int, unbounded: bool) -> PlanRequest:
    from mixlaw.allocate.designs import DesignOptions
    from mixlaw.allocate.exchange import ExchangeOptions
    from mixlaw.allocate.plan import PlanRequest
    from mixlaw.domains import Domains
    from mixlaw.errors import UsageError
    from mixlaw.mixture import Mixture

    budget = _budget(words, unbounded=unbounded)
    sizes, target = _sizes(words, table)
    _say_sizes(words, sizes)
    if domains is None and table is None:
        raise UsageError("the domains to mix: --domains FILE, or RUNS", "neither")
    facts = Domains.load(domains) if domains else Domains()
    return PlanRequest(
        sizes=sizes,
        target=target,
        budget=budget,
        names=tuple(facts.by_name) or (table.domains if table else ()),
        domains=facts,
        incumbent=Mixture.parse(words.incumbent) if words.incumbent else None,
        designs=DesignOptions(kind=words.design),
        exchange=ExchangeOptions(nested=words.nested),
        unit="GPU-hours" if words.price else "FLOPs",
        seed=seed,
    )


def _earlier(table: RunTable | None, prior: Path | None, request: PlanRequest) -> tuple[Done | None, Prior | None]:
    """Known rows and the law to plan with; remarks say which law that is where runs cannot give one."""
    from mixlaw.allocate.earlier import done_of, prior_of_runs
    from mixlaw.allocate.prior import prior_of_fits
    from mixlaw.cli.opening import open_fits
    from mixlaw.cli.output import progress, remark

    known = None if table is None else done_of(table, request.names)
    if prior is not None:
        return known, prior_of_fits(open_fits(prior, law="capacity", seed=request.seed), request.names)
    if table is None:
        return None, None
    with progress("fitting"):
        law = prior_of_runs(table, request.names, seed=request.seed)
    if law is None:
        remark("RUNS have one size or one token count, too little for a law: the default prior is used")
    return known, law


def _plan(
    request: PlanRequest,
    known: Done | None,
    law: Prior | None,
    *,
    strategy: str,
    output: Path | None,
    plot: Path | None,
    json: bool,
) -> None:
    from mixlaw.allocate.doubts import doubts_of
    from mixlaw.allocate.manifest import manifest, planned_runs
    from mixlaw.allocate.plan import make_plan
    from mixlaw.cli import output as out
    from mixlaw.render import plan as render

    with out.progress("planning") as advance:
        plan = make_plan(request, strategy, prior=law, done=known, progress=advance)
    runs = planned_runs(plan)
    warnings = doubts_of(plan)
    if json:
        out.write_json(render.plan_data(plan, runs, warnings))
    else:
        tables = [render.size_table(plan), render.strategy_table(plan), render.run_table(runs)]
        out.show(*tables, aside=str(output) == "-")
    _write(plan, output, manifest(plan, runs))
    if plot is not None:
        _plot(plan, plot, known=known, law=law)
    out.remarks([f"law: {plan.prior.text}", *filter(None, [render.nesting_line(plan), render.unspent_line(plan)])])
    out.remarks(f"warning {line}" for line in warnings)


def _plot(plan: Plan, plot: Path, *, known: Done | None, law: Prior | None) -> None:
    """Draw the plan among plans for a quarter, half, twice and four times its budget."""
    from mixlaw.allocate.ladder import ladder
    from mixlaw.cli import output as out
    from mixlaw.render.pictures.budget import draw

    with out.progress("planning other budgets") as advance:
        others = ladder(plan, prior=law, done=known, progress=advance)
    out.write_plot(draw(plan, others), plot)


def _propose(
    request: PlanRequest, known: Done | None, law: Prior | None, *, count: int, output: Path | None, json: bool
) -> None:
    from mixlaw.allocate.doubts import doubts_of
    from mixlaw.allocate.manifest import runs_at
    from mixlaw.allocate.next_runs import next_runs
    from mixlaw.cli import output as out
    from mixlaw.errors import UsageError
    from mixlaw.render import plan as render

    if known is None:
        raise UsageError("RUNS with --next: the runs done so far", "none")
    plan, proposal = next_runs(request, count, prior=law, done=known)
    runs = runs_at(plan, proposal.runs.tolist(), first=known.count + 1)
    warnings = doubts_of(plan, proposal.runs)
    content = render.proposal_data(plan, proposal, runs, warnings)
    if json:
        out.write_json(content)
    else:
        out.show(render.proposal_table(proposal, runs, request.unit), aside=str(output) == "-")
    _write(plan, output, content)
    out.remark(f"law: {plan.prior.text}")
    out.remark(f"regret left, in nats: {render.REGRET}")
    out.remarks(f"warning {line}" for line in warnings)
    if proposal.settled:
        out.remark("settled: no run is expected to change the decision; these lower the variance at its rivals most")


def _write(plan: Plan, output: Path | None, content: dict[str, object]) -> None:
    """Write the manifest, as CSV by its suffix; without -o there is none."""
    from mixlaw.allocate.manifest import to_csv
    from mixlaw.cli import output as out
    from mixlaw.files import to_yaml

    if output is None:
        return
    if output.suffix.lower() == ".csv":
        out.write_to(output, to_csv(content["runs"], plan.request.names))  # type: ignore[arg-type]
    else:
        out.write_to(output, to_yaml(content))


def _replay(
    table: RunTable | None,
    *,
    budgets: str,
    strategies: str | None,
    seeds: int,
    below: str | None,
    plot: Path | None,
    seed: int,
    json: bool,
) -> None:
    from mixlaw.allocate.replay import ReplayOptions, replay
    from mixlaw.allocate.strategies import REPLAYED
    from mixlaw.cli import output as out
    from mixlaw.errors import UsageError
    from mixlaw.render import plan as render
    from mixlaw.units import parse_numbers, parse_positive

    if table is None:
        raise UsageError("RUNS with --replay: a table with three sizes or more", "none")
    names = tuple(n.strip() for n in strategies.split(",")) if strategies else REPLAYED
    shares = tuple(parse_numbers(budgets, name="--budgets"))
    options = ReplayOptions(budgets=shares, strategies=names, seeds=seeds, seed=seed)
    with out.progress("replaying") as advance:
        done = replay(table, options, below=parse_positive(below, name="--below") if below else None, progress=advance)
    if plot is not None:
        from mixlaw.render.pictures.budget import draw_replay

        out.write_plot(draw_replay(done), plot)
    if json:
        out.write_json(render.replay_data(done))
        return
    out.show(*render.replay_tables(done))
    out.remark(f"law {options.law}, {seeds} seeds; {render.agreement_line(done)}")
