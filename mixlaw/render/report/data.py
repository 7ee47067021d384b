"""The data of the page as plain data, for ``--json``."""

from __future__ import annotations

from typing import Any

from mixlaw.render.advice import advice
from mixlaw.render.compare import as_json
from mixlaw.render.mixture import choice_data
from mixlaw.render.report.content import Report, law_weights
from mixlaw.render.report.sections import flag_rows


def report_data(report: Report) -> dict[str, Any]:
    """The JSON contract: what ``optimize-mixture --json`` has under ``choice``, and what the page adds to it."""
    fits, scale = report.fits, report.choice.request.scale
    seen = fits.seen
    return {
        "advice": advice(report.choice),
        "params": scale.params,
        "tokens": scale.tokens,
        "choice": choice_data(report.choice, list(report.scales)),
        "held_out": None if report.comparison is None else as_json(report.comparison),
        "no_held_out": report.no_comparison or None,
        "helpful_run": _helpful(report),
        "laws": law_weights(fits),
        "fit_evidence": dict(fits.evidence),
        "data": {
            "fingerprint": seen.fingerprint,
            "runs": list(seen.runs),
            "rows": seen.points,
            "dropped": dict(seen.dropped),
            "units": {target: unit.value for target, unit in fits.units.items()},
        },
        "flags": [{"name": name, "definition": what, "raised_for": where} for name, what, where in flag_rows(report)],
        "notes": list(report.notes),
        "commands": dict(report.commands),
        "version": report.version,
    }


def _helpful(report: Report) -> dict[str, Any] | None:
    found = report.helpful
    if found is None:
        return None
    return {
        **found.run.to_mapping(),
        "regret_now": found.before,
        "regret_after": found.after,
        "settled": found.settled,
    }
