"""Trainer configs: a recipe in, the text of one trainer's config out, and back."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import accumulate

from mixlaw.domains import Domains
from mixlaw.errors import InputError, UsageError
from mixlaw.export import levanter, streaming
from mixlaw.export.audit import Audit, audit
from mixlaw.export.base import Exporter, ExportOptions, Order, Written
from mixlaw.export.bridge_sft import BridgeSft
from mixlaw.export.dolma import Dolma
from mixlaw.export.energon import Energon
from mixlaw.export.gpt_neox import GptNeox
from mixlaw.export.hf import HuggingFace
from mixlaw.export.hf_python import HuggingFacePython
from mixlaw.export.lingua import Lingua
from mixlaw.export.llama_factory import LlamaFactory
from mixlaw.export.megatron import Megatron
from mixlaw.export.megatron_bridge import MegatronBridge
from mixlaw.export.megatron_split import MegatronSplit
from mixlaw.export.ms_swift import MsSwift
from mixlaw.export.nanotron import Nanotron
from mixlaw.export.nemo import Nemo
from mixlaw.export.olmo_core import OlmoCore
from mixlaw.export.open_instruct import OpenInstruct
from mixlaw.export.refused import REFUSED
from mixlaw.export.table import TableCsv, TableYaml
from mixlaw.mixture import Recipe
from mixlaw.units import human

__all__ = ["EXPORTERS", "REFUSED", "Audit", "ExportOptions", "Order", "Written", "check", "exporter", "render"]

EXPORTERS: dict[str, Exporter] = {
    "megatron": Megatron(),
    "megatron-split": MegatronSplit(),
    "megatron-bridge": MegatronBridge(),
    "nemo": Nemo(),
    "olmo-core": OlmoCore(),
    "streaming": streaming.BLOCKS,
    "levanter": levanter.COMPONENTS,
    "levanter-configs": levanter.CONFIGS,
    "gpt-neox": GptNeox(),
    "nanotron": Nanotron(),
    "hf": HuggingFace(),
    "hf-python": HuggingFacePython(),
    "lingua": Lingua(),
    "llama-factory": LlamaFactory(),
    "ms-swift": MsSwift(),
    "energon": Energon(),
    "streaming-text": streaming.TEXT,
    "streaming-repeat": streaming.REPEAT,
    "streaming-choose": streaming.CHOOSE,
    "open-instruct": OpenInstruct(),
    "bridge-sft": BridgeSft(),
    "dolma": Dolma(),
    "table": TableCsv(),
    "table-yaml": TableYaml(),
}
"""Every format that mixlaw writes, by the word after ``--format``."""


def exporter(name: str) -> Exporter:
    """Return the format called ``name``.

    Raises:
        UsageError: for an unknown format, or one that cannot hold a mixture (with the nearest thing that can).
    """
    if name in REFUSED:
        refusal = REFUSED[name]
        raise UsageError(f"No config of {refusal.trainer} holds a mixture: {refusal.why}.", hint=refusal.instead)
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
    _insist_on_known(recipe, domains)
    order = Order(recipe, domains or Domains(), options or ExportOptions())
    if len(recipe.stages) > 1 and not chosen.about.staged:
        staged = ", ".join(key for key, other in EXPORTERS.items() if other.about.staged)
        raise UsageError(
            f"one mixture: {name} holds no curriculum",
            f"{len(recipe.stages)} stages",
            hint=f"Formats with stages: {staged}. Or write one config per stage, each from its own mixture file.",
        )
    written = chosen.write(order)
    places = _place_remarks(order) if chosen.about.placed else ()
    remarks = (*_sum_remarks(recipe), *written.remarks, *places, *_stage_remarks(order), *_supply_remarks(order))
    return Written(written.text, remarks)


def check(
    name: str,
    text: str,
    *,
    domains: Domains | None = None,
    options: ExportOptions | None = None,
    where: str = "",
) -> Audit:
    """Read a trainer config and work out the token mixture that it realises.

    Args:
        name: a key of ``EXPORTERS``.
        text: content of the config.
        domains: facts that the meaning of its numbers may need; paths are matched to names.
        options: the run, for epochs and for stages.
        where: the file, for messages.

    Raises:
        UsageError: for a format that is unknown or cannot hold a mixture.
        MissingFactError: naming a fact that the audit needs.
        InputError: for a config that the trainer refuses, or would misread.
    """
    chosen = exporter(name)
    try:
        return audit(chosen.read(text), domains or Domains(), options=options or ExportOptions())
    except InputError as error:
        error.where = ", ".join(part for part in (where, error.where) if part)
        raise


def _insist_on_known(recipe: Recipe, domains: Domains | None) -> None:
    """Refuse a domain that a domains file, if there is one, does not name: most likely a slip of the pen."""
    if domains is None or not domains.by_name:
        return
    unknown = [name for name in recipe.mixture.nonzero() if name not in domains.by_name]
    if unknown:
        near = get_close_matches(unknown[0], domains.by_name, 1)
        hint = f"Did you mean {near[0]!r}?" if near else "Add it to the domains file."
        raise InputError(
            f"domains among {', '.join(domains.by_name)}", ", ".join(unknown), where=domains.source, hint=hint
        )


def _sum_remarks(recipe: Recipe) -> Iterable[str]:
    if any(mixture.rescaled for mixture in (recipe.mixture, *(stage.mixture for stage in recipe.stages))):
        yield "shares that did not sum to 1 were rescaled"


def _place_remarks(order: Order) -> Iterable[str]:
    unknown = [name for name in order.shares if not order.domains.get(name).paths]
    if unknown:
        yield f"no paths known, the domain's name stands in: {', '.join(unknown)}"


def _stage_remarks(order: Order) -> Iterable[str]:
    """Show how the passes over each domain add up over the stages of a curriculum."""
    for name in order.shares if len(order.stages) > 1 else ():
        supply = order.domains.get(name).available_tokens
        if supply is not None:
            seen = accumulate(stage.tokens * stage.mixture.shares.get(name, 0.0) / supply for stage in order.stages)
            yield f"{name}: {', '.join(f'{epochs:.3g}' for epochs in seen)} epochs by the end of each stage"


def _supply_remarks(order: Order) -> Iterable[str]:
    """Say which domains are seen more often than they may be: trainers repeat them silently."""
    if order.tokens is None:
        return
    for name, share in order.shares.items():
        facts = order.domains.get(name)
        if facts.available_tokens is not None and share * order.tokens > facts.max_epochs * facts.available_tokens:
            epochs = share * order.tokens / facts.available_tokens
            supply = human(facts.available_tokens)
            yield f"{name}: {epochs:.3g} epochs of {supply} tokens, above max_epochs {facts.max_epochs:g}"
