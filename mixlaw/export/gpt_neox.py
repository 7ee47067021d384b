"""GPT-NeoX: ``train-data-paths`` beside ``train-data-weights``; normalised, shares of fixed-length sequences."""

from __future__ import annotations

from mixlaw.errors import InputError
from mixlaw.export.base import About, Meaning, Order, Reading, Written
from mixlaw.export.content import keyed, list_at, parse
from mixlaw.export.megatron import check_prefixes
from mixlaw.files import to_yaml

_MOST = 254
"""Datasets that fit into the index of one byte."""


class GptNeox:
    """The two lists."""

    about = About("gpt-neox", "GPT-NeoX train-data-paths, train-data-weights", Meaning.SHARE, "May 2026: source read")

    def write(self, order: Order) -> Written:
        """Paths and weights in the order of the mixture."""
        paths = order.single_paths()
        if len(paths) > _MOST:
            raise InputError(f"at most {_MOST} domains (GPT-NeoX numbers them in one byte)", str(len(paths)))
        check_prefixes(paths)
        lists = {"train-data-paths": list(paths.values()), "train-data-weights": list(order.exact.values())}
        remark = "add valid-data-paths and test-data-paths with their weights; leave train_epochs unset"
        return Written(to_yaml(lists), (remark,))

    def read(self, text: str) -> Reading:
        """Read the two lists, dashes or underscores."""
        content = {key.replace("_", "-"): value for key, value in parse(text).items()}
        paths, weights = list_at(content, "train-data-paths"), list_at(content, "train-data-weights")
        if len(paths) > _MOST:
            raise InputError(f"at most {_MOST} datasets", str(len(paths)))
        if content.get("train-epochs") is not None:
            raise InputError("no train_epochs beside train-data-weights", repr(content["train-epochs"]))
        numbers = keyed(paths, weights, "train-data-weights")
        ignored = ("weight_by_num_documents is on: GPT-NeoX ignores these weights",)
        return Reading.flat(numbers, Meaning.SHARE, warnings=ignored if content.get("weight-by-num-documents") else ())
