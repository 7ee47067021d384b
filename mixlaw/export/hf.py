"""Hugging Face ``interleave_datasets``: names, places and probabilities, as YAML to load by hand.

The sum must be 1 within NumPy's 1.5e-8. ``all_exhausted`` keeps the probabilities to the end and repeats short
sources; ``all_exhausted_without_replacement`` uses every row once and so ignores them in the total.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mixlaw.errors import InputError
from mixlaw.export.base import About, Meaning, Order, Reading, Written
from mixlaw.export.content import keyed, list_at, parse
from mixlaw.export.convert import LENGTH, probabilities
from mixlaw.files import to_yaml

STRATEGIES = ("first_exhausted", "all_exhausted", "all_exhausted_without_replacement")
_TOLERANCE = 1.5e-8


class HuggingFace:
    """The arguments of ``interleave_datasets``."""

    about = About(
        "hf",
        "Hugging Face datasets.interleave_datasets (YAML of its arguments)",
        Meaning.PROBABILITY,
        "datasets 5.2.0: rows drawn",
        (LENGTH,),
    )

    def write(self, order: Order) -> Written:
        """Three lists in one order, and how to stop."""
        shares = probabilities(order, "Hugging Face draws documents")
        paths = order.single_paths()
        content = {
            "names": list(shares),
            "paths": [paths[name] for name in shares],
            "probabilities": list(shares.values()),
            "stopping_strategy": "all_exhausted",
        }
        return Written(to_yaml(content))

    def read(self, text: str) -> Reading:
        """Read names and probabilities."""
        content = parse(text)
        return read_interleave(
            list_at(content, "names"), list_at(content, "probabilities"), content.get("stopping_strategy")
        )


def read_interleave(names: Sequence[Any], weights: Sequence[Any], strategy: Any) -> Reading:
    """Read the arguments of ``interleave_datasets``, its sum check included.

    Raises:
        InputError: for weights that NumPy refuses as probabilities, or an unknown strategy.
    """
    if strategy is not None and strategy not in STRATEGIES:
        raise InputError(f"a stopping strategy among {', '.join(STRATEGIES)}", repr(strategy))
    numbers = keyed(names, weights, "probabilities")
    total = math.fsum(numbers.values())
    if abs(total - 1) > _TOLERANCE:
        raise InputError("probabilities that sum to 1 (within 1.5e-8)", f"{total:.12g}")
    warnings = []
    if strategy in (None, "first_exhausted"):
        warnings.append("first_exhausted (the default) stops at the first source that runs out")
    if strategy == "all_exhausted_without_replacement":
        warnings.append("all_exhausted_without_replacement uses every row once: the total ignores the probabilities")
    return Reading.flat(numbers, Meaning.PROBABILITY, warnings=tuple(warnings))
