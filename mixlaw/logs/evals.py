"""What readers of evaluation results share: scores of a task, and the run that a model name or path tells.

None of them knows the run: it is in the path or the name of the model, and so is the step.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from mixlaw.logs.naming import folder_name, step_in
from mixlaw.logs.options import IngestOptions
from mixlaw.logs.part import Part
from mixlaw.logs.rows import Rows, part_of
from mixlaw.logs.source import Source

_ACCURACIES = ("acc", "exact_match", "em", "f1", "pass@1", "pem", "qem", "mc2", "mc1")
_SPLIT = re.compile(r"[/\\]+|__+")
_STEP_WORD = re.compile(
    r"(?:(?:revision)|(?:(?:step|checkpoint|iter|global_?step|ckpt|epoch)[-_]?\d+\S*)|pretrained|main|hf|model|models|"
    r"checkpoints?|ckpts?|results?|outputs?|mnt|data|home|tmp|root|evals?|huggingface|dtype|bfloat16|float16|auto|"
    r"trust_remote_code|True|False|)",
    re.IGNORECASE,
)


def _model_words(*texts: object) -> list[str]:
    """Words of model names and paths that may name a run, the last (nearest) of each first."""
    words = [w for text in texts if isinstance(text, str) for w in reversed(_pieces(text))]
    stripped = [re.sub(r"[-_.](?:step|checkpoint|iter|ckpt|hf)[-_]?\d*$", "", w) for w in words]
    return list(dict.fromkeys(w for w in stripped if not _STEP_WORD.fullmatch(w)))


def _pieces(text: str) -> list[str]:
    """Parts of a path, also of one among ``pretrained=...,revision=...``."""
    arguments = dict(re.findall(r"(?:^|,)(\w+)=([^,]*)", text)) if re.match(r"\w+=", text) else {}
    path = arguments.get("pretrained") or arguments.get("model") or arguments.get("path") or text
    return _SPLIT.split(path)


def finish(
    row: dict[str, Any],
    source: Source,
    options: IngestOptions,
    *,
    kind: str,
    models: tuple[object, ...],
    notes: list[str],
) -> Part:
    """One row of results as a part, its run and step from the model's name or the path."""
    row = dict(row)
    texts = [m for m in models if isinstance(m, str)]
    step = row.pop("step", None)
    step = (
        step
        if step is not None
        else next((s for t in (*texts, str(source.path.parent)) if (s := step_in(t)) is not None), None)
    )
    words = [*_model_words(*texts), folder_name(source)]
    log = Rows(notes=notes)
    log.add(1, row if step is None else {"step": step, **row})
    names = {"step": "step", "tokens": "tokens", "params": "params"}
    return part_of(
        log, source, options, kind=kind, names=names, final=step is None, run=words[0], aliases=tuple(words[1:])
    )


def score(task: str, metrics: Mapping[str, Any]) -> dict[str, float]:
    """The cells of a task: its first accuracy as ``bench/``, bits per byte as ``loss/``."""
    cells: dict[str, float] = {}
    plain = {metric_name(k): v for k, v in metrics.items() if isinstance(v, int | float) and not isinstance(v, bool)}
    accuracy = next((plain[k] for k in _ACCURACIES if k in plain), None)
    if accuracy is not None:
        cells[f"bench/{task}"] = float(accuracy)
    if "bits_per_byte" in plain:
        cells[f"{task}/bits_per_byte"] = float(plain["bits_per_byte"])
    return cells


def metric_name(name: str) -> str:
    """``acc,none`` -> ``acc``: the first filter of a metric counts."""
    return name.split(",", 1)[0]
