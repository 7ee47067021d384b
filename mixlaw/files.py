"""Reading and writing files: safe YAML and JSON in, whole files or nothing out."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml

from mixlaw.errors import InputError

_LIKE_NUMBER = re.compile(r"[-+.\d][\d_.]*(?:[eE][-+]?\d+)?$")


class _Dumper(yaml.SafeDumper):
    """Block style with indented lists, so that people can edit what we write."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> Any:
        return super().increase_indent(flow, False)


class _Loader(yaml.SafeLoader):
    """The safe loader, without dates (an impossible one would crash it) and without names that are there twice."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        content = super().construct_mapping(node, deep=deep)
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        twice = next((key for key, times in Counter(keys).items() if times > 1), None)
        if twice is not None:
            raise yaml.constructor.ConstructorError(None, None, f"the name {twice!r} twice", node.start_mark)
        return content


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _represent_float(dumper: yaml.SafeDumper, value: float) -> yaml.ScalarNode:
    """Write floats so that YAML 1.1 readers get a float back (``1.0e-05``, never ``1e-05``)."""
    text = repr(float(value))
    if "e" in text and "." not in text:
        text = text.replace("e", ".0e")
    special = {"inf": ".inf", "-inf": "-.inf", "nan": ".nan"}
    return dumper.represent_scalar("tag:yaml.org,2002:float", special.get(text, text))


def _represent_decimal(dumper: yaml.SafeDumper, value: Decimal) -> yaml.ScalarNode:
    """Write decimals with every digit they have and no exponent."""
    return dumper.represent_scalar("tag:yaml.org,2002:float", f"{value:f}")


def _represent_text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    """Quote text that some YAML readers take for a number though PyYAML does not (``1e5``)."""
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="'" if _LIKE_NUMBER.match(value) else None)


_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(float, _represent_float)
_Dumper.add_representer(Decimal, _represent_decimal)


def is_file(text: str) -> bool:
    """Whether text that people typed names a file; text too long for a name (a mixture of many domains) does not."""
    try:
        return Path(text).is_file()
    except OSError:
        return False


def read_text(path: Path) -> str:
    """Read UTF-8 text (with or without a byte-order mark) from a file, or from stdin for ``-``.

    Raises:
        InputError: when the file is absent, unreadable or not UTF-8.
    """
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig") if str(path) == "-" else path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("UTF-8 text", f"bytes that are not ({error.reason})", where=str(path)) from error
    except OSError as error:
        raise InputError("a readable file", error.strerror or str(error), where=str(path)) from error


def read_mapping(path: Path) -> dict[str, Any]:
    """Read a YAML or JSON file whose top level is a mapping.

    Raises:
        InputError: for broken YAML (with line and column), another top level, or a name that is not text.
    """
    content = parse_mapping(read_text(path), where=str(path))
    odd = [key for key in content if isinstance(key, bool) or not isinstance(key, str | int)]
    if odd:  # YAML reads no, off, yes and on as true or false
        raise InputError("names as text", repr(odd[0]), where=str(path), hint="Put the name in quotes.")
    return {str(key): value for key, value in content.items()}


def parse_mapping(text: str, *, where: str = "") -> dict[Any, Any]:
    """Read the text of a YAML or JSON file whose top level is a mapping; keys are as YAML has them.

    Raises:
        InputError: for broken YAML (with line and column), a name that is there twice, or another top level.
    """
    try:
        content = yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f"line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        place = ", ".join(part for part in (where, line) if part)
        raise InputError("valid YAML", getattr(error, "problem", None) or "a broken file", where=place) from error
    if not isinstance(content, Mapping):
        kind = "an empty file" if content is None else f"a {type(content).__name__}"
        raise InputError("a mapping (name: value) at the top", kind, where=where)
    return dict(content)


def to_yaml(content: Mapping[str, Any]) -> str:
    """Write plain data as YAML, keys in the order given."""
    return yaml.dump(dict(content), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


def to_json(content: Any, *, indent: int | None = 2) -> str:
    """Write plain data as JSON that every parser takes: NaN and infinities become null."""
    return json.dumps(_finite(content), indent=indent, ensure_ascii=False) + "\n"


def _finite(content: Any) -> Any:
    if isinstance(content, float):
        return content if content == content and abs(content) != float("inf") else None
    if isinstance(content, Mapping):
        return {str(k): _finite(v) for k, v in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(v) for v in content]
    return content


def write_text(path: Path, text: str) -> None:
    """Write to a temporary name beside ``path`` and rename: an old file is never left half-written.

    Raises:
        InputError: when the folder cannot be written to.
    """
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")


class replacing:
    """Context that yields a temporary path and moves it over ``path`` on success only."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> Path:
        self.temporary = self.path
        if self.path.is_dir():
            raise InputError("the name of a file to write", "a folder", where=str(self.path))
        if self.path.exists() and not self.path.is_file():  # a device or a pipe is written in place
            return self.path
        try:
            handle, name = tempfile.mkstemp(prefix=f".{self.path.name}.", suffix=self.path.suffix, dir=self.path.parent)
        except OSError as error:
            raise InputError(
                "a folder that can be written to", error.strerror or str(error), where=str(self.path)
            ) from error
        os.close(handle)
        self.temporary = Path(name)
        return self.temporary

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if self.temporary == self.path:
            return
        if kind is not None:
            self.temporary.unlink(missing_ok=True)
            return
        umask = os.umask(0)
        os.umask(umask)
        self.temporary.chmod(0o666 & ~umask)
        self.temporary.replace(self.path)
