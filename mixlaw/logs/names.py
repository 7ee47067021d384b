"""Which column is what: the user's map first, then the names that people use for the same few things."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from mixlaw.logs.metrics import TRAIN_LOSS, Metric, in_nats, metric, told_apart
from mixlaw.logs.options import IngestOptions
from mixlaw.logs.part import Column
from mixlaw.mixture import SUM_TOLERANCE
from mixlaw.units import Unit

SCALARS: dict[str, tuple[str, ...]] = {
    "run": ("run", "run_name", "run_id", "name", "experiment", "exp", "id", "index"),
    "step": (
        "step",
        "steps",
        "global_step",
        "trainer_global_step",
        "train_step",
        "training_step",
        "iteration",
        "iterations",
        "iter",
        "_step",
        "batch",
        "current_steps",
        "num_updates",
        "checkpoint",
        "ckpt",
    ),
    "tokens": (
        "tokens",
        "n_tokens",
        "num_tokens",
        "total_tokens",
        "train_tokens",
        "training_tokens",
        "tokens_seen",
        "consumed_tokens",
        "throughput_total_tokens",
        "num_input_tokens_seen",
        "n_tokens_seen",
        "d",
    ),
    "params": (
        "params",
        "n_params",
        "num_params",
        "parameters",
        "num_parameters",
        "model_size",
        "model_params",
        "total_params",
        "params_total",
        "n",
        "params_nonembed",
        "params_no_embed",
        "non_embedding_params",
        "params_non_embedding",
    ),
    "params_active": ("params_active", "active_params", "n_active_params", "params_active_precise"),
    "flops": ("flops", "total_flops", "train_flops", "training_flops", "training_flop", "total_flos", "compute"),
    "meta/samples": ("samples", "consumed_samples", "num_samples_seen", "samples_seen", "train_samples"),
    "meta/epoch": ("epoch",),
    "meta/seed": ("seed",),
    "meta/model": ("model", "model_name"),
    "meta/dataset": ("dataset", "corpus"),
}
_CONFIG = re.compile(r"(?:config|args|arguments|hparams|hyperparameters|settings|meta|metadata|model)[/.](.+)")
_ONE_LETTER = {"n": "N", "d": "D"}
_NON_EMBEDDING = re.compile(r"non?_?emb", re.IGNORECASE)

_HELD_OUT = {f"loss/{word}" for word in ("val", "valid", "validation", "eval", "evaluation", "test", "dev")}

_OPTIMISER = {"lr", "learning_rate", "grad_norm"}
"""Words beside which a column called just ``loss`` is that of training, as beside a validation loss."""

_SHARE = r"(?:mix|mixtures?|weights?|ratios?|shares?|proportions?|domain_weights?|sampling_weights?|data_mix)"
_STRONG = re.compile(rf"(?:{_SHARE}|w)(?:[/_.]|\s*:\s*|\s+)(.+)", re.IGNORECASE)
_WEAK = (
    re.compile(r"train[/_.\s](.+)", re.IGNORECASE),
    re.compile(r"(?:p|prop|prob|frac|fraction|pct|percent)[/_.\s](.+)", re.IGNORECASE),
    re.compile(rf".+[/.](?:{_SHARE}|\w+_weights)[/.](.+)", re.IGNORECASE),
    re.compile(r"(.+?)[/_.\s]\(?(?:weight|ratio|share|proportion|fraction|frac|pct|percent|prob)\)?", re.IGNORECASE),
)
_NOT_A_SHARE = re.compile(
    r".*(?:decay|norm|init|only|tying|dtype|precision|seed|std|loss|ppl|acc|runtime|batch|tokens?|steps?|samples?"
    r"|per_second|per_sec|time|flos|flops|epochs?|lr|learning_rate|warmup|grad\w*|clip|dropout)(?:$|[/_.\d].*)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Plan:
    """What each column of a file was taken for, and remarks on it."""

    columns: tuple[Column, ...]
    notes: tuple[str, ...] = ()

    @property
    def used(self) -> tuple[Column, ...]:
        """The columns that go into the table."""
        return tuple(c for c in self.columns if c.name)

    @property
    def unused(self) -> tuple[str, ...]:
        """Names of the columns that do not."""
        return tuple(c.source for c in self.columns if not c.name)

    @property
    def knows_runs(self) -> bool:
        """Whether a column of shares, losses or scores was found."""
        return any(c.name.startswith(("mix/", "loss/", "bench/", TRAIN_LOSS)) for c in self.columns)


def recognise(sample: pd.DataFrame, options: IngestOptions, *, paired: bool = False) -> Plan:
    """Say what the columns of a table are.

    Args:
        sample: some rows, with the names of the file.
        options: the user's map, units and join key.
        paired: the table is one of several that belong together, so that it may hold metrics or shares alone.
    """
    names = [str(c) for c in sample.columns]
    chosen: dict[str, Column] = {}
    for name in names:
        column = options.rule(name)
        if column is not None:
            chosen[name] = column
    taken = {c.name for c in chosen.values()}
    _scalars(names, chosen, taken, options.join)
    if not any(c.startswith("mix/") for c in taken):
        _shares(sample, chosen, options)
    _metrics(names, chosen)
    notes: list[str] = []
    if not any(c.name.startswith("mix/") for c in chosen.values()):
        notes += _plain_shares(sample, chosen)
    if paired:
        notes += _plain_metrics(sample, chosen, options)
    if any(c.name == "params" and _NON_EMBEDDING.search(c.source) for c in chosen.values()):
        notes.append("params are without embeddings, as the column says")
    columns = tuple(_with_unit(chosen.get(name, Column(name, "")), options) for name in names)
    return Plan(columns, tuple(notes))


def _with_unit(column: Column, options: IngestOptions) -> Column:
    if not column.name.startswith("loss/") or (column.unit is not None and options.rule(column.source)):
        return column
    target = column.name.removeprefix("loss/")
    return replace(column, unit=options.unit(target, stated=column.unit, source=column.source))


def _key(name: str) -> str:
    return re.sub(r"[\s\-./]+", "_", name.strip()).casefold()


def _scalars(names: Sequence[str], chosen: dict[str, Column], taken: set[str], join: str | None) -> None:
    if join is not None and join in names and join not in chosen:
        chosen[join] = Column(join, "run")
        taken.add("run")
    keys = {name: _key(name) for name in names if name not in chosen}
    keys |= {n: _key(m[1]) for n in keys if (m := _CONFIG.fullmatch(n)) and _key(m[1]) not in keys.values()}
    for target, aliases in SCALARS.items():
        ranked = [n for alias in aliases for n, key in keys.items() if key == alias and _spelled_out(n, key)]
        for rank, name in enumerate(ranked):
            if rank == 0 and target not in taken:
                chosen[name] = Column(name, target)
                taken.add(target)
            elif target == "run" and name not in chosen:
                chosen[name] = Column(name, f"meta/{name}")


def _spelled_out(name: str, key: str) -> bool:
    return name.strip() == _ONE_LETTER.get(key, name.strip())


def _numbers(column: pd.Series) -> np.ndarray:
    return pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64)


def _sums_to_one(sample: pd.DataFrame, names: Sequence[str], *, tolerance: float) -> bool:
    """Whether most rows that have shares have them summing to 1 or 100, none below 0."""
    values = np.column_stack([_numbers(sample[n]) for n in names])
    values = values[np.isfinite(values).any(axis=1)]
    if not len(values) or np.nanmin(values) < 0:
        return False
    sums = np.nansum(values, axis=1)
    near = (np.abs(sums - 1) <= tolerance) | (np.abs(sums - 100) <= 100 * tolerance)
    return bool(near.mean() > 0.5)


def _shares(sample: pd.DataFrame, chosen: dict[str, Column], options: IngestOptions) -> None:
    """Columns whose names say that they are shares: strong words always, weak ones if the rows sum to 1."""
    free = [str(n) for n in sample.columns if str(n) not in chosen]
    groups: dict[str, list[tuple[str, str]]] = {}
    for name in free:
        match = _STRONG.fullmatch(name)
        if match and not _NOT_A_SHARE.fullmatch(match[1]):
            groups.setdefault(name[: match.start(1)], []).append((name, match[1]))
    ranked = sorted(groups.values(), key=lambda g: not _sums_to_one(sample, [n for n, _ in g], tolerance=0.05))
    for pattern in _WEAK if not ranked else ():
        found = [(n, m[1]) for n in free if (m := pattern.fullmatch(n)) and not _NOT_A_SHARE.fullmatch(m[1])]
        if len(found) > 1 and _sums_to_one(sample, [n for n, _ in found], tolerance=0.05):
            ranked.append(found)
    for name, domain in ranked[0] if ranked else ():
        chosen[name] = Column(name, f"mix/{domain}")


def _metrics(names: Sequence[str], chosen: dict[str, Column]) -> None:
    """Columns whose names say loss, bits per byte, perplexity or accuracy; two of one name keep their full names."""
    doubled = {n for n in names if re.sub(r"\.\d+$", "", n) != n and re.sub(r"\.\d+$", "", n) in names}
    found = {n: m for n in names if n not in chosen and n not in doubled and (m := metric(n)) is not None}
    bare = next((n for n in found if n.strip().casefold() == "loss"), None)
    of_training = {_key(n) for n in names} & _OPTIMISER or any(m.name in _HELD_OUT for m in found.values())
    if bare is not None and of_training:
        found[bare] = Metric(TRAIN_LOSS, TRAIN_LOSS, TRAIN_LOSS)
    for name, m in found.items():
        if in_nats(m, found.values()) or (m.name == TRAIN_LOSS and any(c.name == m.name for c in chosen.values())):
            continue
        chosen[name] = Column(name, told_apart(m, found.values()), m.unit)


def _plain_shares(sample: pd.DataFrame, chosen: dict[str, Column]) -> list[str]:
    """All other numeric columns, when every row of them sums to 1 (a table of ratios)."""
    free = _plain_numbers(sample, chosen)
    if len(free) < 2:
        return []
    values = np.column_stack([_numbers(sample[n]) for n in free])
    sums = values.sum(axis=1)
    near = np.abs(sums - 1) <= 4 * SUM_TOLERANCE
    if not (np.isfinite(values).all() and values.min() >= 0 and near.all()):
        return []
    chosen.update({n: Column(n, f"mix/{n}") for n in free})
    return [f"{len(free)} plain columns taken as shares: every row of them sums to 1"]


def _plain_metrics(sample: pd.DataFrame, chosen: dict[str, Column], options: IngestOptions) -> list[str]:
    """All other numeric columns of a file beside a table of ratios: metrics whose names say no unit."""
    by_name = [c for n, c in chosen.items() if options.rule(n) is None]
    if any(c.name.startswith(("mix/", "loss/", "bench/")) for c in by_name):
        return []
    free = _plain_numbers(sample, chosen)
    if not free or not any(c.name == "run" for c in chosen.values()):
        return []
    chosen.update({n: Column(n, f"loss/{n}") for n in free})
    return [f"{len(free)} plain columns taken as losses, since the other file holds the shares"]


def _plain_numbers(sample: pd.DataFrame, chosen: dict[str, Column]) -> list[str]:
    names = [str(n) for n in sample.columns if str(n) not in chosen and not re.match(r"Unnamed: \d+$|$", str(n))]
    return [n for n in names if np.isfinite(_numbers(sample[n])).any()]


def align(domains: Sequence[str], targets: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Give domains and targets that differ only by what all of them begin or end with the same names.

    Args:
        domains: names of domains as read.
        targets: names of loss targets as read.

    Returns:
        New names of domains and of targets, both empty when nothing is gained: names that already meet stay.
    """
    if set(domains) & set(targets) or len(domains) < 2 or len(targets) < 2:
        return {}, {}
    short_domains = dict(zip(domains, _without_common(domains), strict=True))
    short_targets = dict(zip(targets, _without_common(targets), strict=True))
    options = [(short_domains, short_targets), (short_domains, {}), ({}, short_targets)]
    for new_domains, new_targets in options:
        left = {new_domains.get(d, d) for d in domains}
        right = {new_targets.get(t, t) for t in targets}
        if len(left & right) >= 2 and len(left) == len(domains) and len(right) == len(targets):
            return new_domains, new_targets
    return {}, {}


def _common(names: Sequence[str]) -> str:
    """The text that all names begin with."""
    low, high = min(names), max(names)
    return low[: next((i for i, c in enumerate(low) if high[i : i + 1] != c), len(low))]


def _without_common(names: Sequence[str]) -> list[str]:
    """Names without the whole words that all of them begin or end with."""
    before = _common(names)
    start = max((m.end() for m in re.finditer(r"[/_.\-]", before)), default=0)
    ends = [n[start:][::-1] for n in names]
    after = _common(ends)
    stop = max((m.end() for m in re.finditer(r"[/_.\-]", after)), default=0)
    return [n[start : len(n) - stop] for n in names]


def stated_units(columns: Sequence[Column]) -> dict[str, Unit]:
    """Unit by target where a name or the user states it."""
    return {c.name.removeprefix("loss/"): c.unit for c in columns if c.name.startswith("loss/") and c.unit}
