"""A chosen mixture as tables, as the JSON contract, and as a mixture file."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from mixlaw.mixture import Mixture, Recipe
from mixlaw.optimize import Choice
from mixlaw.render.tables import percent, significant, table

BASELINES = ("natural", "uniform", "incumbent", "best_observed")


def mixture_table(choice: Choice) -> Table:
    """One row per domain: the proposal beside the baselines, and epochs where supply is known."""
    names = [name for name in BASELINES if name in choice.baselines]
    epochs = choice_epochs(choice)
    rows = [
        (
            domain,
            percent(float(choice.mixture[i]), 2),
            *(percent(float(choice.baselines[name][i]), 2) for name in names),
            _number(epochs[domain]),
        )
        for i, domain in enumerate(choice.fits.domains)
    ]
    return table("Mixture (token shares)", ["domain", "proposal", *map(_plain, names), "epochs"], rows)


def objective_table(choice: Choice) -> Table:
    """Predicted objective and losses of the proposal beside the baselines."""
    names = ["proposal", *(name for name in BASELINES if name in choice.baselines)]
    mixtures = [choice.mixture, *(choice.baselines[name] for name in names[1:])]
    columns = [choice.surface.value(m[None])[0] for m in mixtures]
    rows: list[tuple[str, ...]] = [("objective", *(f"{v:.4f}" for v in columns), _unit(choice))]
    for target in choice.fits.targets:
        values = [choice.surface.term(f"loss/{target}", m[None])[0] for m in mixtures]
        rows.append((target, *(f"{v:.4f}" for v in values), choice.fits.units[target].value))
    return table("Predicted loss", ["target", *map(_plain, names), "unit"], rows)


def _number(value: float | None) -> str:
    return "-" if value is None else significant(value)


def _plain(name: str) -> str:
    return name.replace("_", " ")


def _unit(choice: Choice) -> str:
    units = {choice.fits.units[n.removeprefix("loss/")].value for n in choice.surface.weights}
    return units.pop() if len(units) == 1 else "mixed units"


def choice_epochs(choice: Choice) -> dict[str, float | None]:
    """Passes over each domain's data in the target run; None where the supply is unknown."""
    tokens = choice.request.scale.tokens
    supply = {d: choice.request.domains.get(d).available_tokens for d in choice.fits.domains}
    return {
        d: None if tokens is None or supply[d] is None else float(share) * tokens / float(supply[d] or 1)
        for d, share in zip(choice.fits.domains, choice.mixture, strict=True)
    }


def choice_data(choice: Choice) -> dict[str, Any]:
    """The JSON contract."""
    predicted = choice.predicted
    value = float(choice.surface.value(choice.mixture[None])[0])
    return {
        "mixture": dict(recipe(choice).mixture.shares),
        "objective": {
            "proposal": {"value": value},
            **{n: {"value": float(choice.surface.value(m[None])[0])} for n, m in choice.baselines.items()},
        },
        "predicted": {
            t: {"value": float(p.value[0]), "low": float(p.low[0]), "high": float(p.high[0])}
            for t, p in predicted.items()
        },
        "epochs": choice_epochs(choice),
        "binding": [],
        "flags": [flag.name for flag in choice.flags],
    }


def recipe(choice: Choice) -> Recipe:
    """The chosen mixture as a mixture file with its evidence."""
    scale = choice.request.scale
    evidence = {"law": sorted({m.fit.form for ms in choice.fits.members.values() for m in ms}),
                "data": choice.fits.seen.fingerprint}  # fmt: skip
    mixture = Mixture.from_vector(choice.fits.domains, choice.mixture)
    return Recipe(mixture, scale.tokens, scale.params, evidence=evidence)
