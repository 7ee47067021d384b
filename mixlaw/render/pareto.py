"""A front as CSV."""

from __future__ import annotations

import csv
import io

from mixlaw.optimize.pareto import Front


def front_csv(front: Front) -> str:
    """One row per point: the weight of the second term, both values, and the mixture."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["weight", *front.terms, *(f"mix/{domain}" for domain in front.domains)])
    for weight, values, mixture in zip(front.weights, front.values, front.mixtures, strict=True):
        writer.writerow([repr(float(v)) for v in (weight, *values, *mixture)])
    return out.getvalue()
