"""What the name of a metric says: loss, train loss or score, of which target, in which unit."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace

from mixlaw.errors import InputError
from mixlaw.units import Unit

_SPLIT = r"[\s/_.:,\-]+"
_LOSS = (
    r"(?:ce[\s_]loss|cross[\s_]?entropy(?:[\s_]?loss)?|language_?cross_?entropy|nll(?:[\s_]loss|_per_token)?|"
    r"lm[\s_]loss|losse?s?)"
)
_BPB = r"(?:bpb|bits[\s_/]per[\s_]byte)"
_PPL = r"(?:ppl|perplexity|language_?perplexity)"
_ACC = (
    r"(?:acc(?:uracy)?|acc_norm|acc_raw|acc_per_char|acc_per_token|acc_uncond|exact_match|pass@1|incontextlearning\w*accuracy|"
    r"length-normalized accuracy|primary_score)"
)
_VERSION = r"(?:\s*v\d+)?"
_SET = r"(?:val|valid|validation|eval|evaluation|test|dev|held_?out)"
_MEASURES = {"loss": _LOSS, "bpb": _BPB, "ppl": _PPL, "acc": _ACC}
_TAIL = {
    kind: re.compile(rf"(?:(.+?)(?:{_SPLIT}|\s*\())?({words}){_VERSION}\)?", re.IGNORECASE)
    for kind, words in _MEASURES.items()
}
_HEAD = {
    kind: re.compile(rf"(?:metrics?[/_.])?({words})(?:{_SPLIT})(.+)", re.IGNORECASE)
    for kind, words in {**_MEASURES, "acc": r"(?:acc(?:uracy)?|bench|score)"}.items()
}
_BEFORE = re.compile(rf"(?:(?:metrics?|losse?s?|{_SET})[/_.\s]+|(?:lm|downstream)/)", re.IGNORECASE)
_HELD_OUT = re.compile(rf"(?:metrics?|{_SET})[/_.\s]+", re.IGNORECASE)
_AFTER = re.compile(rf"[/_.\s]+{_SET}", re.IGNORECASE)
_TRAIN = re.compile(
    r"(?:train(?:ing)?|reduced_train|metrics/train|loss/train|train loss/train)[/_.\s]+"
    rf"(?:{_LOSS}|total|global_avg_loss)"
    r"|lm[\s_]loss|loss_metrics/global_avg_loss|train_?loss",
    re.IGNORECASE,
)
_NOT_A_LOSS = re.compile(
    r"(?:^|.*[/_.\s])(?:z|aux|auxiliary|load[_\s]?balanc\w*|balanc\w*|moe|router\w*|mtp\w*|scale|scaler|std|stderr|"
    r"lower(?:_\d+)?|upper(?:_\d+)?|tokens_(?:lower|upper)_\d+|min|max|count|num|weight|spike\w*)",
    re.IGNORECASE,
)
_IN_BRACKETS = re.compile(r"(.*\S)\s*(?:\[([^\[\]]+)\]|\(([^()]+)\))")
_IN_NATS = re.compile(r"[\s_]+\(?nats?(?:[/_ ](?:per[_ ])?token)?\)?$", re.IGNORECASE)
_NOT_PER_TOKEN = re.compile(r"(?:.*[/_.\s])?(?:word|byte)", re.IGNORECASE)
_STDERR = re.compile(r".*(?:stderr|_std|_se|_ci|num_bytes|num_tokens|num_examples)(?:$|[,/_\s].*)", re.IGNORECASE)

TRAIN_LOSS = "meta/train_loss"


@dataclass(frozen=True)
class Metric:
    """What a metric's name says.

    Attributes:
        name: run-table column.
        measured: column with the measure added, for use when another measure of the target has ``name``.
        full: column with nothing of the name taken away, for use when ``measured`` is taken too.
        unit: unit of a loss that the name states; None where it states none.
    """

    name: str
    measured: str
    full: str
    unit: Unit | None = None


_TRAINING = Metric(TRAIN_LOSS, TRAIN_LOSS, TRAIN_LOSS)
_UNITS = {"loss": None, "bpb": Unit.BITS_PER_BYTE, "ppl": Unit.PERPLEXITY}


def metric(name: str) -> Metric | None:
    """Read the name of a metric column as people and trainers write it.

    Args:
        name: such as ``eval/paloma/c4_en/bpb``, ``arxiv_loss``, ``metric/web_val_loss``, ``loss/web``.

    Returns:
        None for a name that is no loss, perplexity or score.
    """
    name = re.sub(r"(?<=[a-z@\d]),[\w\-]+$", "", name.strip())  # the filter of lm-evaluation-harness: acc,none
    rest, unit = in_brackets(name)
    stated = metric(rest) if unit is not None else None
    if stated is not None and unit is not None and not stated.name.startswith("bench/"):
        return _in_unit(stated, unit, name)
    if in_words := _IN_NATS.search(name):
        stated = metric(name[: in_words.start()])
        return stated and replace(stated, unit=stated.unit or Unit.NATS)
    if re.fullmatch(r"(loss|bench|meta)/.+", name) and not _STDERR.fullmatch(name):
        return _TRAINING if _TRAIN.fullmatch(name) else Metric(name, name, name)
    if _TRAIN.fullmatch(name):
        return _TRAINING
    if _STDERR.fullmatch(name):
        return None
    short = name
    while True:
        for kind in ("bpb", "ppl", "acc", "loss"):
            found = _target(kind, short)
            if found is not None:
                return _metric(kind, name, found)
        held_out = _HELD_OUT.match(short)
        if held_out is None:
            return None
        short = short[held_out.end() :]


def in_brackets(name: str) -> tuple[str, Unit | None]:
    """A column's name without a unit in brackets at its end, ``loss/web [bits/byte]``, and that unit."""
    match = _IN_BRACKETS.fullmatch(name.strip())
    unit = Unit.known(match[2] or match[3]) if match else None
    return (match[1], unit) if match and unit else (name, None)


def _in_unit(found: Metric, unit: Unit, name: str) -> Metric:
    """A metric whose unit stands in brackets.

    Raises:
        InputError: when another part of the name states another unit.
    """
    if found.unit not in (None, unit):
        raise InputError(f"one unit in the name of column {name!r}", f"{found.unit.value} and {unit.value}")
    if found.name == TRAIN_LOSS:
        return found
    measured = f"{found.name}/{unit.value.replace('/', '_per_')}"
    return replace(found, measured=measured, full=f"loss/{_spelled(name)}", unit=unit)


def _target(kind: str, name: str) -> str | None:
    """The words around the measure."""
    tail = _TAIL[kind].fullmatch(name)
    if tail is not None:
        return tail[1] or ""
    head = _HEAD[kind].fullmatch(name)
    return head[2] if head is not None else None


def _metric(kind: str, name: str, around: str) -> Metric | None:
    if around.count("(") != around.count(")") or (kind == "ppl" and not around):
        return None
    other = _NOT_A_LOSS if kind == "loss" else _NOT_PER_TOKEN
    if other.fullmatch(around) or re.fullmatch(r"train(ing)?", around, re.IGNORECASE):
        return None
    prefix = "bench/" if kind == "acc" else "loss/"
    target = clean_target(around) or re.split(r"[/.\s]+", around.strip("/_. "))[-1] or name
    full = prefix + _spelled(name)
    return Metric(prefix + target, f"{prefix}{target}/{kind}", full, _UNITS.get(kind))


def _spelled(name: str) -> str:
    return re.sub(r"^(?:loss|bench)/", "", name)


def told_apart(found: Metric, others: Collection[Metric]) -> str:
    """Column of a metric among others: the plain name for the loss in nats, longer names where two would meet.

    Args:
        found: the metric.
        others: all metrics of the file, ``found`` among them.
    """
    same = [m for m in others if m.name == found.name]
    nats = [m for m in same if m.unit in (None, Unit.NATS) and m.name.startswith("loss/")]
    if len(same) == 1 or found.name == TRAIN_LOSS or (len(nats) == 1 and nats[0] is found):
        return found.name
    unique = sum(m.measured == found.measured for m in same) == 1
    return found.measured if unique else found.full


def in_nats(found: Metric, others: Collection[Metric]) -> bool:
    """Whether a perplexity stands beside the loss that it is the exponential of, so that it adds nothing."""
    return found.unit is Unit.PERPLEXITY and any(m.name == found.name and m.unit in (None, Unit.NATS) for m in others)


def clean_target(text: str) -> str:
    """Take away what says only that a metric is measured on held-out data: ``eval/web_val`` -> ``web``."""
    text = text.strip()
    while match := _BEFORE.match(text):
        text = text[match.end() :]
    while match := re.search(rf"{_AFTER.pattern}$", text, re.IGNORECASE):
        text = text[: match.start()]
    if re.fullmatch(r"\([^()]*\)", text):
        text = text[1:-1]
    return "" if re.fullmatch(_SET, text, re.IGNORECASE) else text.strip("/_. ")
