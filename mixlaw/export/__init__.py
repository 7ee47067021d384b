"""Trainer configs: a recipe in, the text of one trainer's config out, and back."""

from __future__ import annotations

from mixlaw.domains import Domains
from mixlaw.errors import UsageError
from mixlaw.export.base import Exporter, ExportOptions, Order, Written
from mixlaw.export.megatron import Megatron
from mixlaw.export.table import Table
from mixlaw.mixture import Recipe
from mixlaw.units import human

__all__ = ["EXPORTERS", "ExportOptions", "Order", "Written", "exporter", "render"]

EXPORTERS: dict[str, Exporter] = {
    "megatron": Megatron(),
    "table": Table(),
}
"""Every format that mixlaw writes, by the word after ``--format``."""


def exporter(name: str) -> Exporter:
    """Return the format called ``name``.

    Raises:
        UsageError: for an unknown format, or one that cannot hold a mixture (with the nearest thing that can).
    """
    if name not in EXPORTERS:
        raise UsageError(f"a format among {', '.join(EXPORTERS)}", repr(name))
    return EXPORTERS[name]


def render(
    name: str, recipe: Recipe, *, domains: Domains | None = None, options: ExportOptions | None = None
) -> Written:
    """Write a recipe in a trainer's format, such that the trainer draws its token shares.

    Args:
        name: a key of ``EXPORTERS``.
        recipe: the mixture (token shares) or curriculum.
        domains: what is known of the domains; paths default to their names.
        options: what is known of the run.

    Returns:
        The config's ``text``, and ``remarks`` for stderr.

    Raises:
        UsageError: for a format that is unknown or cannot hold a mixture, or stages.
        MissingFactError: naming a fact that the format needs.
        InputError: for names, paths or shares that the trainer would misread.
    """
    chosen = exporter(name)
    order = Order(recipe, domains or Domains(), options or ExportOptions())
    if len(recipe.stages) > 1 and not chosen.staged:
        staged = ", ".join(key for key, other in EXPORTERS.items() if other.staged)
        raise UsageError(
            f"one mixture: {chosen.name} holds no curriculum",
            f"{len(recipe.stages)} stages",
            hint=f"Formats with stages: {staged}. Or write one config per stage, each from its own mixture file.",
        )
    written = chosen.write(order)
    return Written(written.text, (*written.remarks, *_supply_remarks(order)))


def _supply_remarks(order: Order) -> tuple[str, ...]:
    """Say which domains are seen more often than they may be: trainers repeat them silently."""
    if order.tokens is None:
        return ()
    remarks = []
    for name, share in order.shares.items():
        facts = order.domains.get(name)
        if facts.available_tokens is not None and share * order.tokens > facts.max_epochs * facts.available_tokens:
            epochs = share * order.tokens / facts.available_tokens
            supply = human(facts.available_tokens)
            remarks.append(f"{name}: {epochs:.3g} epochs of {supply} tokens, above max_epochs {facts.max_epochs:g}")
    return tuple(remarks)
