"""``fit.json``: a FitSet as versioned, self-contained JSON."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

import mixlaw
from mixlaw.dataset import Selection
from mixlaw.diagnose import Geometry
from mixlaw.errors import InputError
from mixlaw.files import read_text, to_json
from mixlaw.fit import Fit, FitOptions, Status
from mixlaw.fits import FitSet, Member, Seen
from mixlaw.flags import Doubt, Flag
from mixlaw.laws import FORMS
from mixlaw.solver import SolverOptions
from mixlaw.units import Unit

FORMAT = "mixlaw-fit/1"


def dumps(fits: FitSet) -> str:
    """Write a fit set as JSON text; the same fits give the same bytes."""
    return to_json(
        {
            "format": FORMAT,
            "versions": {"mixlaw": mixlaw.__version__, "python": platform.python_version(), "numpy": np.__version__},
            **({"command": fits.command} if fits.command else {}),
            "domains": list(fits.domains),
            "params": "active where the table has params_active, else params as given",
            "units": {target: unit.value for target, unit in fits.units.items()},
            "options": asdict(fits.options),
            "data": _seen(fits.seen),
            "evidence": dict(fits.evidence),
            "widen": dict(fits.widen),
            **({"widen_contrast": dict(fits.widen_contrast)} if fits.widen_contrast else {}),
            "fits": {
                target: [{"weight": m.weight, **_fit(m.fit)} for m in members]
                for target, members in fits.members.items()
            },
            "benchmarks": {task: dict(curve) for task, curve in fits.benchmarks.items()},
        },
        indent=1,
    )


def loads(text: str, *, where: str = "fit file") -> FitSet:
    """Read what ``dumps`` wrote.

    Raises:
        InputError: when the text is no fit file, or one of another version.
    """
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError("a fit file (JSON)", error.msg, where=f"{where}, line {error.lineno}") from error
    if not isinstance(content, Mapping) or content.get("format") != FORMAT:
        got = content.get("format", "no 'format' key") if isinstance(content, Mapping) else type(content).__name__
        raise InputError(f"a fit file with format {FORMAT!r}", str(got), where=where, hint="Make one with mixlaw fit.")
    try:
        return _load(content)
    except (KeyError, TypeError) as error:
        raise InputError("a whole fit file", f"one without {error}", where=where) from error


def load(path: Path) -> FitSet:
    """Read a fit file."""
    return loads(read_text(path), where=str(path))


def _seen(seen: Seen) -> dict[str, Any]:
    return {
        "fingerprint": seen.fingerprint,
        "points": seen.points,
        "dropped": dict(seen.dropped),
        "runs": list(seen.runs),
        "mixtures": seen.mixtures.tolist(),
        "params": seen.params.tolist(),
        "tokens": seen.tokens.tolist(),
        "losses": {target: losses.tolist() for target, losses in seen.losses.items()},
    }


def _fit(fit: Fit) -> dict[str, Any]:
    return {
        "law": fit.form,
        "parameters": {name: value for name, (value, _) in fit.values().items()},
        "errors": {name: error for name, (_, error) in fit.values().items()},
        "status": fit.status.name.lower(),
        "objective": fit.objective,
        "gradient": fit.gradient,
        "points": fit.points,
        "runs": fit.runs,
        "starts": fit.starts,
        "agreeing": fit.agreeing,
        "median_residual_on_training_data": fit.residual,
        "rank": fit.geometry.rank,
        "condition": fit.geometry.condition,
        "at_bound": list(fit.geometry.at_bound),
        "redundant": [list(names) for names in fit.geometry.redundant],
        "flags": [{"name": f.name, "detail": f.detail} for f in fit.flags],
        "theta": fit.theta.tolist(),
        "covariance": fit.covariance.tolist(),
        "draws": fit.draws.tolist(),
        **({"state": fit.state} if fit.state else {}),
    }


def _load(content: Mapping[str, Any]) -> FitSet:
    data, options = content["data"], content["options"]
    domains = tuple(content["domains"])
    unique = tuple((str(domain), float(tokens)) for domain, tokens in options.get("unique", ()))
    members = {
        target: tuple(Member(replace(_load_fit(e, target, domains), unique=unique), e["weight"]) for e in entries)
        for target, entries in content["fits"].items()
    }
    selection = Selection(**{**options["selection"], "exclude": tuple(options["selection"]["exclude"])})
    solver = SolverOptions(**options["solver"])
    seen = Seen(
        fingerprint=data["fingerprint"],
        runs=tuple(data["runs"]),
        mixtures=_floats(data["mixtures"]),
        params=_floats(data["params"]),
        tokens=_floats(data["tokens"]),
        losses={target: _floats(losses) for target, losses in data["losses"].items()},
        points=data["points"],
        dropped=data["dropped"],
    )
    return FitSet(
        members=members,
        units={target: Unit.named(unit) for target, unit in content["units"].items()},
        domains=domains,
        seen=seen,
        options=FitOptions(**{**options, "selection": selection, "solver": solver, "unique": unique}),
        evidence=content["evidence"],
        widen=content["widen"],
        widen_contrast=content.get("widen_contrast", {}),
        benchmarks=content.get("benchmarks", {}),
        command=str(content.get("command", "")),
    )


def _load_fit(entry: Mapping[str, Any], target: str, domains: tuple[str, ...]) -> Fit:
    if entry["law"] not in FORMS:
        raise InputError(f"a law among {', '.join(FORMS)}", repr(entry["law"]), hint="Fit again with this version.")
    condition = entry["condition"]
    return Fit(
        target=target,
        form=entry["law"],
        domains=domains,
        theta=_floats(entry["theta"]),
        covariance=_floats(entry["covariance"]).reshape(len(entry["theta"]), len(entry["theta"])),
        status=Status[entry["status"].upper()],
        objective=entry["objective"],
        gradient=entry["gradient"],
        points=entry["points"],
        runs=entry["runs"],
        starts=entry["starts"],
        agreeing=entry["agreeing"],
        residual=entry["median_residual_on_training_data"],
        geometry=Geometry(
            entry["rank"],
            float("inf") if condition is None else condition,
            tuple(entry["at_bound"]),
            tuple(tuple(names) for names in entry["redundant"]),
        ),
        flags=tuple(Flag(Doubt[f["name"].upper().replace("-", "_")], f["detail"]) for f in entry["flags"]),
        draws=_floats(entry["draws"]) if entry["draws"] else np.zeros((0, 0)),
        state=entry.get("state", ""),
    )


def _floats(values: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """An array from lists in which null stands for NaN."""
    return np.array(values, dtype=np.float64)
