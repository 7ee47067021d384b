"""Does predict-cmr hold on real runs that it has not seen? `python tests/bench/bench_cmr_real.py [--draws 500]`.

sample_runs/continual has runs at German shares of 1/8, 1/4, 1/3, 1/2 and 3/4 at two sizes. Each share is withheld in
turn; from the others the command's fit predicts, at the withheld share, general (English) loss above base at four
budgets, its turning point T0, and whether the share is safe: turned, and within 0.05 nats. For 3/4 that reaches beyond
the shares tested (1/8 to 1/2), for 1/8 below them (1/4 to 3/4). What was measured is the withheld run itself, smoothed
without a law: a straight line in ln T through the readings around the budget, weighted by their distance (tricube).

An interval is of the curve at a share: it carries the noise of readings, what tested shares leave open about others and
the law's shape, not that another seed would give another run. "covered" is of the smoothed measurement by that
interval; "with noise" adds the standard error of the measurement. A verdict whose measurement is within 1.64 standard
errors of the limit, or of the turn, is unclear.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from rich.console import Console

from mixlaw.cmr import CmrOptions, Names, predict_cmr, read_sizes
from mixlaw.cmr.data import CptRun, SizeData
from mixlaw.cmr.interval import Z90, interval
from mixlaw.cmr.model import SizeModel
from mixlaw.cmr.splines import spline_matrix
from mixlaw.logs import IngestOptions, read_runs
from mixlaw.render.tables import percent, table
from mixlaw.units import human

RUNS = Path(__file__).resolve().parents[2] / "sample_runs" / "continual"
NAMES = Names("english", "german")
BUDGETS = (124_928.0, 249_856.0, 499_712.0, 999_424.0)
TOLERANCE = 0.05
NEIGHBOURS = 7
SEEDS = 200
FIRST_TURN = 60_000.0
"""T0 is looked for from here on: before, the first steps of warm-up rule."""


def smoothed(tokens: np.ndarray, loss: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Weights of a local straight line in ln T at some tokens, shape (m, n): values are ``weights @ loss``."""
    z, goal = np.log(tokens), np.log(at)
    rows = []
    for place in goal:
        far = np.abs(z - place)
        reach = np.sort(far)[NEIGHBOURS - 1] * 1.001
        weight = np.clip(1 - (far / reach) ** 3, 0, None) ** 3
        design = np.stack([np.ones_like(z), z - place], axis=1)
        rows.append(np.linalg.solve((design * weight[:, None]).T @ design, (design * weight[:, None]).T)[0])
    return np.array(rows)


@dataclass(frozen=True)
class Measured:
    """A withheld run by itself.

    Attributes:
        above: smoothed general loss above base at the budgets, shape (4,).
        error: standard error of each, shape (4,).
        turn: tokens at which the smoothed loss is highest.
        turn_low: 5 % quantile of it over runs with redrawn residuals.
        turn_high: 95 % quantile.
    """

    above: np.ndarray
    error: np.ndarray
    turn: float
    turn_low: float
    turn_high: float

    @classmethod
    def of(cls, run: CptRun, base: float) -> Measured:
        loss, rng = run.general - base, np.random.default_rng(0)
        there = smoothed(run.tokens, loss, run.tokens)
        rest = loss - there @ loss
        noise = float(np.sqrt((rest**2).sum() / (len(loss) - np.trace(there))))
        weights = smoothed(run.tokens, loss, np.array(BUDGETS))
        ahead = np.geomspace(FIRST_TURN, run.tokens[-1], 300)
        curve = smoothed(run.tokens, loss, ahead)
        again = there @ loss + noise * rng.standard_normal((SEEDS, len(loss)))
        turns = ahead[np.argmax(again @ curve.T, axis=1)]
        low, high = np.quantile(turns, [0.05, 0.95])
        own = float(ahead[np.argmax(curve @ loss)])
        return cls(weights @ loss, noise * np.sqrt((weights**2).sum(axis=1)), own, min(low, own), max(high, own))

    def within(self, index: int) -> bool | None:
        gap = self.above[index] - TOLERANCE
        return None if abs(gap) < Z90 * self.error[index] else bool(gap <= 0)

    def turned(self, index: int) -> bool | None:
        budget = BUDGETS[index]
        return None if self.turn_low < budget < self.turn_high else self.turn <= budget

    def safe(self, index: int) -> bool | None:
        tests = (self.turned(index), self.within(index))
        return False if False in tests else None if None in tests else True


@dataclass(frozen=True)
class Predicted:
    """A number with its interval."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, values: np.ndarray, refits: np.ndarray) -> Predicted:
        found = interval(float(values[0]), values[1:], refits[1:], within=(-np.inf, np.inf))
        return cls(float(values[0]), found.low, found.high)

    def covers(self, truth: float, error: float = 0.0) -> bool:
        low = self.value - np.hypot(self.value - self.low, Z90 * error)
        high = self.value + np.hypot(self.high - self.value, Z90 * error)
        return bool(low <= truth <= high)


@dataclass(frozen=True)
class Case:
    """One withheld share of one size.

    Attributes:
        size: of the models.
        share: withheld.
        edge: it lies outside the shares that were kept.
        above: general loss above base at the budgets.
        turn: T0 in tokens.
        answers: the command's share at each budget.
        measured: the withheld run.
    """

    size: SizeData
    share: float
    edge: bool
    above: tuple[Predicted, ...]
    turn: Predicted
    answers: tuple[float, ...]
    measured: Measured

    def safe(self, index: int) -> bool | None:
        """What the command says of the withheld share; None where it stops at the largest share tested."""
        answer = self.answers[index]
        largest = max(run.share for run in self.size.runs)
        if self.share > largest and answer >= largest:
            return None
        return bool(np.isfinite(answer) and self.share <= answer)


def case(size: SizeData, share: float, draws: int) -> Case:
    kept = replace(size, runs=tuple(run for run in size.runs if run.share != share))
    withheld = next(run for run in size.runs if run.share == share)
    model = SizeModel.fit(kept, form="surface", draws=draws, rng=np.random.default_rng(0))
    assert model.refitted is not None
    both = (model, model.refitted)
    place = spline_matrix(model.shares, np.array([share]))[0]
    z = np.log(np.array(BUDGETS) / kept.longest)
    curves = [one.increments_at(share, z) for one in both]
    turns = [kept.longest * np.exp(turning_at(one, share, place)) for one in both]
    report = predict_cmr([kept], NAMES, BUDGETS, options=CmrOptions(draws=0))
    return Case(
        kept, share, not model.shares[0] < share < model.shares[-1],
        tuple(Predicted.of(curves[0][:, i], curves[1][:, i]) for i in range(len(BUDGETS))),
        Predicted.of(*turns), tuple(a.share for a in report.answers), Measured.of(withheld, size.base_general),
    )  # fmt: skip


def turning_at(model: SizeModel, share: float, place: np.ndarray) -> np.ndarray:
    """ln(T0 / longest run) at a share, by draw."""
    gap = model.samples.theta[..., 1]
    return gap @ place + (model.between.of_turn_at(share, gap) if model.between else 0.0)


def losses(cases: list[Case]) -> list[tuple[str, ...]]:
    rows = []
    for one in cases:
        for i, budget in enumerate(BUDGETS):
            found, truth, error = one.above[i], one.measured.above[i], one.measured.error[i]
            rows.append(
                (percent(one.share), one.size.label, human(budget),
                 f"{found.value:+.4f} [{found.low:+.4f}, {found.high:+.4f}]", f"{truth:+.4f}±{error:.4f}",
                 f"{1e3 * (found.value - truth):+.1f}", word(found.covers(truth)), word(found.covers(truth, error)),
                 percent(one.answers[i]), word(one.safe(i)), word(one.measured.safe(i)))
            )  # fmt: skip
    return rows


def word(value: bool | None) -> str:
    return {True: "yes", False: "no", None: "?"}[value]


def turning(cases: list[Case]) -> list[tuple[str, ...]]:
    return [
        (percent(c.share), c.size.label, f"{human(c.turn.value)} [{human(c.turn.low)}, {human(c.turn.high)}]",
         f"{human(c.measured.turn)} [{human(c.measured.turn_low)}, {human(c.measured.turn_high)}]",
         f"{c.turn.value / c.measured.turn:.2f}", word(c.turn.covers(c.measured.turn)),
         word(c.turn.low <= c.measured.turn_high and c.measured.turn_low <= c.turn.high))
        for c in cases
    ]  # fmt: skip


def summary(cases: list[Case], name: str) -> str:
    pairs = [(c, i) for c in cases for i in range(len(BUDGETS))]
    errors = np.array([c.above[i].value - c.measured.above[i] for c, i in pairs])
    covered = [c.above[i].covers(c.measured.above[i]) for c, i in pairs]
    noisy = [c.above[i].covers(c.measured.above[i], c.measured.error[i]) for c, i in pairs]
    verdicts = [(c.safe(i), c.measured.safe(i)) for c, i in pairs]
    clear = [(said, true) for said, true in verdicts if said is not None and true is not None]
    ratios = np.array([c.turn.value / c.measured.turn for c in cases])
    turns = sum(c.turn.covers(c.measured.turn) for c in cases)
    right = sum(said == true for said, true in clear)
    risky, timid = sum(said and not true for said, true in clear), sum(true and not said for said, true in clear)
    return (
        f"{name}: loss above base off by {1e3 * np.abs(errors).mean():.1f} thousandths of a nat on average "
        f"(at most {1e3 * np.abs(errors).max():.1f}), covered {sum(covered)} of {len(pairs)}, with noise {sum(noisy)}; "
        f"T0 off by {100 * np.abs(np.log(ratios)).mean():.0f} % on average, covered {turns} of {len(cases)}; "
        f"verdicts right {right} of {len(clear)} clear ones (said safe and was not: {risky}; said unsafe and was safe: "
        f"{timid}; {len(pairs) - len(clear)} unclear)\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=500)
    draws = parser.parse_args().draws
    sizes = read_sizes(read_runs(RUNS, options=IngestOptions(keep_start=True, skip=("*-base",))), NAMES)
    shares = sorted({run.share for run in sizes[0].runs}, reverse=True)
    cases = [case(size, share, draws) for share in shares for size in sizes]
    console = Console(width=150, highlight=False)
    columns = ["withheld", "size", "budget", "predicted above base [90 %]", "measured", "off (1e-3)", "covered",
               "with noise", "answer", "said safe", "was safe"]  # fmt: skip
    console.print(table("English loss above base at the withheld share", columns, losses(cases)))
    columns = ["withheld", "size", "predicted T0 [90 %]", "measured T0 [90 %]", "ratio", "covered", "overlap"]
    console.print(table("Turning point at the withheld share", columns, turning(cases)))
    sys.stdout.write(summary([c for c in cases if not c.edge], "between tested shares"))
    sys.stdout.write(summary([c for c in cases if c.edge and c.share > 0.5], "above them (3/4)"))
    sys.stdout.write(summary([c for c in cases if c.edge and c.share < 0.5], "below them (1/8)"))


if __name__ == "__main__":
    main()
