"""What a run costs: model sizes, token counts, FLOPs, and prices that a user knows better."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mixlaw.errors import UsageError
from mixlaw.units import human, parse_positive

FLOPS_PER_PARAMETER_AND_TOKEN = 6.0
SAME_SIZE = 1.05
"""Parameters within this factor are one size, written differently."""
_EXPERTS = re.compile(r"^(?P<total>[^/]+?)-?[aA](?P<active>\d[\w.]*)$")


@dataclass(frozen=True)
class Scale:
    """Parameters and tokens of a run that is to be predicted, not bought.

    Attributes:
        params: all parameters.
        tokens: training tokens.
        active: parameters that a token meets, where they are fewer (mixture of experts).
    """

    params: float
    tokens: float
    active: float | None = None

    @property
    def effective(self) -> float:
        """The parameters that laws and FLOPs count."""
        return self.active or self.params


@dataclass(frozen=True)
class Size:
    """A model size that runs can have.

    Attributes:
        params: all parameters.
        tokens: token counts at which a run of this size is read, ascending; the run trains to the last, and the
            earlier ones are checkpoints on the way that cost nothing.
        active: parameters that a token meets, where they are fewer (mixture of experts).
        price: what one run costs in the unit of the budget; None counts FLOPs.
    """

    params: float
    tokens: tuple[float, ...]
    active: float | None = None
    price: float | None = None

    @property
    def effective(self) -> float:
        """The parameters that laws and FLOPs count."""
        return self.active or self.params

    @property
    def flops(self) -> float:
        """Training FLOPs of one run, 6 N D."""
        return FLOPS_PER_PARAMETER_AND_TOKEN * self.effective * self.tokens[-1]

    @property
    def cost(self) -> float:
        """What one run takes from the budget."""
        return self.flops if self.price is None else self.price

    @property
    def label(self) -> str:
        """Name for tables and runs, as in ``150M``."""
        return size_label(self.params, self.active)


def size_label(params: float, active: float | None) -> str:
    """``7B``, or ``7B-A1B`` where fewer parameters are active."""
    return human(params) if active is None else f"{human(params)}-A{human(active)}"


def parse_size(text: str, *, name: str = "--sizes") -> tuple[float, float | None]:
    """Read ``150M`` or, for mixtures of experts, ``7B-A1B``: all and active parameters.

    Raises:
        UsageError: when more parameters are active than there are.
    """
    match = _EXPERTS.match(text.strip())
    if match is None:
        return parse_positive(text, name=name), None
    total, active = parse_positive(match["total"], name=name), parse_positive(match["active"], name=name)
    if active > total:
        raise UsageError(f"{name} with at most as many active parameters as there are", text)
    return total, active


def parse_pairs(text: str | None, *, name: str) -> dict[str, str]:
    """Read ``60M=1.2B,150M=3B`` as a mapping, values as text.

    Raises:
        UsageError: for a part without an equals sign.
    """
    pairs = {}
    for part in filter(str.strip, (text or "").split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            raise UsageError(f"{name} size=number,...", repr(part))
        pairs[key.strip()] = value.strip()
    return pairs


def _as_known(params: float, active: float | None, known: Sequence[float]) -> tuple[float, float | None]:
    """The size of runs that are there, where one is that near; sizes of mixtures of experts stay as they are."""
    near = [k for k in known if max(k / params, params / k) <= SAME_SIZE]
    return (min(near, key=lambda k: abs(k - params)), None) if near and active is None else (params, active)


def build_sizes(
    names: Sequence[str],
    *,
    per_param: Sequence[float],
    tokens: Mapping[str, str],
    prices: Mapping[str, str],
    known: Sequence[float] = (),
) -> tuple[Size, ...]:
    """Sizes from what a user writes, ascending.

    Args:
        names: sizes as in ``150M`` or ``7B-A1B``.
        per_param: tokens per (active) parameter; several are checkpoints of one run.
        tokens: token counts by size where they are not that; several with slashes, ``1B/3B``.
        prices: cost of one run by size.
        known: (active) parameters of runs that are there; a size within ``SAME_SIZE`` of one is that size.

    Raises:
        UsageError: for a size named in ``tokens`` or ``prices`` only, doubled, or without a price where others have
            one.
    """
    parsed = {name.strip(): _as_known(*parse_size(name), known) for name in names}
    for option, given in (("--tokens", tokens), ("--price", prices)):
        unknown = sorted(set(given) - set(parsed))
        if unknown:
            raise UsageError(f"{option} for sizes among {', '.join(parsed)}", ", ".join(unknown))
    if prices and set(prices) != set(parsed):
        raise UsageError("--price for every size", f"none for {', '.join(sorted(set(parsed) - set(prices)))}")
    sizes = []
    for name, (params, active) in parsed.items():
        counts = [parse_positive(t, name="--tokens") for t in tokens.get(name, "").split("/") if t.strip()]
        counts = counts or [ratio * (active or params) for ratio in per_param]
        price = parse_positive(prices[name], name="--price") if prices else None
        sizes.append(Size(params, tuple(sorted(set(counts))), active, price))
    sizes.sort(key=lambda size: size.effective)
    if not sizes or len({size.effective for size in sizes}) < len(names):
        raise UsageError("--sizes with different sizes, such as 60M,150M,400M", ",".join(names) or "none")
    return tuple(sizes)
