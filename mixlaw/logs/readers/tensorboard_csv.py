"""TensorBoard's CSV download: one tag of one run, both named in the name of the file only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from mixlaw.errors import InputError
from mixlaw.logs.delimited import chunks, sniff
from mixlaw.logs.options import IngestOptions
from mixlaw.logs.part import Part, Skip, skipped_part
from mixlaw.logs.rows import Rows, part_of
from mixlaw.logs.source import Source

HEADER = ("Wall time", "Step", "Value")
_FILE = re.compile(r"(?:run-(?P<run>.*?)-)?tag-(?P<tag>.+)")
NAMES = {
    "step": "step",
    "lm loss": "meta/train_loss",
    "lm_loss": "meta/train_loss",
    "grad-norm": "meta/grad_norm",
    "grad_norm": "meta/grad_norm",
    "loss": "meta/train_loss",
}


def read_tb_csv(source: Source, options: IngestOptions, *, paired: bool = False) -> Iterator[Part]:
    """Read the CSV of one tag of one run, whose names are in the file name only.

    Raises:
        InputError: when the file name does not tell the tag.
    """
    match = _FILE.fullmatch(source.stem)
    if match is None and options.rule("Value") is None:
        raise InputError(
            "a file name run-<run>-tag-<tag>.csv, as TensorBoard gives it",
            repr(source.path.name),
            where=source.name,
            hint="Rename the file, or name the column with --map (Value: loss/web).",
        )
    tag = match["tag"] if match else "Value"
    run = (match["run"] or None) if match else None
    log = Rows(notes=["TensorBoard's CSV is a sample of the points (reservoir of the server)"])
    if re.search(r"[ _]vs[ _]samples$", tag):
        yield _by_samples(source, tag)
        return
    line = 2
    for chunk in chunks(source, sniff(source), list(HEADER)):
        for row in chunk[["Step", "Value"]].to_dict("records"):
            log.add(line, {"step": row["Step"], tag: row["Value"]})
            line += 1
        log.skipped += chunk.attrs.get("skipped", [])
    part = part_of(log, source, options, kind="tensorboard_csv", names=NAMES)
    yield replace(part, run=run)


def _by_samples(source: Source, tag: str) -> Part:
    count = sum(len(chunk) for chunk in chunks(source, sniff(source), list(HEADER)))
    return skipped_part(
        source.name, "tensorboard_csv", Skip(f"tag {tag!r} repeats another tag by samples", count, source.name)
    )
