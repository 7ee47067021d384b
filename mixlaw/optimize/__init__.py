"""From fitted laws to the mixture to train with, under constraints, with the evidence for it."""

from __future__ import annotations

from mixlaw.optimize.choose import Choice, Request, choose
from mixlaw.optimize.objective import Limit, Objective
from mixlaw.optimize.region import Region
from mixlaw.optimize.solver import SolveOptions, solve
from mixlaw.optimize.surface import Scale, Surface

__all__ = ["Choice", "Limit", "Objective", "Region", "Request", "Scale", "SolveOptions", "Surface", "choose", "solve"]
