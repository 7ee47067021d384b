"""torchtitan: coloured ``step: 10  loss:  9.70524  ...`` and ``validate step: 10  loss:  7.1``."""

from __future__ import annotations

import re

from mixlaw.logs.console import Console, value
from mixlaw.logs.rows import NUMBER

CONSOLE = Console(
    "torchtitan",
    (
        (
            re.compile(rf"validate step:\s*(\d+)\s+loss:\s*({NUMBER})", re.I),
            lambda m: {"step": int(m[1]), "loss/validation": value(m[2])},
        ),
        (
            re.compile(rf"(?<!validate )step:\s*(\d+)\s+loss:\s*({NUMBER})(?:.*?grad_norm:\s*({NUMBER}))?", re.I),
            lambda m: {"step": int(m[1]), "train": value(m[2]), **({"grad": value(m[3])} if m[3] else {})},
        ),
    ),
)


read_torchtitan = CONSOLE.read
