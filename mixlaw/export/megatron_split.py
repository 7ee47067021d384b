"""Megatron-LM: one blend per split in JSON (``--per-split-data-args-path``).

All three keys must be there; ``null`` means no such split. Weights are words, as on the command line.
"""

from __future__ import annotations

from mixlaw.errors import InputError
from mixlaw.export.base import About, Meaning, Order, Reading, Written
from mixlaw.export.content import parse
from mixlaw.export.megatron import blend, read_blend, rounded_up, words_of
from mixlaw.files import to_json

_SPLITS = ("train", "valid", "test")


class MegatronSplit:
    """The per-split JSON file, with the mixture as its ``train`` blend."""

    about = About(
        "megatron-split",
        "Megatron-LM --per-split-data-args-path FILE (without --split)",
        Meaning.SHARE,
        "megatron-core 0.16.1: blended dataset built",
    )

    def write(self, order: Order) -> Written:
        """The mixture under ``train``; ``valid`` and ``test`` are empty."""
        text = to_json({"train": blend(order), "valid": None, "test": None})
        remark = "valid and test are null (no such split): fill them in to validate"
        return Written(text, (remark, *rounded_up(order)))

    def read(self, text: str) -> Reading:
        """Read the ``train`` blend and check that the other splits can be read."""
        content = parse(text)
        missing = [key for key in _SPLITS if key not in content]
        if missing:
            raise InputError("all of the keys train, valid and test", f"no {', '.join(missing)}")
        for key in _SPLITS[1:]:
            if content[key] is not None:
                read_blend(words_of(content[key], key))
        return read_blend(words_of(content["train"], "train"))
