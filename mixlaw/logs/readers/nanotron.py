"""Nanotron: ``iteration: 10 / 100 | consumed_tokens: 2.62M | ... | lm_loss: 8.31 | ...``, numbers with suffixes."""

from __future__ import annotations

import re

from mixlaw.logs.console import Console, pairs

CONSOLE = Console(
    "nanotron",
    (
        (
            re.compile(r"iteration:\s*(\d+)\s*/\s*\d+\s*\|(.*lm_loss:.*)"),
            lambda m: {
                "step": int(m[1]),
                **{
                    {
                        "consumed_tokens": "tokens",
                        "lm_loss": "train",
                        "grad_norm": "grad",
                        "val_loss": "loss/validation",
                    }[k]: v
                    for k, v in pairs(m[2], ":").items()
                    if k in ("consumed_tokens", "lm_loss", "grad_norm", "val_loss")
                },
            },
        ),
    ),
    notes=("Nanotron prints three significant digits, which is too coarse for a fit",),
)


read_nanotron = CONSOLE.read
