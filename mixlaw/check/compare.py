"""Laws and baselines side by side on a held-out part of a run table."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mixlaw.check.auto import AUTO, CANDIDATES, Choice, choose
from mixlaw.check.baselines import Baseline, baselines
from mixlaw.check.holdout import Split, splits
from mixlaw.check.noise import SeedNoise, seed_noise
from mixlaw.check.scores import Scores, score
from mixlaw.check.shrink import settle
from mixlaw.check.trial import Trial, measured, try_laws
from mixlaw.errors import MixlawError
from mixlaw.fit import FitOptions
from mixlaw.mixture import Mixture
from mixlaw.runs import RunTable
from mixlaw.units import Unit

Floats = NDArray[np.float64]

TIE = 2.0
"""Laws tie when their errors differ by less than this many standard errors of the paired difference."""


@dataclass(frozen=True)
class Row:
    """One law or baseline in a comparison.

    Attributes:
        name: of the law or baseline.
        scores: by target.
        decision: on the mean over targets, for held-out runs of one size and token count with all targets measured.
        per_run: mean absolute relative error of each held-out run, shape (m,).
        order_only: a rule that only chooses; its errors mean nothing.
        parameters: per target.
        seconds: spent on fitting.
        lacks: why there are no scores; empty if there are.
        predicted: losses of the held-out runs by target, shape (m,); empty for a rule that only chooses.
    """

    name: str
    scores: dict[str, Scores]
    decision: Scores
    per_run: Floats
    order_only: bool = False
    parameters: int = 0
    seconds: float = 0.0
    lacks: str = ""
    predicted: Mapping[str, Floats] = field(default_factory=dict)

    @property
    def error(self) -> float:
        """Mean relative error, mean over targets; NaN for a rule that only chooses."""
        return float("nan") if self.order_only else self.mean("error")

    def mean(self, figure: str) -> float:
        """Mean of a figure over targets, those where it is not defined left out."""
        values = np.array([getattr(s, figure) for s in self.scores.values()])
        return float(values[np.isfinite(values)].mean()) if np.isfinite(values).any() else float("nan")


@dataclass(frozen=True)
class Comparison:
    """A comparison and what it says.

    Attributes:
        held_out: what was held out, in words.
        runs: held-out runs.
        rows: laws and baselines, the smallest error first, rules that only choose after, the untried last.
        choices: what ``auto`` chose on each training part.
        noise: scatter of repeats anywhere in the table; None without repeats.
        measured: losses of the held-out runs by target, shape (m,), NaN where missing.
        units: of each target.
    """

    held_out: str
    runs: int
    rows: tuple[Row, ...]
    choices: tuple[Choice, ...]
    noise: SeedNoise | None = None
    measured: Mapping[str, Floats] = field(default_factory=dict)
    units: Mapping[str, Unit] = field(default_factory=dict)

    def ties(self) -> list[str]:
        """Laws whose error cannot be told from the smallest."""
        judged = [r for r in self.rows if np.isfinite(r.error)]
        return [r.name for r in judged[1:] if tied(judged[0], r)] if judged else []


def tied(one: Row, other: Row) -> bool:
    """Whether the paired difference of two rows' errors over runs is within ``TIE`` standard errors."""
    off = other.per_run - one.per_run
    off = off[np.isfinite(off)]
    if len(off) < 3:
        return True
    return bool(abs(off.mean()) <= TIE * off.std(ddof=1) / np.sqrt(len(off)))


def compare(
    table: RunTable,
    laws: Sequence[str],
    *,
    how: str | None = None,
    options: FitOptions | None = None,
    natural: Mixture | None = None,
    executor: Executor | None = None,
    progress: Callable[[float], None] | None = None,
) -> Comparison:
    """Score laws (``auto`` among them) and baselines on a held-out part of a table.

    Raises:
        InputError: when the table cannot be split as asked.
    """
    options = options or FitOptions()
    parts = splits(table, how, seed=options.seed)
    single = [name for name in laws if name != AUTO]
    trials = try_laws(single, table, parts, options, executor=executor, progress=progress)
    choices: tuple[Choice, ...] = ()
    if AUTO in laws:
        combined, choices = _auto(table, parts, options, trials, executor)
        trials.insert(0, combined)
    test = np.any([p.test for p in parts], axis=0)
    candidates: list[Trial | Baseline] = [*trials, *baselines(table, parts, natural)]
    judged = [_judge(candidate, table, test) for candidate in candidates]
    judged.sort(key=lambda r: (bool(r.lacks), r.order_only, r.error if np.isfinite(r.error) else np.inf))
    name = parts[0].name if len(parts) == 1 else f"mixtures, {len(parts)} folds"
    return Comparison(
        name, int(test.sum()), tuple(judged), choices, seed_noise(table),
        measured={t: table.loss(t)[test] for t in table.targets}, units={t: table.unit(t) for t in table.targets},
    )  # fmt: skip


def _auto(
    table: RunTable, parts: list[Split], options: FitOptions, trials: list[Trial], executor: Executor | None
) -> tuple[Trial, tuple[Choice, ...]]:
    """What ``--law auto`` would have predicted: chosen inside each training part, blind to its held-out part."""
    by_name = {t.name: t for t in trials}
    predicted = np.zeros((len(table.targets), len(table)))
    choices, started, parameters = [], time.perf_counter(), 0
    for part in parts:
        train = table.select(part.train)
        try:
            settled, _ = settle(train, CANDIDATES[0], options, executor=executor)
            choice = choose(train, settled, executor=executor)
        except MixlawError as error:
            return Trial(AUTO, np.full_like(predicted, np.nan), lacks=str(error)), ()
        choices.append(choice)
        known = by_name if settled == options else {}
        for name, weight in choice.weights.items():
            member = known.get(name) or try_laws([name], table, [part], settled)[0]
            predicted[:, part.test] += weight * np.log(member.predicted[:, part.test])
            parameters += member.parameters
    test = np.any([p.test for p in parts], axis=0)
    blended = np.where(test, np.exp(predicted), np.nan)
    return Trial(AUTO, blended, parameters // len(parts), time.perf_counter() - started), tuple(choices)


def _judge(candidate: Trial | Baseline, table: RunTable, test: NDArray[np.bool_]) -> Row:
    """Score one candidate on the held-out rows."""
    y, p = measured(table)[:, test], candidate.predicted[:, test]
    order_only = isinstance(candidate, Baseline) and candidate.order_only
    with np.errstate(invalid="ignore"):
        off = np.abs(p / y - 1)
    per_run = np.array([np.nanmean(c) if np.isfinite(c).any() else np.nan for c in off.T])
    whole = np.isfinite(p + y).any(axis=1)
    alike = _alike(table.select(test))
    return Row(
        name=candidate.name,
        scores={t: score(p[i], y[i]) for i, t in enumerate(table.targets)},
        decision=_decision(p[whole][:, alike], y[whole][:, alike]),
        per_run=per_run,
        order_only=order_only,
        parameters=candidate.parameters if isinstance(candidate, Trial) else 0,
        seconds=candidate.seconds if isinstance(candidate, Trial) else 0.0,
        lacks=candidate.lacks,
        predicted={} if order_only or candidate.lacks else dict(zip(table.targets, p, strict=True)),
    )


def _decision(predicted: Floats, measured_: Floats) -> Scores:
    """Scores of the mean over targets; all missing where there is nothing to choose between."""
    if not predicted.size or predicted.shape[1] < 2:
        return score(np.zeros(0), np.zeros(0))
    return score(predicted.mean(axis=0), measured_.mean(axis=0))


def _alike(held: RunTable) -> NDArray[np.bool_]:
    """The largest group of held-out runs of one size and token count (within 10 %): only they compare as mixtures."""
    scale = np.column_stack([np.nan_to_num(held.column(c), nan=1.0) for c in ("params", "tokens")])
    codes = np.round(np.log(np.maximum(scale, 1.0)) / 0.1)
    _, group, sizes = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    mine = group.reshape(-1) == int(sizes.argmax())
    several = len(np.unique(held.mixture_codes[mine])) > 1
    return np.asarray(mine if several else np.zeros_like(mine))
