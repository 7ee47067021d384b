"""NeMo 1.x and 2.x (legacy): the alternating list ``model.data.data_prefix``, or ``paths`` of PreTrainingDataModule.

Splits are called train, validation and test here (not valid).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mixlaw.errors import InputError
from mixlaw.export.base import About, Meaning, Order, Reading, Written
from mixlaw.export.content import at, parse
from mixlaw.export.megatron import blend, read_blend, words_of
from mixlaw.files import to_yaml

_SPLITS = ("train", "validation", "test")


class Nemo:
    """The alternating list."""

    about = About(
        "nemo", "NeMo 1.x model.data.data_prefix, 2.x paths=", Meaning.SHARE, "2.x: documented shape (legacy)"
    )

    def write(self, order: Order) -> Written:
        """Weight and prefix in turn under ``model.data.data_prefix``."""
        return Written(to_yaml({"model": {"data": {"data_prefix": blend(order)}}}))

    def read(self, text: str) -> Reading:
        """Read ``model.data.data_prefix`` or a top-level ``paths``, as a list or by split."""
        content = parse(text)
        found = content["paths"] if "paths" in content else at(content, "model", "data", "data_prefix")
        return read_blend(words_of(_train(found), "the blend"))


def _train(found: Any) -> Any:
    if not isinstance(found, Mapping):
        return found
    wrong = [str(key) for key in found if key not in _SPLITS]
    if wrong or "train" not in found:
        raise InputError("the splits train, validation, test", ", ".join(map(str, found)))
    return found["train"]
