"""From fitted laws to the mixture to train with, under constraints, with the evidence for it."""

from __future__ import annotations

from mixlaw.optimize.choose import Choice, by_scale, choose
from mixlaw.optimize.objective import Limit, Objective
from mixlaw.optimize.region import Region
from mixlaw.optimize.request import Request
from mixlaw.optimize.search import Found, search
from mixlaw.optimize.solver import SolveOptions, solve
from mixlaw.optimize.surface import Scale, Surface

__all__ = [
    "Choice", "Found", "Limit", "Objective", "Region", "Request", "Scale", "SolveOptions", "Surface", "by_scale",
    "choose", "search", "solve",
]  # fmt: skip
