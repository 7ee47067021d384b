"""The sections below the answers: tables that the commands print, pictures, and the words between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

import numpy as np
from rich.table import Table

from mixlaw.benchmark import curves
from mixlaw.fits import FitSet
from mixlaw.flags import Flag
from mixlaw.render.benchmark import accuracy_table, curve_table
from mixlaw.render.compare import comparison_table, target_table, verdict
from mixlaw.render.fit import choice_lines, fit_table, parameter_table
from mixlaw.render.mixture import mixture_table, remarks, scale_table, standing_table, term_table
from mixlaw.render.predict import prediction_table
from mixlaw.render.report.content import Report
from mixlaw.render.report.figures import MISSING
from mixlaw.render.report.markup import Markup, element, join, listing, table
from mixlaw.render.report.top import helpful_line
from mixlaw.render.tables import percent
from mixlaw.render.tables import table as rich_table
from mixlaw.units import human, shorten

TITLES = {
    "mixture": "Mixture and evidence", "losses": "Predicted losses", "held-out": "Held-out comparison",
    "laws": "Laws and weights", "benchmarks": "Benchmarks", "data": "Data", "flags": "Flags", "commands": "Commands",
}  # fmt: skip
"""Sections in the order of the page, by the id that links name."""


def sections(report: Report, drawn: Mapping[str, Markup]) -> dict[str, Markup]:
    """The content of every section that has any, by its id."""
    made = {
        "mixture": _mixture(report, drawn),
        "losses": _losses(report),
        "held-out": _held_out(report, drawn),
        "laws": _laws(report.fits),
        "benchmarks": _benchmarks(report),
        "data": _data(report.fits),
        "flags": _flags(report),
        "commands": _commands(report),
    }
    return {name: content for name, content in made.items() if content}


def _mixture(report: Report, drawn: Mapping[str, Markup]) -> Markup:
    choice = report.choice
    said = [line[0].upper() + line[1:] for line in remarks(choice) if not line.startswith("flag ")]
    parts = [table(mixture_table(choice)), table(standing_table(choice)), listing([*said, helpful_line(report)])]
    if report.scales:
        parts.append(table(scale_table(choice, list(report.scales))))
    parts += [drawn[name] for name in ("slices", "response") if name in drawn]
    return join([*parts, *([] if drawn else [element("p", MISSING)])])


def _losses(report: Report) -> Markup:
    choice = report.choice
    whose = "incumbent" if choice.keep else "proposal"
    title = f"Predicted loss of the recommended mixture (the {whose}), 90 % intervals"
    against = table(term_table(choice), title="Predicted, the proposal beside other mixtures")
    return join([table(prediction_table(choice.predicted, choice.fits.units), title=title), against])


def _held_out(report: Report, drawn: Mapping[str, Markup]) -> Markup:
    found = report.comparison
    if found is None:
        return element("p", f"None: {report.no_comparison}")
    told = [
        "error: mean relative error at the last checkpoint; pairs: share of pairs of runs in the right order; regret: "
        "loss given up by picking the held-out mixture that the law puts first; optimism: how much too low it predicts "
        "the runs that it puts first; par.: parameters per target."
    ]
    judged = max((len(row.scores) for row in found.rows), default=0)
    if judged < len(report.fits.targets):
        told.append(f"Judged on {judged} of {len(report.fits.targets)} targets, evenly spaced among them.")
    tables = [table(comparison_table(found), without=["time"]), listing(verdict(found)), table(target_table(found))]
    return join([*tables, *(element("p", text, class_="under") for text in told), drawn.get("predicted", "")])


def _laws(fits: FitSet) -> Markup:
    open_to_see = element("details", element("summary", "Every parameter"), table(parameter_table(fits)))
    return join([listing(_sentence(line) for line in choice_lines(fits)), table(fit_table(fits)), open_to_see])


def _sentence(line: str) -> str:
    return line[0].upper() + line[1:]


def _benchmarks(report: Report) -> Markup:
    found = curves(report.fits)
    if not found:
        return Markup("")
    return join([table(accuracy_table(report.choice.accuracies, found)), table(curve_table(found))])


def _data(fits: FitSet) -> Markup:
    seen = fits.seen
    facts = [
        f"{len(seen.runs)} runs, {len(np.unique(seen.mixtures.round(9), axis=0))} mixtures, {seen.points} rows used",
        f"{len(fits.domains)} domains, {len(fits.targets)} targets",
        f"Fingerprint of the run table: {seen.fingerprint}",
        *(f"Left out: {number} rows, {why}" for why, number in seen.dropped.items()),
        *([] if seen.dropped else ["Nothing was left out"]),
        f"Runs: {shorten(seen.runs, 100)}",
    ]
    return join([listing(facts), table(size_table(fits)), table(domain_table(fits)), table(target_data_table(fits))])


def size_table(fits: FitSet) -> Table:
    """Runs, mixtures and tokens by size."""
    seen = fits.seen
    rows = []
    for size in np.unique(seen.params):  # NaN is one value here
        mine = np.isnan(seen.params) if np.isnan(size) else seen.params == size
        mixtures = len(np.unique(seen.mixtures[mine].round(9), axis=0))
        rows.append((_number(float(size)), int(mine.sum()), mixtures, _spread(seen.tokens[mine])))
    return rich_table("Runs by size", ["parameters", "runs", "mixtures", "tokens at the end"], rows)


def _number(value: float) -> str:
    return human(value) if np.isfinite(value) else "unknown"


def _spread(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> str:
    known = values[np.isfinite(values)]
    if not len(known):
        return "unknown"
    low, high = human(float(known.min())), human(float(known.max()))
    return low if low == high else f"{low} to {high}"


def domain_table(fits: FitSet) -> Table:
    """Shares of each domain over the runs."""
    mixtures = fits.seen.mixtures
    rows = [
        (name, *(percent(float(v)) for v in (column.min(), np.median(column), column.max())), int((column > 0).sum()))
        for name, column in zip(fits.domains, mixtures.T, strict=True)
    ]
    return rich_table("Shares in the runs", ["domain", "smallest", "median", "largest", "runs with it"], rows)


def target_data_table(fits: FitSet) -> Table:
    """Losses measured at the end of the runs, by target."""
    rows = []
    for target in fits.targets:
        known = fits.seen.losses[target][np.isfinite(fits.seen.losses[target])]
        shown = (f"{known.min():.4f}", f"{np.median(known):.4f}", f"{known.max():.4f}") if len(known) else ("-",) * 3
        rows.append((target, len(known), *shown, fits.units[target].value))
    columns = ["target", "runs", "lowest", "median", "highest", "unit"]
    return rich_table("Losses at the end of the runs", columns, rows)


def flag_rows(report: Report) -> list[tuple[str, str, str]]:
    """Every flag with its numeric definition and what it was raised for: of the answer first, then of single fits."""
    rows = [(f.name, f.doubt.value, f.detail or "this answer") for f in report.choice.flags]
    told = {f.doubt for f in report.choice.flags}
    carried: dict[Flag, list[str]] = defaultdict(list)
    for target, members in report.fits.members.items():
        for member in members:
            for flag in member.fit.flags:
                detail = f": {flag.detail}" if flag.detail else ""
                carried[Flag(flag.doubt)].append(f"{target} ({member.fit.form}{detail})")
    rows += [(f.name, f.doubt.value, shorten(where, 12)) for f, where in carried.items() if f.doubt not in told]
    return rows


def _flags(report: Report) -> Markup:
    """Every flag with its definition, and where it was raised."""
    parts = [
        part
        for name, definition, where in flag_rows(report)
        for part in (element("dt", name), element("dd", definition), element("dd", f"Here: {where}", class_="under"))
    ]
    return element("dl", *parts) if parts else element("p", "No flag was raised.")


def _commands(report: Report) -> Markup:
    parts: list[Markup] = []
    for title, line in report.commands.items():
        parts.append(element("p", title))
        parts += [element("pre", element("code", line))] if line else []
    return join([*parts, element("p", f"mixlaw {report.version} (mixlaw --version)")])


def names(made: Mapping[str, Markup]) -> Iterator[tuple[str, str]]:
    """Ids and titles of the sections that are there, in order."""
    return ((name, title) for name, title in TITLES.items() if name in made)
