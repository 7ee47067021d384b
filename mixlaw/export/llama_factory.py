"""LLaMA-Factory: ``dataset`` and ``interleave_probs`` as comma lists; probabilities of the next example.

Names are entries of dataset_info.json. A single bare number crashes the parser, ``concat`` refuses probabilities,
and Hugging Face checks their sum.
"""

from __future__ import annotations

from typing import Any

from mixlaw.errors import InputError
from mixlaw.export.base import About, Meaning, Order, Reading, Written
from mixlaw.export.content import at, parse
from mixlaw.export.convert import LENGTH, probabilities
from mixlaw.export.digits import plain
from mixlaw.export.hf import read_interleave
from mixlaw.export.text import refuse, refuse_words
from mixlaw.files import to_yaml

_STRATEGIES = {
    "interleave_under": "first_exhausted",
    "interleave_over": "all_exhausted",
    "interleave_once": "all_exhausted_without_replacement",
}


class LlamaFactory:
    """The three keys of the training YAML."""

    about = About(
        "llama-factory",
        "LLaMA-Factory dataset, interleave_probs",
        Meaning.PROBABILITY,
        "llamafactory 0.9.5: argument class run",
        (LENGTH,),
        placed=False,
    )

    def write(self, order: Order) -> Written:
        """Names and probabilities, both as text; one dataset needs no probabilities."""
        shares = probabilities(order, "LLaMA-Factory draws examples")
        names = {name: name for name in shares}
        refuse(names, ",", "LLaMA-Factory splits names at commas")
        refuse_words(names)
        if len(shares) == 1:
            return Written(to_yaml({"dataset": next(iter(shares))}))
        content = {
            "dataset": ",".join(shares),
            "mix_strategy": "interleave_over",
            "interleave_probs": ",".join(plain(share) for share in shares.values()),
        }
        return Written(to_yaml(content), ("names must be entries of dataset_info.json",))

    def read(self, text: str) -> Reading:
        """Read the keys as ``DataArguments`` does."""
        content = parse(text)
        names = _split(at(content, "dataset"))
        weights, strategy = content.get("interleave_probs"), content.get("mix_strategy", "concat")
        if len(names) == 1 and weights is None:
            return Reading.flat({names[0]: 1.0}, Meaning.PROBABILITY)
        if isinstance(weights, int | float):
            raise InputError("interleave_probs as text or a list", f"the bare number {weights} (it crashes)")
        if weights is None or not isinstance(strategy, str) or strategy not in _STRATEGIES:
            raise InputError(
                f"interleave_probs and mix_strategy among {', '.join(_STRATEGIES)}",
                f"{weights!r} and {strategy!r}",
                hint="concat joins whole datasets: their sizes alone set the mixture.",
            )
        return read_interleave(names, _split(weights), _STRATEGIES[strategy])


def _split(value: Any) -> list[str]:
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    found = [str(part).strip() for part in parts]
    if not found or "" in found:
        raise InputError("a list, or text with commas", repr(value)[:80])
    return found
