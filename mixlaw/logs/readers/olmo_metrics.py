"""OLMo-core's ``metrics.json`` and ``metrics_step<N>.json``: one flat object of latest values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mixlaw.errors import InputError
from mixlaw.logs.naming import step_in
from mixlaw.logs.options import IngestOptions
from mixlaw.logs.part import Part
from mixlaw.logs.readers.olmo import NAMES
from mixlaw.logs.readers.table_json import load
from mixlaw.logs.rows import Rows, part_of
from mixlaw.logs.source import Source


def read_olmo_metrics(source: Source, options: IngestOptions, *, paired: bool = False) -> Iterator[Part]:
    """Read ``metrics.json`` or ``metrics_step<N>.json``: one flat object with the latest values."""
    content = load(source)
    if not isinstance(content, Mapping):
        raise InputError("one JSON object of metrics", type(content).__name__, where=source.name)
    row = {str(k): v for k, v in content.items() if not isinstance(v, dict | list)}
    step = next((row.pop(k) for k in ("step", "global_step", "_step") if k in row), None)
    step = step_in(source.path.stem) if step is None else step
    log = Rows()
    log.add(1, row if step is None else {"step": step, **row})
    yield part_of(log, source, options, kind="olmo_metrics", names=NAMES, final=step is None)
