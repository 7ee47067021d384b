"""Tables as Parquet (extra ``parquet``)."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

import pandas as pd

from mixlaw.errors import InputError, MissingExtraError
from mixlaw.logs.long import find_long, widen
from mixlaw.logs.names import recognise
from mixlaw.logs.options import IngestOptions
from mixlaw.logs.part import Part
from mixlaw.logs.readers.table_csv import part_from
from mixlaw.logs.source import Source


def read_parquet(source: Source, options: IngestOptions, *, paired: bool = False) -> Iterator[Part]:
    """Read a Parquet table.

    Raises:
        MissingExtraError: without pyarrow.
        InputError: for a damaged file.
    """
    if find_spec("pyarrow") is None:
        raise MissingExtraError("pyarrow", "parquet")
    from pyarrow import ArrowException

    try:
        frame = pd.read_parquet(source.path)
    except (ArrowException, OSError) as error:
        raise InputError("a Parquet file", str(error).splitlines()[0], where=source.name) from error
    if not len(frame):
        raise InputError("at least one row", "none", where=source.name)
    long = find_long(frame.head(400))
    if long is not None:
        yield from widen(frame, long, source, options, kind="parquet")
        return
    plan = recognise(frame.head(400), options, paired=paired)
    yield part_from(frame, plan, source, 1, kind="parquet")
