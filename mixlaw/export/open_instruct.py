"""open-instruct: ``dataset_mixer_list`` of name and amount; a whole number is a count of examples.

An amount with a point is a fraction of that set instead (``1`` is one example, ``1.0`` all of them), and an
exponent without a point crashes the parser.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mixlaw.errors import InputError
from mixlaw.export.base import About, Entry, Meaning, Order, Phase, Reading, Written
from mixlaw.export.content import list_at, parse, weight
from mixlaw.export.convert import LENGTH, counts
from mixlaw.export.text import refuse_words
from mixlaw.files import to_yaml


class OpenInstruct:
    """The list, with counts."""

    about = About(
        "open-instruct",
        "open-instruct dataset_mixer_list",
        Meaning.COUNT,
        "August 2026: source read",
        (LENGTH, "tokens"),
    )

    def write(self, order: Order) -> Written:
        """Name and count in turn, as words."""
        why = "open-instruct counts examples"
        numbers, remarks = counts(order, order.need(LENGTH, why), why)
        paths = order.single_paths()
        refuse_words(paths)
        words = [word for name, number in numbers.items() for word in (paths[name], str(number))]
        return Written(to_yaml({"dataset_mixer_list": words}), remarks)

    def read(self, text: str) -> Reading:
        """Read the list, or the mapping ``dataset_mixer``."""
        content = parse(text)
        if isinstance(content.get("dataset_mixer"), Mapping):
            pairs = [(str(key), amount) for key, amount in content["dataset_mixer"].items()]
        else:
            words = list_at(content, "dataset_mixer_list")
            if len(words) % 2:
                raise InputError("name and amount in turn", f"an odd number of words ({len(words)})")
            pairs = [(str(key), amount) for key, amount in zip(words[::2], words[1::2], strict=True)]
        return Reading((Phase(tuple(_entry(key, amount) for key, amount in pairs)),))


def _entry(key: str, amount: Any) -> Entry:
    text = str(amount)
    if "e" in text.lower() and "." not in text:
        raise InputError(f"a plain number for {key!r}", repr(amount), hint="open-instruct cannot read an exponent.")
    return Entry(key, weight(amount, key), Meaning.PASSES if "." in text else Meaning.COUNT)
