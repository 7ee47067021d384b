"""LitGPT's CSV (Lightning's CSVLogger): training and validation values of one step on different rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mixlaw.logs.delimited import sniff
from mixlaw.logs.options import IngestOptions, Rule
from mixlaw.logs.part import Part
from mixlaw.logs.readers.table_csv import read_csv
from mixlaw.logs.source import Source

RULES = (
    Rule("step", "step"),
    Rule("iter", ""),
    Rule("loss", "meta/train_loss"),
    Rule("val_ppl", ""),
)


def read_litgpt(source: Source, options: IngestOptions, *, paired: bool = False) -> Iterator[Part]:
    """Read a log of LitGPT: ``step`` counts optimiser steps (``iter`` counts micro-batches)."""
    names = sniff(source).names
    tokens = "total_tokens" if "total_tokens" in names else "tokens"
    rules = (*options.rules, *RULES, Rule(tokens, "tokens"), Rule("tokens", ""))
    named = replace(options, rules=rules, join=None)
    for part in read_csv(source, named):
        yield replace(part, kind="litgpt", table=False)
