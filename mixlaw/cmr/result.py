"""What ``predict-cmr`` answers: plain containers that rendering, files and tests read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mixlaw.cmr.data import Names, SizeData
from mixlaw.cmr.flags import Flag
from mixlaw.cmr.forgetting import ShareAnswer
from mixlaw.cmr.model import FORMS, LAW_UNIT, CmrLaw, Form
from mixlaw.errors import FitError, InputError, UsageError
from mixlaw.units import human, parse_positive

Floats = NDArray[np.float64]
Binding = Literal["turning", "tolerance", "none"]


@dataclass(frozen=True)
class Tolerance:
    """How much general loss may rise: in nats, or as a part of the base model's loss.

    Attributes:
        value: nats, or a part of 1 where ``relative``.
        relative: of the base model's loss.
    """

    value: float = 0.05
    relative: bool = False

    @classmethod
    def parse(cls, text: str, *, name: str = "--tolerance") -> Tolerance:
        """Read ``0.05`` (nats) or ``3%`` (of the base loss).

        Raises:
            InputError: when it is no positive number.
        """
        bare = text.strip()
        if bare.endswith("%"):
            return cls(parse_positive(bare[:-1], name=name) / 100, relative=True)
        value = parse_positive(bare, name=name)
        if value >= 1:
            raise InputError(f"{name} in nats (0.05) or per cent (3%)", repr(text))
        return cls(value)

    def nats(self, base: float) -> float:
        """The tolerance in nats."""
        return self.value * base if self.relative else self.value

    def __str__(self) -> str:
        return f"{self.value:.3g} nats" if not self.relative else f"{self.value:.3%} of base".replace(".000%", "%")


@dataclass(frozen=True)
class CmrOptions:
    """How to answer.

    Attributes:
        form: whose answer is the answer.
        tolerance: of the level test.
        weight: lambda, of general loss against domain loss in the turning test.
        weights: lambdas shown beside it.
        draws: for the interval; 0 for none.
        forget: forgetting budget, as a part of the base model's loss.
        curves: keep the fitted curves for pictures.
        seed: of the draws and of starting points.
    """

    form: Form = "surface"
    tolerance: Tolerance = field(default_factory=Tolerance)
    weight: float = math.inf
    weights: tuple[float, ...] = (100.0, 1000.0, 10000.0, math.inf)
    draws: int = 500
    forget: float = 0.03
    curves: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise UsageError(f"--form among {', '.join(FORMS)}", repr(self.form))
        if not self.weight > 0:
            raise InputError("--weight above 0", f"{self.weight:g}")
        if self.draws < 0 or self.draws == 1:
            raise InputError("--bootstrap of 0 (no interval) or at least 2", str(self.draws))


@dataclass(frozen=True)
class NextRun:
    """The run that narrows an answer's interval most per token.

    Attributes:
        share: of the domain.
        tokens: to train.
        before: half-width of the 90 % interval now, as a share.
        after: half-width expected with the run.
    """

    share: float
    tokens: float
    before: float
    after: float


@dataclass(frozen=True)
class ShareRow:
    """What one tested share did.

    Attributes:
        share: of the domain.
        runs: with this share.
        first: tokens of the first reading.
        last: tokens of the longest.
        peak: T0 in tokens, NaN where there is none.
        rise: highest increment of general loss along the fitted curve up to ``last``, nats.
        general: increment of general loss at ``last`` by the fitted curve, nats.
        domain: increment of domain loss at ``last``, nats; NaN where unknown.
        back: tokens at which general loss is back at the base model's, 0 where it never was above it, NaN where not
            within 10 times the longest run.
    """

    share: float
    runs: int
    first: float
    last: float
    peak: float
    rise: float
    general: float
    domain: float
    back: float


@dataclass(frozen=True)
class Answer:
    """The critical mixture ratio of one size at one budget.

    Attributes:
        params: model size, NaN where the table does not say.
        label: the size for people.
        tokens: the budget.
        share: the ratio, NaN where there is no answer.
        low: 5 % quantile of the draws, NaN without draws.
        high: 95 % quantile.
        binding: the test that stops the share from growing.
        turning_share: largest share that has turned, NaN where unknown.
        tolerance_share: largest share within the tolerance (the largest tested where none exceeds it).
        extrapolated: what the law reads beyond twice the data, where ``share`` is withheld.
        peaks: T0 in tokens by tested share, NaN where there is none.
        flags: doubts.
        by_weight: share by lambda.
        by_form: share by form.
        interpolated: share by a straight line between the two runs around the budget, NaN where there are none.
        law: ``R(T) = a T^s + b`` through the turning points, None below three pairs.
        increment: general loss at the answer and budget above the base model's, nats.
        domain_loss: at the answer and budget, by ``L(R) = a R^s + b``; NaN where unknown.
        domain_error: largest error of that law when a tested share is left out, nats.
        back: tokens at which general loss at the answer is back at the base model's; NaN where not within 10x.
        forgetting: largest share within the forgetting budget.
        crossing: share whose general loss at the budget is the base model's.
        next_run: the run worth making, None where the interval is not from the surface.
        advice: recommendation in plain words.
    """

    params: float
    label: str
    tokens: float
    share: float
    low: float
    high: float
    binding: Binding
    turning_share: float
    tolerance_share: float
    extrapolated: float
    peaks: Mapping[float, float]
    flags: tuple[Flag, ...]
    by_weight: Mapping[float, float]
    by_form: Mapping[str, float]
    interpolated: float
    law: CmrLaw | None
    increment: float
    domain_loss: float
    domain_error: float
    back: float
    forgetting: ShareAnswer
    crossing: ShareAnswer
    next_run: NextRun | None
    advice: str = ""

    @property
    def answered(self) -> bool:
        """Whether there is a share to train with."""
        return math.isfinite(self.share)

    @property
    def flag_names(self) -> tuple[str, ...]:
        """Names of the flags."""
        return tuple(dict.fromkeys(flag.name for flag in self.flags))

    def to_mapping(self) -> dict[str, Any]:
        """The answer as plain data: the contract of ``--json``, then what else is known."""
        nearby = self.next_run
        return {
            "params": self.params,
            "tokens": self.tokens,
            "cmr": self.share,
            "low": self.low,
            "high": self.high,
            "binding": self.binding,
            "tolerance_share": self.tolerance_share,
            "t0": {share_text(s): t for s, t in self.peaks.items()},
            "flags": list(self.flag_names),
            "flag_notes": [str(flag) for flag in self.flags],
            "recommendation": self.advice,
            "turning_share": self.turning_share,
            "extrapolated": self.extrapolated,
            "by_lambda": {"inf" if math.isinf(w) else f"{w:g}": s for w, s in self.by_weight.items()},
            "by_form": dict(self.by_form),
            "interpolated": self.interpolated,
            "cmr_law": None if self.law is None else {**asdict(self.law), "tokens_per_unit": LAW_UNIT},
            "general_increment": self.increment,
            "domain_loss": self.domain_loss,
            "domain_loss_holdout_error": self.domain_error,
            "recovery_tokens": self.back,
            "forgetting_budget": {"share": self.forgetting.share, "note": self.forgetting.note},
            "loss_crossing": {"share": self.crossing.share, "note": self.crossing.note},
            "next_run": None if nearby is None else {"share": nearby.share, "tokens": nearby.tokens,
                                                     "half_width": nearby.before, "expected_half_width": nearby.after},
        }  # fmt: skip


@dataclass(frozen=True)
class Curves:
    """What was fitted, sampled for pictures.

    Attributes:
        shares: tested, shape (n,).
        tokens: along the runs, shape (m,).
        general: increment of general loss by share, shape (n, m).
        domain: increment of domain loss by share, shape (n, m); NaN where unknown.
        law_tokens: budgets, shape (k,).
        law_share: turning share at each, with its 5 % and 95 % quantiles (NaN without draws), shape (3, k).
    """

    shares: Floats
    tokens: Floats
    general: Floats
    domain: Floats
    law_tokens: Floats
    law_share: Floats


@dataclass(frozen=True)
class SizeReport:
    """All answers for one size, and what they rest on.

    Attributes:
        data: the runs.
        rows: what each tested share did.
        noise: standard deviation of a reading of general loss about its curve, nats.
        interval: how the draws were made, empty without.
        answers: one a budget.
        curves: fitted, sampled for pictures; None where not asked for.
    """

    data: SizeData
    rows: tuple[ShareRow, ...]
    noise: float
    interval: str
    answers: tuple[Answer, ...]
    curves: Curves | None = None


@dataclass(frozen=True)
class Report:
    """The answers of all sizes.

    Attributes:
        names: of the corpora.
        options: how they were found.
        sizes: one report a size.
        on_sizes: what the sizes do and do not support.
    """

    names: Names
    options: CmrOptions
    sizes: tuple[SizeReport, ...]
    on_sizes: str

    @property
    def answers(self) -> tuple[Answer, ...]:
        """All answers, sizes in order, budgets within."""
        return tuple(answer for size in self.sizes for answer in size.answers)

    @property
    def answered(self) -> bool:
        """Whether any size has a ratio at any of the budgets."""
        return any(answer.answered for answer in self.answers)

    def need_answer(self) -> None:
        """Refuse to pass for an answer where there is none.

        Raises:
            FitError: when no size has a ratio at any of the budgets.
        """
        if self.answered:
            return
        first = self.answers[0]
        more = len(self.answers) - 1
        got = f"none, for {first.label} at {human(first.tokens)}" + (f" and {more} more" if more else "")
        raise FitError("a critical mixture ratio at one of the budgets at least", got, hint=first.advice)

    def to_mapping(self) -> dict[str, Any]:
        """The content of ``--json``."""
        return {
            "answers": [answer.to_mapping() for answer in self.answers],
            "general": self.names.general,
            "domain": self.names.domain,
            "form": self.options.form,
            "tolerance": {"value": self.options.tolerance.value, "relative": self.options.tolerance.relative},
            "lambda": "inf" if math.isinf(self.options.weight) else self.options.weight,
            "sizes": self.on_sizes,
        }


def share_text(share: float) -> str:
    """A share as it is written in keys: up to four digits, as in ``0.3333``."""
    return f"{share:.4g}"
