"""The critical mixture ratio as tables, one a question, and as lines of text."""

from __future__ import annotations

import math
from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

from mixlaw.cmr import Report
from mixlaw.cmr.forgetting import ShareAnswer
from mixlaw.cmr.result import Answer, SizeReport
from mixlaw.render.tables import percent, table
from mixlaw.units import human

_SAME = 1e-9
_BINDS = {"turning": "turning", "tolerance": "tolerance", "none": "none tested"}


def tables(report: Report) -> list[Table]:
    """One table per question, in the order of a first reading."""
    parts = [ratio_table(report), turning_table(report), sensitivity_table(report), other_table(report)]
    return [part for part in parts if part.row_count]


def ratio_table(report: Report) -> Table:
    """How much of the domain corpus is safe, one row per size and budget."""
    title = f"How much {report.names.domain} is safe: critical mixture ratio"
    columns = ["size", "tokens", "share", "90% interval", "binding", "by tolerance"]
    columns += [f"{report.names.general} above base", f"{report.names.domain} loss"]
    return table(title, columns, map(_ratio_row, report.answers))


def _ratio_row(answer: Answer) -> tuple[str, ...]:
    interval = "-" if math.isnan(answer.low) else f"{100 * answer.low:.1f}-{percent(answer.high)}"
    idle = "tolerance-idle" in answer.flag_names
    level = "≥ " + percent(answer.tolerance_share) if idle else bounded(answer.tolerance_share, answer)
    binds = _BINDS[answer.binding] if answer.answered else "no answer"
    return (answer.label, human(answer.tokens), percent(answer.share), interval, binds, level,
            signed(answer.increment), with_error(answer.domain_loss, answer.domain_error))  # fmt: skip


def turning_table(report: Report) -> Table:
    """When general loss turned in the runs, one row per size and share."""
    title = f"When {report.names.general} loss turns (T0), by share of {report.names.domain}"
    columns = [
        "size",
        "share",
        "runs",
        "T0",
        "T0 lies",
        "highest",
        "at end",
        f"{report.names.domain} at end",
        "back at base",
    ]
    return table(title, columns, (row for size in report.sizes for row in _turning_rows(size)))


def _turning_rows(size: SizeReport) -> Iterable[tuple[str, ...]]:
    for row in size.rows:
        ratio = row.peak / row.last
        shown = "-" if math.isnan(ratio) else human(row.peak) if ratio <= 2 else f">{human(2 * row.last)}"
        shown = f"<{human(row.first)}" if row.peak < row.first else shown
        place = "nowhere" if math.isnan(ratio) else "in the data" if ratio <= 1 else "up to 2x"
        place = "before the data" if row.peak < row.first else place
        place = "beyond 2x" if ratio > 2 else place
        yield (size.data.label, percent(row.share), str(row.runs), shown, place, signed(row.rise),
               signed(row.general), signed(row.domain), _back(row.back, row.last))  # fmt: skip


def _back(tokens: float, last: float) -> str:
    if tokens == 0:
        return "never above"
    if math.isnan(tokens):
        return f">{human(10 * last)}"
    return human(tokens) if tokens <= 2 * last else f">{human(2 * last)}"


def sensitivity_table(report: Report) -> Table:
    """What the answer would be under other weights and forms."""
    answers = [answer for answer in report.answers if answer.answered]
    weights = list(answers[0].by_weight) if answers else []
    forms = [form for form in answers[0].by_form if form != report.options.form] if answers else []
    columns = ["size", "tokens", *("λ = ∞" if math.isinf(w) else f"λ = {w:g}" for w in weights), *forms]
    rows = [
        (
            answer.label,
            human(answer.tokens),
            *(bounded(answer.by_weight[w], answer) for w in weights),
            *(bounded(answer.by_form[f], answer) for f in forms),
            percent(answer.interpolated),
        )
        for answer in answers
    ]
    title = f"Turning test, {report.options.form}, by weight λ of {report.names.general} loss; and by other forms"
    return table(title, [*columns, "two nearest runs"], rows)


def other_table(report: Report) -> Table:
    """Two other questions, whose answers differ by design."""
    forget = percent(report.options.forget, 1 if report.options.forget * 100 % 1 else 0)
    columns = [
        "size",
        "tokens",
        f"forgetting (within {forget} of base)",
        "crossing (at base)",
    ]
    rows = [
        (answer.label, human(answer.tokens), _share(answer.forgetting), _share(answer.crossing))
        for answer in report.answers
        if not math.isnan(answer.forgetting.error) or not math.isnan(answer.crossing.error)
    ]
    title = f"Other questions, other answers: {report.names.general} loss at the budget, turned or not"
    return table(title, columns, rows)


def _share(answer: ShareAnswer) -> str:
    if math.isnan(answer.share):
        return f"none ({answer.note})"
    return f"{percent(answer.share)} ({answer.note})" if answer.note else percent(answer.share)


def recommendations(report: Report) -> list[Text]:
    """What to do, one line per size and budget, then the run worth making and what the sizes support."""
    several = len(report.sizes) > 1
    lines = [f"{answer.label}: {answer.advice}" if several else answer.advice for answer in report.answers]
    runs = {_next(answer): None for answer in report.answers if answer.next_run}
    return [Text(line) for line in (*lines, *runs, report.on_sizes)]


def _next(answer: Answer) -> str:
    run = answer.next_run
    assert run is not None
    return (
        f"Next run worth making for {answer.label} at {human(answer.tokens)}: {human(run.tokens)} tokens at a share of "
        f"{percent(run.share, 0)}; it would narrow the interval from ±{100 * run.before:.1f} to about "
        f"±{100 * run.after:.1f} points."
    )


def doubts(report: Report) -> list[str]:
    """Every flag once, with the sizes and budgets that carry it."""
    found: dict[str, dict[str, None]] = {}
    for size in report.sizes:
        for answer in size.answers:
            for flag in answer.flags:
                where = size.data.label if len(report.sizes) > 1 else ""
                detail = ": ".join(filter(None, (where, flag.detail)))
                found.setdefault(f"{flag.name}|{flag.doubt.value}", {})[detail] = None
    lines = []
    for key, details in found.items():
        name, _, meaning = key.partition("|")
        shown = [detail for detail in details if detail]
        everywhere = {detail for size in report.sizes for detail in (size.data.label,)} == set(shown)
        listed = "" if not shown or everywhere else f" ({'; '.join(shown)})"
        lines.append(f"{name}{listed}: {meaning}")
    return lines


def unanswered(report: Report) -> list[str]:
    """Where there is no ratio, when there is one elsewhere."""
    if not report.answered:
        return []
    several = len(report.sizes) > 1
    missing = [a for a in report.answers if not a.answered]
    where = "; ".join(f"{a.label} at {human(a.tokens)}" if several else human(a.tokens) for a in missing)
    return [f"no answer for {where}: see its recommendation"] if missing else []


def notes(report: Report) -> list[str]:
    """What was left out on the way in."""
    return [f"{size.data.label}: {note}" for size in report.sizes for note in size.data.notes]


def basis_line(report: Report) -> str:
    """What the answers rest on."""
    parts = []
    for size in report.sizes:
        readings = sum(run.readings for run in size.data.curves)
        if not readings:
            parts.append(f"{size.data.label} {len(size.data.runs)} runs without curves")
            continue
        parts.append(
            f"{size.data.label} {len(size.data.curves)} runs, {readings} readings, noise {size.noise:.1e} nats"
        )
    interval = next((size.interval for size in report.sizes if size.interval), "")
    text = f"form {report.options.form}; {'; '.join(parts)}"
    return f"{text}; interval: {interval}" if interval else text


def bounded(share: float, answer: Answer) -> str:
    """A share read off curves; beyond the shares tested only that it lies there, as in ``≥ 75.0%``."""
    tested = answer.peaks
    if tested and share > max(tested) + _SAME:
        return f"≥ {percent(max(tested))}"
    if tested and share < min(tested) - _SAME:
        return f"≤ {percent(min(tested))}"
    return percent(share)


def signed(value: float) -> str:
    """An increment in nats with its sign; a dash for a missing one."""
    return "-" if math.isnan(value) else f"{value:+.4f}"


def with_error(value: float, error: float) -> str:
    """A loss with the error of its law on a share left out; a dash for a missing one."""
    if math.isnan(value):
        return "-"
    return f"{value:.3f}" if math.isnan(error) else f"{value:.3f}±{error:.3f}"
