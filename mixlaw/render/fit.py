"""A fit as tables: one row a target, then what to doubt, then parameters on request."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from rich.table import Table

from mixlaw.fit import Status
from mixlaw.fits import FitSet
from mixlaw.flags import Doubt
from mixlaw.render.tables import percent, significant, table
from mixlaw.units import shorten


def fit_table(fits: FitSet) -> Table:
    """One row per target and law."""
    rows = [
        (
            target if index == 0 else "",
            member.fit.form,
            f"{member.weight:.2f}",
            member.fit.points,
            member.fit.runs,
            len(member.fit.theta),
            percent(member.fit.residual, 2),
            percent(member.fit.agreeing, 0),
            significant(member.fit.geometry.condition, 2),
            _status(member.fit.status),
        )
        for target, members in fits.members.items()
        for index, member in enumerate(members)
    ]
    columns = ["target", "law", "weight", "rows", "runs", "par.", "residual", "agree", "cond.", "status"]
    title = "Fits (residual: median on the training data, no accuracy; agree: starts within 1% of the best)"
    return table(title, columns, rows, left=2)


def _status(status: Status) -> str:
    return {Status.CONVERGED: "ok", Status.NOT_CONVERGED: "falling", Status.STARTS_DISAGREE: "disagree"}.get(
        status, "failed"
    )


def parameter_table(fits: FitSet) -> Table:
    """One row per parameter, one column per target, value ± standard error to two digits."""
    rows: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for target, members in fits.members.items():
        for member in members:
            for name, (value, error) in member.fit.values().items():
                rows[member.fit.form, name][target] = f"{significant(value)} ± {significant(error, 2)}"
    body = [(law, name, *(cells.get(t, "") for t in fits.targets)) for (law, name), cells in rows.items()]
    return table("Parameters", ["law", "parameter", *fits.targets], body, left=2)


def sensitivity_table(held_out: str, errors: Mapping[float, float]) -> Table:
    """Held-out error for each share of a run left out at its start."""
    rows = [(percent(share, 0), percent(error, 2)) for share, error in errors.items()]
    return table(f"Error on {held_out} by what is left out", ["first part left out", "error"], rows)


def doubts(fits: FitSet) -> list[str]:
    """The flags of all fits, one line per flag with the targets that carry it."""
    carried: dict[tuple[str, str], list[str]] = defaultdict(list)
    for target, members in fits.members.items():
        for member in members:
            for flag in member.fit.flags:
                carried[flag.name, flag.doubt.value].append(f"{target} ({flag.detail})" if flag.detail else target)
    lines = {key: shorten(_merged(where), 4) for key, where in carried.items()}
    for key in (k for k in lines if k[1] == Doubt.REDUNDANT.value):
        lines[key] = fits.redundant()
    return [f"{name} [{meaning}]: {where}" for (name, meaning), where in lines.items()]


def _merged(where: Iterable[str]) -> list[str]:
    """Each entry once, however many laws carry it; one entry where all have the same detail."""
    listed = list(dict.fromkeys(where))
    details = {entry.partition(" (")[2] for entry in listed}
    return [f"all ({next(iter(details))}"] if len(listed) > 1 and len(details) == 1 and details != {""} else listed


def data_line(fits: FitSet) -> str:
    """What the fits saw, in one line."""
    seen = fits.seen
    dropped = "; ".join(f"{number} rows left out: {why}" for why, number in seen.dropped.items())
    return f"{seen.points} rows of {len(seen.runs)} runs used. {dropped}".rstrip()


def choice_lines(fits: FitSet) -> list[str]:
    """How the laws were chosen and what the intervals covered, in sentences."""
    lines = []
    choice = fits.evidence.get("choice")
    if isinstance(choice, dict):
        ranked = sorted(choice["errors"].items(), key=lambda item: item[1])
        listing = ", ".join(f"{n} {percent(e, 2)} (weight {choice['weights'].get(n, 0):.2f})" for n, e in ranked)
        without = f"auto, by the mean log error on {choice['held_out']} with laws fitted without it: {listing}"
        lines.append(
            without if ranked else f"auto could hold out {choice['held_out']}; {', '.join(choice['weights'])} alone"
        )
    calibration = fits.evidence.get("calibration")
    if isinstance(calibration, dict) and calibration["losses"]:
        lines.append(
            f"90% intervals covered {percent(calibration['achieved'], 0)} of {calibration['losses']} losses of "
            f"{calibration['held_out']}, fitted without them; widened by {calibration['widened_by']:.2f}"
            f"{_contrasts(calibration)}"
        )
    shrinkage = fits.evidence.get("shrinkage")
    if isinstance(shrinkage, dict):
        listing = ", ".join(f"{s} {percent(e, 2)}" for s, e in shrinkage["errors"].items())
        lines.append(
            f"fewer than 6 (K + 1) runs: coefficients pulled towards those that targets share with strength "
            f"{shrinkage['strength']:g}, by the error on folds of mixtures: {listing}"
        )
    return lines


def _contrasts(calibration: Mapping[str, Any]) -> str:
    """The end of the sentence on calibration; nothing for a fit file from before contrasts were calibrated."""
    if "contrasts" not in calibration:
        return ""
    if not calibration["contrasts"]:
        return "; differences between mixtures too, for too few mixtures of one scale were held out"
    return (
        f"; intervals of differences between mixtures covered {percent(calibration['achieved_contrasts'], 0)} of "
        f"{calibration['contrasts']}, widened by {calibration['contrasts_widened_by']:.2f}"
    )
