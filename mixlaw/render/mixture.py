"""A chosen mixture as tables, as the JSON contract, and as a mixture file."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, floor
from typing import Any

from rich.table import Table

from mixlaw.files import to_yaml
from mixlaw.flags import Doubt
from mixlaw.mixture import Mixture, Recipe
from mixlaw.optimize import Choice, Found, Scale
from mixlaw.optimize.evidence import Standing
from mixlaw.optimize.prices import Price
from mixlaw.render.advice import BASELINES, advice
from mixlaw.render.tables import percent, significant, table
from mixlaw.units import human

CONTRACT = ("proposal", "natural", "uniform", "best_observed")


def mixture_table(choice: Choice) -> Table:
    """One row per domain: the proposal beside the baselines, shares within noise, and epochs."""
    names = _names(choice)
    known = any(found is not None for found in choice.epochs.values())
    rows = [
        (
            domain,
            percent(float(choice.proposal[i]), 2),
            f"{percent(choice.ranges[domain].low, 0)} - {percent(choice.ranges[domain].high, 0)}",
            *(percent(float(choice.baselines[name][i]), 2) for name in names),
            *(_epoch_cells(choice, domain) if known else ()),
        )
        for i, domain in enumerate(choice.fits.domains)
    ]
    columns = ["domain", "proposal", "within noise", *map(_plain, names), *(["epochs", "in proxies"] if known else [])]
    of = "; epochs of the incumbent" if known and choice.keep else ""
    return table(f"Mixture (token shares) for {_scale(choice.request.scale)}{_unknown(choice)}{of}", columns, rows)


def _unknown(choice: Choice) -> str:
    """What was asked for that no law knows, so that the shares are those of the data's scale."""
    words = {Doubt.SIZE_NOT_IN_LAW: "size", Doubt.TOKENS_NOT_IN_LAW: "tokens"}
    missing = [word for doubt, word in words.items() if doubt in {flag.doubt for flag in choice.flags}]
    return f"; no law here knows {' or '.join(missing)}" if missing else ""


def _epoch_cells(choice: Choice, domain: str) -> tuple[str, str]:
    found = choice.epochs[domain]
    if found is None:
        return "-", "-"
    return significant(found.target), "-" if found.proxies != found.proxies else significant(found.proxies)


def standing_table(choice: Choice) -> Table:
    """The objective of the proposal and of every baseline, with what the proposal gains and how surely."""
    rows = []
    for name in ["proposal", *_names(choice)]:
        found = choice.standings[name]
        row = [_plain(name), f"{_sign(choice, found.value):.4f}", " - ".join(f"{v:.4f}" for v in _ends(choice, found))]
        if name == "proposal":
            rows.append((*row, "", "", ""))
            continue
        low, _, high = (-q for q in reversed(found.regret))
        rows.append((*row, f"{low:+.4f} to {high:+.4f}", probability_text(found), _verdict(found)))
    title = f"Objective: {_objective_words(choice)}"
    columns = ["mixture", "value", "90 % interval", "proposal gains (90 %)", "P(gain)", "verdict"]
    return table(title, columns, rows)


def probability_text(found: Standing) -> str:
    """In whole percent; ``> 98%`` where the scenarios cannot tell it from certainty."""
    unknown = max(found.unknown, 0.005)
    if found.beaten > 1 - unknown or found.beaten >= 0.995:  # never 100 % by rounding
        return f"> {floor(100 * (1 - unknown) + 1e-9)}%"
    if found.beaten < unknown or found.beaten <= 0.005:
        return f"< {ceil(100 * unknown - 1e-9)}%"
    return percent(found.beaten, 0)


def _verdict(found: Standing) -> str:
    if not found.allowed:
        return "not allowed"
    if found.ahead:
        return "better"
    return "tie" if found.tie else "beaten"


def term_table(choice: Choice) -> Table:
    """Every loss, and every accuracy that can be predicted, of the proposal and the baselines."""
    names = _names(choice)
    mixtures = [choice.proposal, *(choice.baselines[name] for name in names)]
    rows = []
    for target in choice.fits.targets:
        values = [choice.surface.term(f"loss/{target}", m[None])[0] for m in mixtures]
        rows.append((target, *(f"{v:.4f}" for v in values), choice.fits.units[target].value))
    for task, curve in choice.surface.curves.items():
        if curve.predictable:
            values = [choice.surface.term(f"bench/{task}", m[None])[0] for m in mixtures]
            rows.append((f"bench/{task}", *(percent(v) for v in values), "accuracy"))
    return table("Predicted", ["target", "proposal", *map(_plain, names), "unit"], rows)


def scale_table(choice: Choice, found: list[tuple[Scale, Found]]) -> Table:
    """How the optimum moves with size and tokens: a row each."""
    domains = choice.fits.domains
    rows = [
        (_short(scale), f"{_sign(choice, at.optimum.value):.4f}", *(percent(float(s), 1) for s in at.optimum.mixture))
        for scale, at in found
    ]
    return table("Optimum by scale", ["size, tokens", "objective", *domains], rows)


def binding_lines(choice: Choice) -> Iterator[str]:
    """The binding constraints and what loosening them buys."""
    for price in choice.prices:
        buys = "; ".join(f"{what} gains {gain:.2g}" for what, gain in price.buys.items())
        yield f"binds: {price.words}: {_price(price)}{f'; {buys}' if buys else ''}"


def _price(price: Price) -> str:
    if price.kind == "limit":
        return f"{price.price:.2g} per unit of it"
    return f"{price.price / 100:.2g} per 1 % of share"


def remarks(choice: Choice) -> Iterator[str]:
    """What a reader should know beside the tables, the flags last."""
    yield from binding_lines(choice)
    near = choice.nearest
    yield f"nearest run: {near.run}, {near.distance:.2f} of the mixture away; best observed run: {choice.best_run}"
    yield f"within noise: moves that cost no more than the scatter of one run, {choice.noise:.2g} in the objective"
    if all(found is None for found in choice.epochs.values()):
        missing = "--domains with available_tokens" if choice.request.scale.tokens else "--tokens"
        yield f"supply: whether there is enough data was not looked at; that takes {missing}"
    if choice.keep and choice.standings["incumbent"].ahead:
        yield "recommended: keep the incumbent; by the objective alone it is better than the proposal"
    elif choice.keep:
        yield "recommended: keep the incumbent; the proposal is a tie with it"
    elif "incumbent" in choice.baselines and choice.standings["incumbent"].tie:
        yield "recommended: the proposal; it is a tie with the incumbent, but the incumbent breaks a constraint"
    else:
        yield f"in short: {advice(choice)}"
    for flag in choice.flags:
        yield f"flag {flag}"


def choice_data(choice: Choice, scales: list[tuple[Scale, Found]] | None = None) -> dict[str, Any]:
    """The JSON contract; what goes beyond it is under ``evidence``."""
    standings = choice.standings
    return {
        "mixture": dict(recipe(choice).mixture.shares),
        "objective": {
            **{name: _standing_data(choice, standings[name]) if name in standings else None for name in CONTRACT},
            **{name: _standing_data(choice, standings[name]) for name in standings if name not in CONTRACT},
        },
        "predicted": {
            **{t: _interval(float(p.value[0]), float(p.low[0]), float(p.high[0])) for t, p in choice.predicted.items()},
            **{f"bench/{t}": _interval(a.value, a.low, a.high) for t, a in choice.accuracies.items()},
        },
        "epochs": {domain: None if found is None else found.target for domain, found in choice.epochs.items()},
        "binding": [
            {"constraint": p.words, "name": p.name, "kind": p.kind, "price": p.price, "buys": p.buys}
            for p in choice.prices
        ],
        "flags": [flag.name for flag in choice.flags],
        "evidence": evidence_data(choice, scales or []),
    }


def evidence_data(choice: Choice, scales: list[tuple[Scale, Found]]) -> dict[str, Any]:
    """Everything that speaks for or against the mixture, as plain data."""
    fits, domains = choice.fits, choice.fits.domains
    content: dict[str, Any] = {
        "objective": {"weights": dict(choice.surface.weights), "reads": _objective_words(choice)},
        "recommended": "incumbent" if choice.keep else "proposal",
        "proposal": _shares(domains, choice.proposal),
        "against": {
            name: {
                "probability_better": s.beaten,
                "regret_5_50_95": list(s.regret),
                "tie": s.tie,
                "allowed": s.allowed,
                "outside_data": fits.outside(choice.baselines[name]) or None,
            }
            for name, s in choice.standings.items()
            if name != "proposal"
        },
        "scenarios": {
            "number": choice.standings["proposal"].scenarios,
            "from": "bootstrap over runs" if fits.bootstrapped else "normal draws from parameter covariances",
        },
        "within_noise": {name: [r.low, r.high] for name, r in choice.ranges.items()},
        "noise_of_one_run": choice.noise,
        "epochs_in_proxies": {name: e.proxies for name, e in choice.epochs.items() if e is not None},
        "nearest_run": {"run": choice.nearest.run, "distance": choice.nearest.distance},
        "best_observed_run": choice.best_run,
        "laws": sorted({m.fit.form for members in fits.members.values() for m in members}),
        "data": fits.seen.fingerprint,
        "flags": [str(flag) for flag in choice.flags],
    }
    if scales:
        content["by_scale"] = [
            {"params": s.params, "tokens": s.tokens, "mixture": _shares(domains, at.optimum.mixture)}
            for s, at in scales
        ]
    return content


def recipe(choice: Choice) -> Recipe:
    """The recommended mixture as a recipe."""
    scale = choice.request.scale
    return Recipe(Mixture.from_vector(choice.fits.domains, choice.mixture), scale.tokens, scale.params)


def mixture_file(choice: Choice, scales: list[tuple[Scale, Found]]) -> str:
    """The mixture file: what a trainer needs first, then the evidence."""
    data = choice_data(choice, scales)
    evidence = {"value": data["objective"], "predicted": data["predicted"], "epochs": data["epochs"],
                "binding": data["binding"], **data["evidence"]}  # fmt: skip
    return to_yaml({**recipe(choice).to_mapping(), "evidence": evidence})


def _names(choice: Choice) -> list[str]:
    return [name for name in BASELINES if name in choice.baselines]


def _plain(name: str) -> str:
    return name.replace("_", " ")


def _shares(domains: tuple[str, ...], mixture: Any) -> dict[str, float]:
    return {d: float(s) for d, s in zip(domains, mixture, strict=True)}


def _scale(scale: Scale) -> str:
    parts = [
        f"{human(value)} {word}" for value, word in ((scale.params, "parameters"), (scale.tokens, "tokens")) if value
    ]
    return ", ".join(parts) or "the scale of the data"


def _short(scale: Scale) -> str:
    return ", ".join(human(value) for value in (scale.params, scale.tokens) if value) or "as the data"


def _maximised(choice: Choice) -> bool:
    return all(name.startswith("bench/") for name in choice.surface.weights)


def _sign(choice: Choice, value: float) -> float:
    """Accuracies alone are shown as they are; anything with a loss in it as the solver minimises it."""
    return -value if _maximised(choice) else value


def _ends(choice: Choice, found: Standing) -> tuple[float, float]:
    low, high = sorted((_sign(choice, found.low), _sign(choice, found.high)))
    return low, high


def _standing_data(choice: Choice, found: Standing) -> dict[str, float]:
    return _interval(_sign(choice, found.value), *_ends(choice, found))


def _interval(value: float, low: float, high: float) -> dict[str, float]:
    return {"value": value, "low": low, "high": high}


def _objective_words(choice: Choice) -> str:
    """What the number is, its unit, and which way is better."""
    weights = choice.surface.weights
    units = {choice.fits.units[n[5:]].value for n in weights if n.startswith("loss/")}
    equal = max(weights.values()) - min(weights.values()) < 1e-12
    listed = "mean of " if equal and len(weights) > 1 else ""
    if _maximised(choice):
        what = f"{listed or 'weighted mean of ' if len(weights) > 1 else ''}{len(weights)} accuracies, higher is better"
    elif any(n.startswith("bench/") for n in weights):
        what = f"weighted losses ({' and '.join(sorted(units))}) minus weighted accuracies, lower is better"
    else:
        kind = listed or ("weighted mean of " if len(weights) > 1 else "")
        noun = "losses" if len(weights) > 1 else "loss"
        what = f"{kind}{len(weights)} {noun}, {' and '.join(sorted(units))}, lower is better"
    return what
