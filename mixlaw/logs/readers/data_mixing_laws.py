"""Data Mixing Laws: lines ``<checkpoint path>, <validation file>, <loss>`` with the ratios inside the path."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from mixlaw.errors import InputError, MissingFactError
from mixlaw.logs.naming import step_in
from mixlaw.logs.options import IngestOptions
from mixlaw.logs.part import Part
from mixlaw.logs.rows import NUMBER, Rows, numbered, part_of
from mixlaw.logs.source import Source
from mixlaw.mixture import SUM_TOLERANCE

LINE = re.compile(
    rf"\s*(?P<path>\S*[\w)]/\S+?)\s*[,\t ]\s*(?P<set>[^,\t]+?)\s*[,\t ]\s*(?P<loss>{NUMBER})\s*", re.IGNORECASE
)
_RATIOS = re.compile(r"(?<![\d.])(?:\d*\.\d+|[01])(?:-(?:\d*\.\d+|[01])){1,}(?![\d.])")
_SIZE = re.compile(r"(?<![A-Za-z\d.])(\d+(?:\.\d+)?[MB])(?![A-Za-z\d])")


def read_data_mixing_laws(source: Source, options: IngestOptions, *, paired: bool = False) -> Iterator[Part]:
    """Read evaluations by checkpoint path; the domains of the ratios come from ``--set domains`` or the run sheet.

    Raises:
        InputError: for a line of another form.
    """
    log = Rows()
    for line, text in numbered(source):
        if not text.strip():
            continue
        match = LINE.fullmatch(text)
        if match is None:
            raise InputError("path, validation file, loss", repr(text[:60]), where=f"{source.name}, line {line}")
        step = step_in(match["path"])
        if step is None:
            log.skip("checkpoint without a step in its path", f"{source.name}, line {line}")
            continue
        log.add(line, _row(match, step, options, f"{source.name}, line {line}"))
    log.notes.append("shares, sizes and steps are read from the checkpoint paths")
    if not options.domains:
        log.notes.append("ratios in the paths are not used: name their domains with --set domains=web,code,...")
    yield part_of(
        log, source, options, kind="data_mixing_laws", names={"step": "step", "run": "run", "params": "params"}
    )


def _row(match: re.Match[str], step: int, options: IngestOptions, where: str) -> dict[str, Any]:
    path = match["path"]
    run = re.sub(r"[/_]?(?:step|checkpoint|iter|ckpt)[-_]?\d+\S*$", "", path).rstrip("/")
    row: dict[str, Any] = {"run": run.rsplit("/", 1)[-1], "step": step}
    row[f"loss/{_set_name(match['set'])}"] = match["loss"]
    if size := _SIZE.search(path):
        row["params"] = size[1]
    return row | _shares(path, options, where)


def _set_name(text: str) -> str:
    name = re.sub(r"\.(jsonl?|txt|bin|npy|arrow|zst|gz|parquet)", "", text.strip().rsplit("/", 1)[-1])
    return re.sub(r"^(?:valid(?:ation)?|val|test)[_\-]|[_\-](?:valid(?:ation)?|val|test)$", "", name)


def _shares(path: str, options: IngestOptions, where: str) -> dict[str, float]:
    """The ratios of a path as shares of the domains that the user names, in order."""
    found = _RATIOS.findall(path)
    if not found or not options.domains:
        return {}
    text = max(found, key=len)
    values = [float(v) for v in text.split("-")][-len(options.domains) :]
    if len(values) != len(options.domains) or abs(sum(values) - 1) > 4 * SUM_TOLERANCE:
        raise MissingFactError(
            f"{len(options.domains)} ratios that sum to 1, one for each of {', '.join(options.domains)}",
            text,
            where=where,
            hint="Name the domains in the order of the ratios: --set domains=web,code,...",
        )
    return {f"mix/{d}": v for d, v in zip(options.domains, values, strict=True)}
