"""Megatron-LM: weight and prefix in turn, as words in a text file (``--data-args-path``).

The trainer splits the file on white space, so it can hold neither comments nor paths with spaces, and a word
that reads as a number is a weight wherever it stands. It normalises the weights and gives each source
ceil(share * samples) fixed-length sequences.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mixlaw.errors import InputError
from mixlaw.export.base import About, Meaning, Order, Reading, Written
from mixlaw.export.content import keyed
from mixlaw.export.digits import as_float, plain


class Megatron:
    """The words file."""

    about = About(
        "megatron",
        "Megatron-LM --data-args-path FILE (with --split)",
        Meaning.SHARE,
        "megatron-core 0.16.1: blended dataset built",
    )

    def write(self, order: Order) -> Written:
        """One ``weight prefix`` pair a line."""
        words = blend(order)
        lines = (f"{weight} {prefix}\n" for weight, prefix in zip(words[::2], words[1::2], strict=True))
        return Written("".join(lines), tuple(rounded_up(order)))

    def read(self, text: str) -> Reading:
        """Read words as ``get_blend_from_list`` does."""
        return read_blend(text.split())


def blend(order: Order) -> list[str]:
    """Weight and prefix in turn, weight first.

    Raises:
        InputError: for a prefix that Megatron would misread.
    """
    paths = order.single_paths()
    check_prefixes(paths)
    return [word for name, path in paths.items() for word in (plain(order.exact[name]), path)]


def rounded_up(order: Order) -> Iterable[str]:
    """Say which domains are too small for a sequence, where the run is known: Megatron draws one all the same."""
    length = order.options.sequence_length
    if order.tokens is None or length is None:
        return
    for name, share in order.shares.items():
        if share * order.tokens < length:
            yield f"{name}: {share * order.tokens:.3g} tokens are less than a sequence; Megatron draws one"


def check_prefixes(paths: Mapping[str, str]) -> None:
    """Check one prefix by domain.

    Raises:
        InputError: for a prefix that Megatron would misread.
    """
    for name, path in paths.items():
        _check_prefix(name, path)


def words_of(found: Any, where: str) -> list[str]:
    """The words of a blend in a config: a list, or one text split on white space.

    Raises:
        InputError: for anything else.
    """
    if isinstance(found, str):
        return found.split()
    if not isinstance(found, list) or not found:
        raise InputError(f"weight and prefix in turn under {where}", repr(found)[:80])
    return [str(word) for word in found]


def read_blend(words: Sequence[str]) -> Reading:
    """Read words as Megatron does, but stop where it would silently drop the weights.

    Raises:
        InputError: where weights and prefixes do not alternate, or a weight cannot be drawn.
    """
    if not words:
        raise InputError("weight and prefix in turn", "no words", hint="Megatron refuses an empty blend.")
    if len(words) == 1:
        return Reading.flat({words[0]: 1.0}, Meaning.SHARE)
    if len(words) % 2 or None in map(as_float, words[::2]):
        raise InputError(
            "weight and prefix in turn, weight first",
            _misfit(words),
            hint="Megatron would take every word, weights included, for a prefix without a weight.",
        )
    numbers = keyed(words[1::2], words[::2], "the blend", zero=False)
    return Reading.flat(numbers, Meaning.SHARE, warnings=tuple(_prefix_warnings(numbers)))


def _misfit(words: Sequence[str]) -> str:
    comments = [word for word in words if word.startswith("#")]
    if comments:
        return f"the comment {comments[0]!r} (the file can hold none)"
    if len(words) % 2:
        return f"an odd number of words ({len(words)})"
    wrong = next(word for word in words[::2] if as_float(word) is None)
    return f"{wrong!r} in the place of a weight"


def _check_prefix(name: str, path: str) -> None:
    where = f"domain {name!r}"
    if not path or any(c.isspace() for c in path):
        raise InputError("a path without white space (it cannot be escaped)", repr(path), where=where)
    if "," in path:
        raise InputError("a path without a comma", repr(path), where=where, hint="Megatron keeps it in the prefix.")
    if as_float(path) is not None:
        raise InputError(
            "a path that does not read as a number",
            repr(path),
            where=where,
            hint=f"Megatron would take it for a weight: write ./{path}.",
        )
    if path.endswith((".bin", ".idx")):
        raise InputError("a prefix: the path without .bin or .idx", repr(path), where=where)


def _prefix_warnings(prefixes: Iterable[str]) -> Iterable[str]:
    for prefix in prefixes:
        if "," in prefix:
            yield f"{prefix!r}: the comma is part of the prefix"
        if as_float(prefix) is not None:
            yield f"{prefix!r} in the place of a prefix reads as a number"
        if prefix.endswith((".bin", ".idx")):
            yield f"{prefix!r}: a prefix is the path without .bin or .idx"
