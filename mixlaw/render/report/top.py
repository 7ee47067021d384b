"""The top of the page: what to do, how sure that is, and what would change it."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from mixlaw.check.auto import AUTO
from mixlaw.check.compare import Comparison, Row, tied
from mixlaw.fits import GRAVE
from mixlaw.flags import Doubt
from mixlaw.optimize import Choice
from mixlaw.render.advice import advice, in_words
from mixlaw.render.mixture import binding_lines, standing_table
from mixlaw.render.report.content import Report, asked_laws, law_weights
from mixlaw.render.report.markup import Markup, breakable, element, join, listing, table
from mixlaw.render.tables import percent, significant
from mixlaw.units import human, shorten

SHOWN = 12
"""Domains drawn at the top; the rest is in the table below."""
REACHING = (
    Doubt.BEYOND_TESTED_STEP, Doubt.EXTRAPOLATES_SIZE, Doubt.EXTRAPOLATES_TOKENS, Doubt.BELOW_DATA,
    Doubt.EXTRAPOLATES_MIXTURE, Doubt.FAR_FROM_RUNS, Doubt.MIXED_UNITS,
    Doubt.BASELINE_EXTRAPOLATES, Doubt.REPEATS_MORE, Doubt.SIZE_NOT_IN_LAW, Doubt.TOKENS_NOT_IN_LAW,
    Doubt.SEARCH_UNFINISHED,
)  # fmt: skip
"""Doubts that come from what is asked and not from the fits."""
VERDICT = (Doubt.NOT_CALIBRATED, Doubt.SMALL_GAIN)
"""Doubts about the verdict itself, beside the grave ones of the fits."""
NULL = "chinchilla"
"""The law that knows size and tokens only."""
REFERENCES = ("joint", "additive", NULL)
"""Laws of the literature that every comparison holds beside the others."""


def answers(report: Report) -> Markup:
    """Three boxes that can be read in ten seconds."""
    choice = report.choice
    gains = standing_table(choice)
    shown = ["mixture", "verdict", "P(gain)", "proposal gains (90 %)"]
    rule = table(gains, title="What the proposal gains", only=shown, skip=1)
    doing = [element("p", advice(choice), class_="say"), _bars(choice), rule]
    sure = [element("p", _accuracy(report), class_="say"), listing(_certainty(report)), _grave(choice)]
    change = [element("p", _reach(choice), class_="say"), listing(_changes(report)), _reaching(choice)]
    boxes = (
        ("do", "What to do", doing),
        ("sure", "How sure that is", sure),
        ("change", "What would change it", change),
    )
    return element(
        "div",
        *(
            element("section", element("h2", title, id=f"{key}-title"), *parts, aria_labelledby=f"{key}-title")
            for key, title, parts in boxes
        ),
        class_="answers",
    )


def _bars(choice: Choice) -> Markup:
    """The recommended mixture, the largest share first, with what is within the noise of one run of the proposal."""
    order = np.argsort(-choice.mixture, kind="stable")[:SHOWN]
    domains = [choice.fits.domains[i] for i in order]
    ranges = [choice.ranges[name] for name in domains]
    most = max([float(choice.mixture.max()), *(r.high for r in ranges)])
    rows = []
    for index, name, reach in zip(order, domains, ranges, strict=True):
        share = float(choice.mixture[index])
        track = element(
            "div", _span("fill", 0.0, share / most), _span("reach", reach.low / most, reach.high / most),
            class_="track", aria_hidden="true",
        )  # fmt: skip
        cells = [
            element("th", element("span", breakable(name), class_="name"), scope="row"),
            element("td", track, class_="bar"),
        ]
        rows.append(element("tr", *cells, element("td", percent(share), class_="number")))
    line = "within noise of the proposal" if choice.keep else "within noise"
    heads = [element("th", text, scope="col") for text in ("domain", f"share of tokens (line: {line})")]
    head = element("thead", element("tr", *heads, element("th", "share", scope="col", class_="number")))
    rest = len(choice.fits.domains) - len(order)
    more = (
        element("p", f"and {rest} more with at most {percent(float(choice.mixture[order[-1]]))} each") if rest else ""
    )
    return join([element("table", head, element("tbody", *rows), class_="bars"), more])


def _span(kind: str, start: float, end: float) -> Markup:
    left, width = 100 * start, 100 * max(0.0, end - start)
    return element("span", class_=kind, style=f"left:{left:.1f}%;width:{width:.1f}%")


def _accuracy(report: Report) -> str:
    """Held-out error of what made the recommendation, in the best evidence there is."""
    row = own_row(report)
    if row is not None and report.comparison is not None:
        held = f"{_runs(report.comparison.runs)} it had not seen ({report.comparison.held_out})"
        return f"{row.name} misses by {percent(row.error, 2)} on {held}."
    if report.comparison is not None and (rows := member_rows(report)):
        held = f"{_runs(report.comparison.runs)} they had not seen ({report.comparison.held_out})"
        return f"Its laws miss by {_between([row.error for row in rows])} on {held}."
    found = report.fits.evidence.get("choice")
    if isinstance(found, dict) and found["errors"]:
        used = {name: found["errors"][name] for name in found["weights"] if name in found["errors"]}
        off = _between(list(used.values()))
        return f"Its laws miss by {off} on what was held out while they were chosen ({found['held_out']})."
    return f"Unknown, nothing was held out: {report.no_comparison}."


def _between(errors: list[float]) -> str:
    low, high = percent(min(errors), 2), percent(max(errors), 2)
    return low if low == high else f"{low} to {high} each"


def _runs(number: int) -> str:
    return f"{number} run" if number == 1 else f"{number} runs"


def own_row(report: Report) -> Row | None:
    """The row of a comparison that stands for the fits: ``auto``, or their one law."""
    if report.comparison is None:
        return None
    asked = asked_laws(report.fits)
    name = AUTO if "choice" in report.fits.evidence else asked[0] if len(asked) == 1 else ""
    rows = [r for r in report.comparison.rows if r.name == name and math.isfinite(r.error)]
    return rows[0] if rows else None


def member_rows(report: Report) -> list[Row]:
    """The rows of a comparison that are laws of the fits, each by itself."""
    names = asked_laws(report.fits)
    rows = () if report.comparison is None else report.comparison.rows
    return [r for r in rows if r.name in names and math.isfinite(r.error)]


def _certainty(report: Report) -> Iterator[str]:
    fits = report.fits
    if report.comparison is not None:
        yield from _against(report, report.comparison)
    calibration = fits.evidence.get("calibration")
    if isinstance(calibration, dict) and calibration["losses"]:
        yield (
            f"90 % intervals covered {percent(calibration['achieved'], 0)} of {calibration['losses']} held-out losses "
            f"and are {_widened(calibration['widened_by'])}"
        )
        if calibration.get("contrasts"):
            yield (
                f"Those of gains covered {percent(calibration['achieved_contrasts'], 0)} of {calibration['contrasts']} "
                f"held-out differences between mixtures and are {_widened(calibration['contrasts_widened_by'])}"
            )
    else:
        origin = "a bootstrap, not calibrated" if fits.bootstrapped else "parameter covariances alone"
        yield f"90 % intervals come from {origin}; mixlaw fit --bootstrap 100 calibrates them"
    weights = law_weights(fits)
    listed = shorten([f"{name} {weights[name]:.2f}" for name in report.laws], 3)
    yield f"{len(weights)} laws by weight: {listed}" if len(weights) > 1 else f"One law: {report.laws[0]}"
    seen = fits.seen
    yield _runs(len(seen.runs)) + _extent(seen.params, " parameters") + _extent(seen.tokens, " tokens")
    yield f"One run scatters by {significant(report.choice.noise, 2)} in the objective (from residuals)"


def _widened(factor: float) -> str:
    return "left as they are" if round(factor, 2) == 1 else f"widened by {factor:.2f}"


def _extent(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]], word: str) -> str:
    known = values[np.isfinite(values)]
    if not len(known):
        return ""
    low, high = human(float(known.min())), human(float(known.max()))
    return f", {low if low == high else f'{low} to {high}'}{word}"


def _against(report: Report, found: Comparison) -> Iterator[str]:
    """Other laws on the same runs."""
    own = own_row(report)
    rows = [r for r in found.rows if math.isfinite(r.error) and r.name in REFERENCES and r is not own]
    if rows:
        yield "On the same runs: " + ", ".join(f"{r.name} {percent(r.error, 2)}" for r in rows)
    if own is not None and any(r.name == NULL and (r.error <= own.error or tied(own, r)) for r in rows):
        yield f"No better than {NULL}, a law without the mixture: these runs do not show that mixtures are told apart"
    if found.noise is not None:
        yield f"A perfect law would miss by {percent(found.noise.floor, 2)}: repeated runs scatter as much"
    if own is not None and math.isfinite(own.decision.regret):
        yield f"Its choice among the held-out mixtures costs {own.decision.regret:.4f} against the best of them"


def _grave(choice: Choice) -> Markup:
    """Flags of the fits that bear on every answer, and those on the verdict."""
    found = [f"{f.name}: {f.doubt.value}" for f in choice.flags if f.doubt in GRAVE]
    found += [str(f) for f in choice.flags if f.doubt in VERDICT]
    items = [element("li", text, class_="doubt") for text in found]
    return element("ul", *items) if items else element("p", "No grave flag on the fits.")


def _reach(choice: Choice) -> str:
    """How far from the data the answer lies."""
    seen, parts = choice.fits.seen, []
    for value, known, word in (
        (choice.request.scale.params, seen.params, "size"), (choice.request.scale.tokens, seen.tokens, "token count"),
    ):  # fmt: skip
        if value is not None and np.isfinite(known).any():
            times = value / float(np.nanmax(known))
            within = 0.98 <= times <= 1.02
            parts.append(f"the largest {word}" if within else f"{times:.2g} times the largest {word}")
    return f"It is for {in_words(parts)} in the data." if parts else "It holds at the scale of the data."


def _changes(report: Report) -> Iterator[str]:
    choice = report.choice
    binding = list(binding_lines(choice))
    yield from (line.capitalize() if line.islower() else line[0].upper() + line[1:] for line in binding)
    if not binding:
        yield _unbound(choice)
    flat = [f"{name} {percent(r.low, 0)} to {percent(r.high, 0)}" for name, r in choice.ranges.items() if r.flat]
    if flat:
        yield f"Free within noise: {shorten(flat, 4)}"
    near = choice.nearest
    yield f"Nearest run: {near.run}, {percent(near.distance, 0)} of the mixture away"
    yield helpful_line(report)


def _unbound(choice: Choice) -> str:
    """That nothing holds the mixture back, and whether the supply of data was asked at all."""
    lacking = [domain for domain, found in choice.epochs.items() if found is None]
    if not lacking:
        return "No limit binds: neither supply nor bounds hold the mixture back"
    unknown = f"--domains with available_tokens of {shorten(lacking, 4)}" if choice.request.scale.tokens else "--tokens"
    return f"No limit binds, but whether there is enough data was not looked at: that takes {unknown}"


def helpful_line(report: Report) -> str:
    """The run worth making next, or why none is named."""
    found = report.helpful
    if found is None:
        return f"Which run would help most is not known: {report.no_helpful}"
    largest = sorted(found.run.mixture.items(), key=lambda item: -item[1])[:4]
    mixture = ", ".join(f"{name} {percent(share, 0)}" for name, share in largest)
    more = ", ..." if len(found.run.mixture) > len(largest) else ""
    run = f"{human(found.run.size.params)} on {human(found.run.size.tokens[-1])} tokens at {mixture}{more}"
    if found.settled:
        return f"No single run is expected to change the choice; most would be learnt from {run}"
    before, after = significant(found.before, 2), significant(found.after, 2)
    if before == after:
        return f"No single run is expected to lower the regret of {before} by much; most would be learnt from {run}"
    return f"The run that would help most: {run}; it lowers the expected regret from {before} to {after}"


def _reaching(choice: Choice) -> Markup:
    """Flags of what was asked."""
    found = [f for f in choice.flags if f.doubt in REACHING]
    items = [element("li", str(f), class_="doubt") for f in found]
    return element("ul", *items) if items else element("p", "No flag on size, tokens or mixture is raised.")
