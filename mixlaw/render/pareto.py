"""A front as CSV and as a picture."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from mixlaw.errors import MissingExtraError
from mixlaw.files import replacing
from mixlaw.optimize.pareto import Front


def front_csv(front: Front) -> str:
    """One row per point: the weight of the second term, both values, and the mixture."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["weight", *front.terms, *(f"mix/{domain}" for domain in front.domains)])
    for weight, values, mixture in zip(front.weights, front.values, front.mixtures, strict=True):
        writer.writerow([repr(float(v)) for v in (weight, *values, *mixture)])
    return out.getvalue()


def draw_front(front: Front, path: Path, marks: dict[str, tuple[float, float]]) -> None:
    """Draw the front with marked mixtures (proposal, baselines).

    Raises:
        MissingExtraError: without Matplotlib.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("matplotlib", "plot") from error
    figure = Figure(figsize=(6, 4.5), layout="constrained")
    axes = figure.add_subplot()
    axes.plot(front.values[:, 0], front.values[:, 1], marker="o", markersize=3, label="front")
    for name, (first, second) in marks.items():
        axes.plot(first, second, marker="x", linestyle="none", label=name.replace("_", " "))
    axes.set_xlabel(front.terms[0])
    axes.set_ylabel(front.terms[1])
    axes.legend()
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=150, metadata={"Software": None} if path.suffix == ".png" else None)
