"""nanoGPT: ``step 0: train loss a, val loss b`` and ``iter 10: loss 9.1, time ...``."""

from __future__ import annotations

import re

from mixlaw.logs.console import Console, value
from mixlaw.logs.rows import NUMBER

CONSOLE = Console(
    "nanogpt",
    (
        (
            re.compile(rf"step (\d+): train loss ({NUMBER}), val loss ({NUMBER})", re.I),
            lambda m: {"step": int(m[1]), "loss/validation": value(m[3])},
        ),
        (re.compile(rf"iter (\d+): loss ({NUMBER})", re.I), lambda m: {"step": int(m[1]), "train": value(m[2])}),
    ),
    facts={
        "tokens_per_step": re.compile(r"tokens per iteration will be:\s*([\d,]+)"),
        "params": re.compile(r"number of parameters:\s*([\d.]+[MBK]?)"),
    },
)


read_nanogpt = CONSOLE.read
