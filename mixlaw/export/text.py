"""Checks on names and paths that several trainers need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mixlaw.errors import InputError


def refuse(keys: Mapping[str, str], characters: Iterable[str], why: str) -> None:
    """Refuse sources whose name or path holds something that the trainer would take for syntax.

    Args:
        keys: the text that goes into the file, by domain.
        characters: what it must not hold.
        why: what the trainer does with it.

    Raises:
        InputError: naming the domain and the text.
    """
    for name, key in keys.items():
        found = next((c for c in characters if c in key), None)
        if found is not None:
            raise InputError(f"a name or path without {found!r} ({why})", repr(key), where=f"domain {name!r}")


def refuse_words(keys: Mapping[str, str]) -> None:
    """Refuse sources that a command line would take for a flag or for nothing.

    Raises:
        InputError: naming the domain and the text.
    """
    for name, key in keys.items():
        if not key.strip() or key != key.strip() or key.startswith("-"):
            raise InputError(
                "a name or path that neither is blank, nor starts with '-', nor has blanks at its ends",
                repr(key),
                where=f"domain {name!r}",
                hint="The trainer reads it from a list of words.",
            )
