"""What is doubtful about a plan or a proposal before anything is run: named warnings, each with its numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mixlaw.allocate.designs import UNIFORM
from mixlaw.allocate.menu import Indices
from mixlaw.allocate.plan import Plan
from mixlaw.allocate.sizes import size_label
from mixlaw.allocate.strategies import described
from mixlaw.laws.base import Floats
from mixlaw.units import human

SMALLEST_PROXY = 15e6
FURTHEST_TARGET = 10.0
UNLIKE_EPOCHS = 2.0
"""Passes over a domain at the target, relative to the proxies, above which they count as unlike (from 1.5 passes)."""
REPEATED = 1.5


def doubts_of(plan: Plan, runs: Indices | None = None) -> tuple[str, ...]:
    """Sentences, each with a name first, on the runs to buy together with those that are done.

    Args:
        plan: what was planned.
        runs: positions in the menu of the runs to buy; those of the chosen strategy if left out.
    """
    known = _Known.of(plan, plan.chosen.runs if runs is None else runs)
    checks = (_ratio, _few, _small, _far, _priors, _epochs, _one_size, _one_largest)
    return tuple(line for check in checks for line in check(known))


@dataclass(frozen=True)
class _Known:
    """All runs that the law will be fitted to.

    Attributes:
        plan: what was planned.
        counts: runs to buy by size, shape (L,).
        params: effective parameters of every row, done ones included, shape (n,).
        tokens: of every row, shape (n,).
    """

    plan: Plan
    counts: Indices
    params: Floats
    tokens: Floats

    @classmethod
    def of(cls, plan: Plan, runs: Indices) -> _Known:
        menu = plan.menu
        rows = np.concatenate([menu.rows(runs), menu.done_rows])
        counts = np.bincount(menu.size[runs], minlength=len(plan.request.sizes)).astype(np.intp)
        return cls(plan, counts, menu.inputs.params[rows], menu.inputs.tokens[rows])

    @property
    def runs(self) -> int:
        """How many runs there will be."""
        return int(self.counts.sum()) + self.plan.done


def _ratio(known: _Known) -> Iterator[str]:
    ratios = known.tokens / known.params
    if np.ptp(ratios) <= 0.02 * np.median(ratios):
        yield (
            f"one-ratio: {np.median(ratios):.3g} tokens per parameter for every run: the effects of size and tokens "
            "cannot be told apart. Give several, e.g. --tokens-per-param 10,20, where checkpoints are free."
        )


def _few(known: _Known) -> Iterator[str]:
    domains = len(known.plan.request.names)
    wanted = 3 * (domains + 1)
    if known.runs < wanted:
        yield f"too-few-runs: {known.runs} runs for {domains} domains, 3 (K + 1) = {wanted}"


def _small(known: _Known) -> Iterator[str]:
    menu = known.plan.menu
    done = _below(menu.inputs.params[menu.done_rows])
    bought = _below(np.array([s.effective for s, n in zip(known.plan.request.sizes, known.counts, strict=True) if n]))
    parts = [f"{what} {sizes}" for what, sizes in (("runs done at", done), ("runs to buy at", bought)) if sizes]
    if parts:
        yield f"small-proxies: {', '.join(parts)}; below {human(SMALLEST_PROXY)} rankings may not carry over"


def _below(params: Floats) -> str:
    """Sizes that are too small, ascending, as text."""
    return ", ".join(dict.fromkeys(human(size) for size in np.unique(params[params < SMALLEST_PROXY]).tolist()))


def _far(known: _Known) -> Iterator[str]:
    target, largest = known.plan.request.target, float(known.params.max())
    if target.effective > FURTHEST_TARGET * largest:
        yield (
            f"far-target: {size_label(target.params, target.active)} is {target.effective / largest:.0f} times the "
            f"largest proxy, {human(largest)}; more than {FURTHEST_TARGET:g} times is beyond what has been tested"
        )


def _priors(known: _Known) -> Iterator[str]:
    if known.plan.request.centre == UNIFORM:
        yield (
            "no-priors: no natural mixture is known, so mixtures are drawn round the uniform one. Give every domain a "
            "'prior' in the domains file."
        )


def _epochs(known: _Known) -> Iterator[str]:
    """Domains that the target repeats and the proxies do not, at natural shares."""
    request = known.plan.request
    unlike = []
    for name, share in zip(request.names, request.natural(), strict=True):
        supply = request.domains.get(name).available_tokens
        if supply is None:
            continue
        target, proxy = share * request.target.tokens / supply, share * float(known.tokens.max()) / supply
        if target > REPEATED and target > UNLIKE_EPOCHS * max(proxy, 1.0):
            unlike.append(f"{name} {target:.1f} (proxies {proxy:.2g})")
    if unlike:
        yield (
            f"unlike-epochs: passes at {request.centre} shares at the target: {', '.join(unlike)}. Proxies see those "
            "tokens fresh: their worth will look too good."
        )


def _one_largest(known: _Known) -> Iterator[str]:
    """One run alone at the largest of several sizes, and no runs done."""
    bought = np.flatnonzero(known.counts)
    if len(bought) > 1 and known.counts[bought[-1]] == 1 and not known.plan.done:
        label = known.plan.request.sizes[int(bought[-1])].label
        yield (
            f"one-largest: a single run at {label} decides what is known of the effect of size; if it goes wrong, no "
            "other run shows that"
        )


def _one_size(known: _Known) -> Iterator[str]:
    if len(np.unique(known.params)) < 2:
        labels = [s.label for s in known.plan.request.sizes]
        yield f"one-size: {described(known.counts.tolist(), labels)}: nothing to extrapolate from in size"
