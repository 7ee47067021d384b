"""TensorBoard event files (extra ``tensorboard``), scalars and the tensors that hold scalars."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from mixlaw.errors import InputError, MissingExtraError
from mixlaw.logs.options import IngestOptions
from mixlaw.logs.part import Part
from mixlaw.logs.readers.tensorboard_csv import NAMES
from mixlaw.logs.rows import Rows, part_of
from mixlaw.logs.source import Source


def is_events(head: bytes) -> bool:
    """Whether bytes are the begin of an event file: a length, two checksums and the format's name."""
    return b"brain.Event:" in head[:64] and len(head) > 12


def read_tb_events(source: Source, options: IngestOptions, *, paired: bool = False) -> Iterator[Part]:
    """Read one event file: every scalar, also those that newer writers store as tensors.

    Raises:
        MissingExtraError: without tensorboard.
        InputError: when it holds no scalar.
    """
    if find_spec("tensorboard") is None:
        raise MissingExtraError("tensorboard", "tensorboard")
    log = Rows()
    count = 0
    for tag, step, value in _scalars(source):
        count += 1
        if tag.endswith(" vs samples"):
            log.skip("tag repeats another tag by samples", source.name)
        else:
            log.add(count, {"step": step, tag: value})
    if _cut(source):
        log.skip("last record cut short", source.name)
    if not log.rows:
        raise InputError("scalars in the event file", "none", where=source.name)
    yield part_of(log, source, options, kind="tensorboard", names=NAMES)


def _cut(source: Source) -> bool:
    """Whether the file ends in the middle of a record: length (8 bytes), checksum (4), data, checksum (4)."""
    size, place = source.path.stat().st_size, 0
    with source.reading(), source.path.open("rb") as handle:
        while len(header := handle.read(12)) == 12:
            place += 12 + int.from_bytes(header[:8], "little") + 4
            if place > size:
                return True
            handle.seek(place)
    return len(header) > 0


def _scalars(source: Source) -> Iterator[tuple[str, int, float]]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.util import tensor_util

    accumulator: Any = EventAccumulator(str(source.path), size_guidance={"scalars": 0, "tensors": 0})
    accumulator.Reload()
    for tag in accumulator.Tags()["scalars"]:
        for event in accumulator.Scalars(tag):
            yield tag, int(event.step), float(event.value)
    for tag in accumulator.Tags()["tensors"]:
        for event in accumulator.Tensors(tag):
            value = tensor_util.make_ndarray(event.tensor_proto)
            if value.ndim == 0 and value.dtype.kind == "f":
                yield tag, int(event.step), float(value)
