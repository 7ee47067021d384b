"""Reading configs that people wrote: every value checked, every refusal naming its key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mixlaw.errors import InputError
from mixlaw.export.digits import as_float
from mixlaw.files import parse_mapping

_LARGEST = 10**30
"""Weights above this are slips, and could not be added up."""


def parse(text: str) -> dict[str, Any]:
    """Read a YAML or JSON config whose top is a mapping.

    Raises:
        InputError: for broken YAML, a name that is there twice, or another top level.
    """
    return {str(key): value for key, value in parse_mapping(text).items()}


def at(content: Any, *keys: str) -> Any:
    """The value under nested keys.

    Raises:
        InputError: naming the first key that is absent.
    """
    for depth, key in enumerate(keys, start=1):
        if not isinstance(content, Mapping) or key not in content:
            raise InputError(f"the key {'.'.join(keys[:depth])}", _kind(content))
        content = content[key]
    return content


def mapping_at(content: Any, *keys: str) -> dict[str, Any]:
    """The mapping under nested keys, its names as text.

    Raises:
        InputError: when there is none, or it is empty.
    """
    found = at(content, *keys)
    if not isinstance(found, Mapping) or not found:
        raise InputError(f"a mapping of names under {'.'.join(keys)}", _kind(found))
    return {str(key): value for key, value in found.items()}


def list_at(content: Any, *keys: str) -> list[Any]:
    """The list under nested keys.

    Raises:
        InputError: when there is none, or it is empty.
    """
    found = at(content, *keys)
    if isinstance(found, str) or not isinstance(found, Sequence) or not found:
        raise InputError(f"a list under {'.'.join(keys)}", _kind(found))
    return list(found)


def mappings_at(content: Any, *keys: str) -> list[dict[str, Any]]:
    """The list of mappings under nested keys.

    Raises:
        InputError: when an item is no mapping.
    """
    items = list_at(content, *keys)
    for number, item in enumerate(items, start=1):
        if not isinstance(item, Mapping):
            raise InputError(f"a mapping in item {number} of {'.'.join(keys)}", _kind(item))
    return [{str(key): value for key, value in item.items()} for item in items]


def weight(value: Any, key: str, *, zero: bool = True, text: bool = True) -> float:
    """One weight of a config.

    Args:
        value: as read from the file.
        key: what it belongs to, for the message.
        zero: whether the trainer takes 0.
        text: whether the trainer takes a number in quotes.

    Raises:
        InputError: for anything that is no number, is negative, or above 1e30.
    """
    number = _as_float(value) if text or not isinstance(value, str) else None
    if number is None or not 0 <= number <= _LARGEST or (number == 0 and not zero):
        bound = "of at least 0" if zero else "above 0"
        hint = "Leave out sources without weight." if number == 0 else ""
        raise InputError(f"a number {bound} for {key!r}", repr(value)[:80], hint=hint)
    return float(number)


def keyed(keys: Sequence[Any], weights: Sequence[Any], what: str, *, zero: bool = True) -> dict[str, float]:
    """Pair two lists of a config; a source that is listed twice adds up.

    Raises:
        InputError: when the lists differ in length, or a weight cannot be used.
    """
    if len(keys) != len(weights):
        raise InputError(f"as many weights as sources in {what}", f"{len(weights)} and {len(keys)}")
    numbers: dict[str, float] = {}
    for key, value in zip(keys, weights, strict=True):
        numbers[str(key)] = numbers.get(str(key), 0.0) + weight(value, str(key), zero=zero)
    return numbers


def only(item: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    """Refuse keys that the trainer refuses.

    Raises:
        InputError: naming them.
    """
    unknown = [key for key in item if key not in known]
    if unknown:
        raise InputError(f"keys among {', '.join(known)} in {where}", ", ".join(unknown))


def _as_float(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str):
        return as_float(value)
    return value


def _kind(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, Mapping):
        return f"only {', '.join(map(str, value))}"[:80] if value else "an empty mapping"
    return f"a {type(value).__name__}: {value!r}"[:80]
