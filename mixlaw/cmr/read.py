"""From a run table to the runs of each model size, with the refusals that keep a wrong table from giving an answer."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from mixlaw.cmr.data import CptRun, Names, SizeData, distinct, without_spikes
from mixlaw.errors import InputError, MissingFactError
from mixlaw.runs import RunTable
from mixlaw.units import Unit, human, parse_positive

Floats = NDArray[np.float64]

OTHER_DOMAINS = 0.005
"""A third corpus may hold this share of a mixture, no more."""
FROM_SCRATCH = 0.25
"""A first reading this far above the base model's loss, or a fall by as much within a run, is pre-training."""
SAME_MIXTURE = 1e-4
TREND = 3.0
"""Standard errors by which losses must run the wrong way over shares before the columns are doubted."""


def parse_base(text: str, names: Names) -> dict[str, float]:
    """Read ``general=2.86,domain=2.31``; the corpora's own names work as well.

    Raises:
        InputError: for another key, or a loss that is no positive number.
    """
    known = {"general": "general", "domain": "domain", names.general: "general", names.domain: "domain"}
    known |= {names.general_target: "general", names.domain_target: "domain"}
    base = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        key, _, value = part.partition("=")
        if key.strip() not in known:
            raise InputError("--base as in general=2.86,domain=2.31", repr(part))
        base[known[key.strip()]] = parse_positive(value, name=f"--base {key.strip()}")
    return base


def read_sizes(
    table: RunTable,
    names: Names,
    *,
    base: Mapping[str, float] | None = None,
    params: float | None = None,
    trust_shares: bool = False,
) -> tuple[SizeData, ...]:
    """Split a run table into model sizes and check that each can be answered.

    Args:
        table: one row per run and checkpoint; rows at 0 tokens give the base model's losses.
        names: of the two corpora.
        base: losses of the base model, ``general`` and ``domain``, where the table has no rows at 0 tokens.
        params: only the size with this many parameters.
        trust_shares: do not doubt that the shares are domain shares.

    Raises:
        MissingFactError: when a column or the base loss is absent.
        InputError: when the table is not one of continual pre-training with two corpora.
    """
    _check_columns(table, names)
    sizes = []
    for value, rows in _by_size(table, params):
        part = table.select(rows)
        runs, notes, spikes = _runs(part, names)
        several = params is None and len(_sizes(table)) > 1
        label = human(value) if np.isfinite(value) else ""
        general, domain = _base(part, names, dict(base or {}), several=several, where=label)
        size = SizeData(value, runs, general, domain, notes, spikes)
        _check_runs(size, names, several=several)
        _check_scratch(size, names)
        if not trust_shares:
            _check_direction(size, names)
        sizes.append(size)
    return tuple(sizes)


def _check_columns(table: RunTable, names: Names) -> None:
    if names.general == names.domain:
        raise InputError("two different corpora for --general and --domain", f"{names.general!r} twice")
    for option, name in (("--general", names.general), ("--domain", names.domain)):
        if name not in table.domains:
            known = ", ".join(table.domains) or "none"
            raise MissingFactError(f"{option} to name one of the table's corpora (mix/ columns: {known})", repr(name))
    if names.general_target not in table.targets:
        known = ", ".join(table.targets) or "none"
        hint = "General loss must be logged in the runs; --general-loss names the column where it is called otherwise."
        raise MissingFactError(f"a column 'loss/{names.general_target}' (losses: {known})", "none", hint=hint)
    for target in {names.general_target, names.domain_target} & set(table.targets):
        if table.unit(target) is Unit.PERPLEXITY:
            raise InputError(f"loss/{target} as a loss", "perplexity", hint="Take its logarithm first.")


def _sizes(table: RunTable) -> Floats:
    return np.unique(table.column("params")[np.isfinite(table.column("params"))])


def _by_size(table: RunTable, params: float | None) -> list[tuple[float, NDArray[np.bool_]]]:
    column = table.column("params")
    known = _sizes(table)
    if params is not None:
        close = known[np.abs(known / params - 1) < 0.02]
        if len(close) != 1:
            raise InputError("--params to be one of the table's sizes", human(params), hint=_listed(known))
        known = close
    if not len(known):
        return [(float("nan"), np.ones(len(table), dtype=bool))]
    if np.isnan(column).any():
        rows = int(np.isnan(column).sum())
        raise InputError("params in every row, or in none", f"{rows} rows without", hint=_listed(known))
    return [(float(size), column == size) for size in known]


def _listed(sizes: Floats) -> str:
    return f"Sizes in the table: {', '.join(human(s) for s in sizes) or 'none'}."


def _runs(table: RunTable, names: Names) -> tuple[tuple[CptRun, ...], tuple[str, ...], int]:
    """Runs with a domain share above 0, notes on what was left out, and the number of spikes among it."""
    tokens, general, domain = table.column("tokens"), table.loss(names.general_target), table.loss(names.domain_target)
    lr = table.column("meta/lr") if "meta/lr" in table.frame.columns else np.full(len(table), np.nan)
    share, rest = (table.mixtures[:, table.domains.index(n)] for n in (names.domain, names.general))
    runs, notes, spikes = [], [], 0
    for code, name in enumerate(table.runs):
        rows = np.flatnonzero((table.run_codes == code) & ~(tokens == 0))
        if not len(rows):
            continue
        _check_run(name, tokens[rows], share[rows], rest[rows], names)
        if share[rows[0]] <= 0:
            notes.append(f"run {name} holds no {names.domain}: it is left out")
            continue
        order = rows[np.argsort(tokens[rows], kind="stable")]
        (clean, first), (own, second) = (without_spikes(loss[order]) for loss in (general, domain))
        if first + second:
            notes.append(f"run {name}: {first + second} reading{'s' * (first + second > 1)} left out as spikes")
        spikes += first + second
        runs.append(CptRun(name, float(share[rows[0]]), tokens[order], clean, own, lr[order]))
    return tuple(sorted(runs, key=lambda run: (run.share, run.name))), tuple(notes), spikes


def _check_run(name: str, tokens: Floats, share: Floats, rest: Floats, names: Names) -> None:
    where = f"run {name}"
    if np.isnan(tokens).any():
        raise MissingFactError("tokens in every row", "none", where=where, hint="The answer depends on the budget.")
    if np.ptp(share) > SAME_MIXTURE:
        hint = "A run whose mixture changes has no single share; split it at the change."
        raise InputError(
            "one mixture in a run", f"shares {share.min():.3g} to {share.max():.3g}", where=where, hint=hint
        )
    third = 1 - share[0] - rest[0]
    if third > OTHER_DOMAINS:
        raise InputError(
            f"two corpora, {names.general} and {names.domain}, that sum to 1",
            f"{third:.3g} of something else",
            where=where,
            hint="predict-cmr is for continual pre-training on two corpora. Add the other general corpora up into one "
            "column if their proportions never change; for a table of pre-training mixtures use mixlaw fit.",
        )


def _base(table: RunTable, names: Names, given: dict[str, float], *, several: bool, where: str) -> tuple[float, float]:
    """General and domain loss of the base model: given, or the mean of rows at 0 tokens."""
    rows = table.column("tokens") == 0
    if given and several:
        raise InputError(
            "--base for one model size",
            "a table with several",
            hint="Choose one with --params, or add rows at 0 tokens.",
        )
    found = {}
    for key, target in (("general", names.general_target), ("domain", names.domain_target)):
        readings = table.loss(target)[rows]
        readings = readings[np.isfinite(readings)]
        found[key] = given.get(key, float(readings.mean()) if len(readings) else float("nan"))
    if np.isnan(found["general"]):
        raise MissingFactError(
            f"the base model's loss on {names.general_target!r}",
            "none",
            where=where,
            hint="Add a row at 0 tokens for each size (the base model, before continual pre-training) or pass "
            "--base general=2.86,domain=2.31. (mixlaw ingest keeps rows at step 0 only with --keep-start.)",
        )
    return found["general"], found["domain"]


def _check_runs(size: SizeData, names: Names, *, several: bool) -> None:
    if not size.runs:
        raise InputError(f"runs with a share of {names.domain} above 0", "none", where=size.label)
    if not any(run.readings for run in size.runs):
        raise MissingFactError(f"readings of loss/{names.general_target}", "none", where=size.label)
    shares = distinct(np.array([run.share for run in size.mixed]))
    if len(shares) < 2:
        got = f"{', '.join(f'{s:.3g}' for s in shares) or 'none'}"
        raise InputError(
            "runs at two or more domain shares below 1",
            got,
            where=size.label,
            hint="One curve says when its own loss turns, not at which share it turns in time. Add a run: "
            f"a share of {_another(shares):.2g} would do."
            + (" Or answer another size alone with --params." if several else ""),
        )


def _another(shares: Floats) -> float:
    return 0.25 if not len(shares) else float(shares[0] * 2 if shares[0] <= 0.4 else shares[0] / 2)


def _check_scratch(size: SizeData, names: Names) -> None:
    for run in size.runs:
        there = run.general[np.isfinite(run.general)]
        if not len(there):
            continue
        high = there[0] / size.base_general - 1
        if high > FROM_SCRATCH and there[-1] < there[0]:
            raise InputError(
                "continual pre-training that starts at the base model's loss",
                f"{names.general_target} at {there[0]:.3g} in the first reading, {high:.0%} above the base model",
                where=f"run {run.name}",
                hint="This looks like pre-training from scratch: for its mixtures use mixlaw fit. If it is not, check "
                "the base loss.",
            )


def _check_direction(size: SizeData, names: Names) -> None:
    """Doubt the columns where more domain share lowers general loss and raises domain loss."""
    general = _direction(size, [run.general for run in size.runs])
    domain = _direction(size, [run.domain for run in size.runs])
    if general < 0 and domain > 0:
        raise InputError(
            f"general loss to rise and {names.domain} loss to fall with the share of {names.domain}",
            "the opposite in both",
            where=size.label,
            hint=f"Are the numbers in mix/{names.domain} replay shares, or the two names swapped? Swap --general and "
            "--domain (or the columns). If the table is right, pass --trust-shares.",
        )


def _direction(size: SizeData, losses: list[Floats]) -> int:
    """1 where the last quarter's mean loss rises from each share to the next, -1 where it falls, 0 otherwise.

    A change from the first share to the last within ``TREND`` standard errors is 0.
    """
    late: dict[float, list[Floats]] = {}
    for run, loss in zip(size.runs, losses, strict=True):
        there = loss[np.isfinite(loss)]
        if len(there):
            late.setdefault(round(run.share, 6), []).append(there[-max(1, len(there) // 4) :])
    ends = [np.concatenate(late[share]) for share in sorted(late)]
    if len(ends) < 2:
        return 0
    steps = np.sign(np.diff([end.mean() for end in ends]))
    error = np.sqrt(sum(end.var() / len(end) for end in (ends[0], ends[-1])))
    clear = abs(ends[-1].mean() - ends[0].mean()) > TREND * error
    return int(steps[0]) if clear and len(set(steps)) == 1 else 0
