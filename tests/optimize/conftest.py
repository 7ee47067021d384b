"""Fits with known truths that the tests of this part share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pytest

from mixlaw.diagnose import Geometry
from mixlaw.fit import Fit, FitOptions, Status
from mixlaw.fits import FitSet, Member, Seen
from mixlaw.laws import FORMS
from mixlaw.units import Unit

MakeFits = Callable[..., FitSet]


@pytest.fixture
def make_fits() -> MakeFits:
    """Build a fit set from parameter vectors: ``make_fits("exp", {"a": theta, ...}, domains, sd=0.01, draws=50)``."""

    def build(
        form: str,
        theta: Mapping[str, np.ndarray],
        domains: tuple[str, ...],
        *,
        sd: float = 0.0,
        draws: int = 0,
        mixtures: np.ndarray | None = None,
        losses: Mapping[str, np.ndarray] | None = None,
    ) -> FitSet:
        rng = np.random.default_rng(1)
        members = {}
        for target, vector in theta.items():
            fit = Fit(
                target=target, form=form, domains=domains, theta=vector, covariance=sd**2 * np.eye(len(vector)),
                status=Status.CONVERGED, objective=0.0, gradient=0.0, points=0, runs=0, starts=1, agreeing=1.0,
                residual=0.001, geometry=Geometry(len(vector), 1.0),
            )  # fmt: skip
            if draws:
                fit = replace(fit, draws=vector + sd * rng.standard_normal((draws, len(vector))))
            members[target] = (Member(fit),)
        shares = np.eye(len(domains)) if mixtures is None else mixtures
        runs = tuple(f"r{i}" for i in range(len(shares)))
        size, length = np.full(len(shares), 1e9), np.full(len(shares), 2e10)
        seen = Seen("sha256:test", runs, shares, size, length, losses or {}, len(shares))
        assert form in FORMS
        return FitSet(members, dict.fromkeys(theta, Unit.NATS), domains, seen, FitOptions())

    return build
