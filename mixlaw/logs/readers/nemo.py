"""NeMo: ``Training epoch 0, iteration 9/99 | ... | global_step: 9 | reduced_train_loss: 8.512 | val_loss: ...``."""

from __future__ import annotations

import re
from typing import Any

from mixlaw.logs.console import Console, pairs, value
from mixlaw.logs.rows import NUMBER


def _nemo(match: re.Match[str]) -> dict[str, Any]:
    fields = pairs(match[2], ":") or {k: value(v) for k, v in re.findall(rf"(\w+)=({NUMBER})", match[2], re.I)}
    step = fields.pop("global_step", value(match[1]))
    names = {"reduced_train_loss": "train", "consumed_samples": "samples", "grad_norm": "grad", "loss": "train"}
    row = {"step": step, **{names[k]: v for k, v in fields.items() if k in names}}
    return row | {"loss/validation" if k == "val_loss" else k: v for k, v in fields.items() if _is_validation(k)}


def _is_validation(name: str) -> bool:
    return re.fullmatch(r"val(idation)?_loss\w*|val_.*loss", name) is not None


CONSOLE = Console(
    "nemo",
    (
        (re.compile(r"Training epoch \d+, iteration (\d+)/\d+\s*\|(.*)"), _nemo),
        (re.compile(r"Epoch \d+:.*?(\d+)/\d+ \[.*?,\s*(v_num=.*|reduced_train_loss=.*)\]"), _nemo),
    ),
    notes=("global_step counts from 0 as NeMo logs it", "NeMo prints four significant digits"),
)


read_nemo = CONSOLE.read
