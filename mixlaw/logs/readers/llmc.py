"""llm.c and modded-nanogpt: ``s:250 tel:3.3``, ``step 10/19560 | loss ...``, ``step:125/1390 val_loss:4.1``."""

from __future__ import annotations

import re

from mixlaw.logs.console import Console, value
from mixlaw.logs.rows import NUMBER

CONSOLE = Console(
    "llmc",
    (
        (re.compile(rf"^s:(\d+) tel:({NUMBER})", re.I), lambda m: {"step": int(m[1]), "loss/validation": value(m[2])}),
        (re.compile(rf"^s:(\d+) trl:({NUMBER})", re.I), lambda m: {"step": int(m[1]), "train": value(m[2])}),
        (
            re.compile(rf"step:(\d+)/\d+ val_loss:({NUMBER})", re.I),
            lambda m: {"step": int(m[1]), "loss/validation": value(m[2])},
        ),
        (
            re.compile(rf"step:(\d+)/\d+ (?:train_)?loss:({NUMBER})", re.I),
            lambda m: {"step": int(m[1]), "train": value(m[2])},
        ),
        (re.compile(rf"^\s*val loss ({NUMBER})", re.I), lambda m: {"loss/validation": value(m[1])}),
        (
            re.compile(rf"step\s+(\d+)/\d+ \| (?:train )?loss ({NUMBER})", re.I),
            lambda m: {"step": int(m[1]), "train": value(m[2])},
        ),
    ),
)


read_llmc = CONSOLE.read
