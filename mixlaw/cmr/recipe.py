"""The answer as a mixture to train with, and the evidence for it."""

from __future__ import annotations

from mixlaw.cmr.result import Answer, Report
from mixlaw.errors import UsageError
from mixlaw.mixture import Mixture, Recipe
from mixlaw.units import human


def recipe(report: Report) -> Recipe:
    """The two-part mixture of a report with one answer.

    Raises:
        UsageError: when there are several answers to choose from.
        FitError: when there is no answer.
    """
    report.need_answer()
    if len(report.answers) > 1:
        listed = ", ".join(f"{a.label} at {human(a.tokens)}" for a in report.answers[:6])
        hint = "Choose one size with --params and one budget with --tokens."
        raise UsageError("one answer to write a config for", f"{len(report.answers)} ({listed})", hint=hint)
    answer = report.answers[0]
    shares = {report.names.general: 1 - answer.share, report.names.domain: answer.share}
    params = answer.params if answer.params == answer.params else None
    return Recipe(Mixture(shares), answer.tokens, params, evidence=_evidence(answer, report))


def _evidence(answer: Answer, report: Report) -> dict[str, object]:
    interval = {} if answer.low != answer.low else {"low": answer.low, "high": answer.high}
    return {
        "question": "largest domain share that does not cost general ability (mixlaw predict-cmr)",
        "form": report.options.form,
        "critical_mixture_ratio": answer.share,
        **interval,
        "binding": answer.binding,
        "flags": list(answer.flag_names),
        "recommendation": answer.advice,
    }
