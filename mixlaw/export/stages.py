"""Curricula: from tokens per stage to the steps at which trainers change the mixture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from mixlaw.errors import InputError
from mixlaw.export.base import Order
from mixlaw.export.digits import exact_shares
from mixlaw.units import human


@dataclass(frozen=True)
class Step:
    """A stage as trainers have it: from optimiser step ``start`` (counted from 0) on, these shares."""

    start: int
    shares: Mapping[str, Decimal]


def steps(order: Order, *, multiple: int = 1) -> tuple[tuple[Step, ...], tuple[str, ...]]:
    """Place the stages on whole steps; one mixture throughout is one stage from step 0.

    Args:
        order: the recipe; with stages it needs the options ``sequence_length`` and ``batch_size``.
        multiple: stages may begin only at multiples of so many steps.

    Returns:
        The stages, and a remark for each whose length in tokens the rounding changes.

    Raises:
        MissingFactError: naming the option that is unknown.
        InputError: for a stage that is shorter than ``multiple`` steps.
    """
    if len(order.stages) < 2:
        return (Step(0, order.exact),), ()
    why = "stages begin at steps"
    per_step = order.options.need("sequence_length", why) * order.options.need("batch_size", why)
    placed: list[Step] = []
    remarks = []
    tokens = 0.0
    for number, stage in enumerate(order.stages, start=1):
        start = round(tokens / per_step / multiple) * multiple
        if placed and start <= placed[-1].start:
            raise InputError(
                f"stages of at least {multiple} steps ({human(multiple * per_step)} tokens)",
                f"{human(order.stages[number - 2].tokens)} tokens in stage {number - 1}",
            )
        if abs(start * per_step - tokens) > 1e-9 * tokens:
            remarks.append(f"stage {number} begins at step {start}, {start * per_step - tokens:+.3g} tokens off")
        placed.append(Step(start, exact_shares(stage.mixture.nonzero())))
        tokens += stage.tokens
    return tuple(placed), tuple(remarks)
