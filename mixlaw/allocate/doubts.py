"""What is doubtful about a plan before anything is run: named warnings, each with its numbers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mixlaw.allocate.plan import Plan
from mixlaw.allocate.sizes import Size, size_label
from mixlaw.allocate.strategies import described
from mixlaw.units import human

SMALLEST_PROXY = 15e6
FURTHEST_TARGET = 10.0
UNLIKE_EPOCHS = 2.0
"""Passes over a domain at the target, relative to the proxies, above which they count as unlike (from 1.5 passes)."""
REPEATED = 1.5


def doubts_of(plan: Plan) -> tuple[str, ...]:
    """Sentences, each with a name first."""
    return (*_ratio(plan), *_few(plan), *_small(plan), *_far(plan), *_epochs(plan), *_one_size(plan))


def _used(plan: Plan) -> list[Size]:
    return [s for s, n in zip(plan.request.sizes, plan.chosen.counts, strict=True) if n]


def _ratio(plan: Plan) -> Iterator[str]:
    ratios = [t / s.effective for s in _used(plan) for t in s.tokens]
    if not plan.done and np.ptp(ratios) <= 0.02 * np.median(ratios):
        yield (
            f"one-ratio: {np.median(ratios):.3g} tokens per parameter for every run: the effects of size and tokens "
            "cannot be told apart. Give several, e.g. --tokens-per-param 10,20, where checkpoints are free."
        )


def _few(plan: Plan) -> Iterator[str]:
    runs, wanted = int(plan.chosen.counts.sum()) + plan.done, 3 * (len(plan.request.names) + 1)
    if runs < wanted:
        yield f"too-few-runs: {runs} runs for {len(plan.request.names)} domains, 3 (K + 1) = {wanted}"


def _small(plan: Plan) -> Iterator[str]:
    small = [s.label for s in _used(plan) if s.effective < SMALLEST_PROXY]
    if small:
        yield f"small-proxies: {', '.join(small)}, below {human(SMALLEST_PROXY)}: rankings may not carry over"


def _far(plan: Plan) -> Iterator[str]:
    target, largest = plan.request.target, max(s.effective for s in _used(plan))
    if target.effective > FURTHEST_TARGET * largest:
        yield (
            f"far-target: {size_label(target.params, target.active)} is {target.effective / largest:.0f} times the "
            f"largest proxy, {human(largest)}; more than {FURTHEST_TARGET:g} times is beyond what has been tested"
        )


def _epochs(plan: Plan) -> Iterator[str]:
    """Domains that the target repeats and the proxies do not, at natural shares."""
    natural = plan.request.natural()
    longest = max(s.tokens[-1] for s in _used(plan))
    unlike = []
    for name, share in zip(plan.request.names, natural, strict=True):
        supply = plan.request.domains.get(name).available_tokens
        if supply is None:
            continue
        target, proxy = share * plan.request.target.tokens / supply, share * longest / supply
        if target > REPEATED and target > UNLIKE_EPOCHS * max(proxy, 1.0):
            unlike.append(f"{name} {target:.1f} (proxies {proxy:.2g})")
    if unlike:
        yield (
            f"unlike-epochs: passes at natural shares at the target: {', '.join(unlike)}. Proxies see those tokens "
            "fresh: their worth will look too good."
        )


def _one_size(plan: Plan) -> Iterator[str]:
    used = _used(plan)
    if len(used) < 2 and not plan.done:
        labels = [s.label for s in plan.request.sizes]
        yield f"one-size: {described(plan.chosen.counts.tolist(), labels)}: nothing to extrapolate from in size"
