"""The page as a whole: one HTML file that fetches nothing."""

from __future__ import annotations

from mixlaw.render.report.content import Report
from mixlaw.render.report.figures import pictures
from mixlaw.render.report.markup import Markup, element, join, listing, markup, opening
from mixlaw.render.report.sections import names, sections
from mixlaw.render.report.style import STYLE
from mixlaw.render.report.top import answers
from mixlaw.units import human

NAMED = 8
"""Domains up to which the first line names them."""
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Forbids the browser to fetch or run anything, whatever the page holds."""


def page(report: Report) -> str:
    """The report as HTML; the same report gives the same text."""
    made = sections(report, pictures(report))
    found = list(names(made))
    links = element("nav", *(element("a", title, href=f"#{name}") for name, title in found), aria_label="Sections")
    body = [
        element("header", element("h1", title(report)), element("p", basis(report), class_="under")),
        element("main", _notes(report), answers(report), links, *(_section(n, t, made[n]) for n, t in found)),
        element("footer", f"Made by mixlaw {report.version}. Shares are token shares; losses are predictions."),
    ]
    return f"<!DOCTYPE html>\n{element('html', _head(report), element('body', *body), lang='en')}\n"


def title(report: Report) -> str:
    """What the page is about."""
    scale = report.choice.request.scale
    words = ((scale.params, "parameters"), (scale.tokens, "tokens"))
    parts = [f"{human(value)} {word}" for value, word in words if value is not None]
    return f"Data mixture for {' on '.join(parts)}" if parts else "Data mixture at the scale of the data"


def basis(report: Report) -> str:
    """What the page rests on, in a line."""
    fits = report.fits
    named = f": {', '.join(fits.domains)}" if len(fits.domains) <= NAMED else ""
    return f"From {len(fits.seen.runs)} runs, {len(fits.targets)} losses, {len(fits.domains)} domains{named}."


def _head(report: Report) -> Markup:
    return element(
        "head",
        opening("meta", charset="utf-8"),
        opening("meta", http_equiv="Content-Security-Policy", content=POLICY),
        opening("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title(report)),
        element("style", Markup(STYLE)),
    )


def _notes(report: Report) -> Markup:
    items = listing(report.notes)
    return element("aside", items, class_="notes", aria_label="Notes") if items else Markup("")


def _section(name: str, heading: str, content: Markup) -> Markup:
    return join([markup("\n"), element("section", element("h2", heading), content, id=name)])
