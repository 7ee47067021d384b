"""Loss against the share of one domain as a picture: small multiples, a row per target and a column per domain.

The curve of a panel leads from a mixture in the middle straight to the vertex of its domain: the other shares keep
their proportions. Runs lie at other mixtures, so that a run is drawn where its residual puts it: at its own share,
off the curve by as much as it is off its own prediction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mixlaw.check.holdout import SAME_SIZE
from mixlaw.fits import FitSet
from mixlaw.laws.base import Floats
from mixlaw.render.pictures import canvas
from mixlaw.render.pictures.canvas import style
from mixlaw.render.pictures.panels import unit_of
from mixlaw.units import human

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 6
"""Rows and columns of panels."""
CROWD = 60
"""Runs in a panel from which their points are smaller."""
_POINTS = 41


@dataclass(frozen=True)
class Slices:
    """Lines through a mixture toward the vertices, at the largest size and tokens of the data.

    Attributes:
        fits: the laws.
        centre: mixture that all lines go through, shape (K,).
        runs: the runs of that size, as positions in what the fits saw.
        params: of the largest runs; NaN where unknown.
        tokens: most tokens of these runs; NaN where unknown.
    """

    fits: FitSet
    centre: Floats
    runs: NDArray[np.intp]
    params: float
    tokens: float

    @classmethod
    def of(cls, fits: FitSet, centre: Floats | None) -> Slices:
        """Find the largest size; the centre is the mean mixture of its runs where none is given."""
        seen = fits.seen
        params = float(np.nanmax(seen.params)) if np.isfinite(seen.params).any() else float("nan")
        runs = np.flatnonzero(~(seen.params * SAME_SIZE < params))
        tokens = float(np.nanmax(seen.tokens[runs])) if np.isfinite(seen.tokens[runs]).any() else float("nan")
        middle = seen.mixtures[runs].mean(axis=0) if centre is None else centre
        return cls(fits, middle, runs, params, tokens)

    def reach(self, domain: int) -> tuple[float, float]:
        """Smallest and largest share of a domain in these runs and the centre."""
        shares = np.append(self.fits.seen.mixtures[self.runs, domain], self.centre[domain])
        return float(shares.min()), float(shares.max())

    def line(self, domain: int, shares: Floats) -> Floats:
        """Mixtures with these shares of a domain, the others in proportion, shape (n, K)."""
        return toward(self.centre, domain, shares)

    def effect(self, domain: int) -> Floats:
        """How much each loss moves, in logs, over the shares of a domain in the data, shape (T,)."""
        inputs = self.fits.inputs(self.line(domain, np.linspace(*self.reach(domain), 5)), self.params, self.tokens)
        return np.array([np.ptp(np.log(self.fits.value(t, inputs))) for t in self.fits.targets])


def toward(centre: Floats, domain: int, shares: Floats) -> Floats:
    """Mixtures with these shares (n,) of one domain, the others in proportion to ``centre`` (K,), shape (n, K)."""
    others = np.delete(centre, domain)
    others = others / others.sum() if others.sum() > 1e-9 else np.full(len(others), 1 / max(len(others), 1))
    return np.insert((1 - shares)[:, None] * others, domain, shares, axis=1)


@style()
def draw(fits: FitSet, *, centre: Floats | None = None) -> Figure:
    """Fitted loss along lines through ``centre`` (K,), the mean mixture of the largest runs if left out.

    Of more than 6 domains those that move losses most are drawn; of more than 6 targets those of these domains, then
    those that these domains move most.
    """
    slices = Slices.of(fits, centre)
    domains, targets = _choose(slices)
    figure = canvas.figure(0.5 + 1.75 * len(domains), 0.4 + 1.5 * len(targets))
    grid = figure.subplots(len(targets), len(domains), squeeze=False, sharex="col", sharey="row")
    for row, target in zip(grid, targets, strict=True):
        for axes, domain in zip(row, domains, strict=True):
            _panel(axes, slices, target, domain)
        row[0].set_ylabel(f"{canvas.short(target, 17)}\n{unit_of(fits.units, target)}")
    for axes, domain in zip(grid[-1], domains, strict=True):
        axes.set_xlabel(f"{canvas.short(fits.domains[domain], 15)} share")
    entries: list[canvas.Entry] = [
        ("fit, with 90 % interval", {"color": canvas.PALETTE[0], "linestyle": "-"}),
        ("run: the curve plus its residual", _RUN),
    ]
    canvas.say(figure, _statement(slices), caption=_caption(slices, domains, targets), entries=entries)
    return figure


_RUN: dict[str, Any] = {"marker": "o", "color": canvas.PALETTE[1], "markersize": 3.6, "markeredgecolor": canvas.PAPER,
        "markeredgewidth": 0.4}  # fmt: skip


def _choose(slices: Slices) -> tuple[list[int], list[str]]:
    """Domains in the order of mixtures, and targets in the order of the fit."""
    fits = slices.fits
    moved = np.array([slices.effect(j) for j in range(len(fits.domains))])
    domains = sorted(np.argsort(-moved.mean(axis=1), kind="stable")[:MOST].tolist())
    own = [fits.domains[j] for j in domains if fits.domains[j] in fits.targets]
    ranked = np.argsort(-moved[domains], axis=1, kind="stable")  # by domain, the target that it moves most first
    kept = set(list(dict.fromkeys([*own, *(fits.targets[i] for i in ranked.T.ravel())]))[:MOST])
    return domains, [t for t in fits.targets if t in kept]


def _panel(axes: Axes, slices: Slices, target: str, domain: int) -> None:
    fits, colour = slices.fits, canvas.PALETTE[0]
    low, high = slices.reach(domain)
    at = np.linspace(low, high, _POINTS)
    found = fits.predict(fits.inputs(slices.line(domain, at), slices.params, slices.tokens), targets=(target,))[target]
    axes.fill_between(at, found.low, found.high, color=colour, alpha=0.22, linewidth=0)
    axes.plot(at, found.value, color=colour, label="fit", zorder=4)
    shares, losses = partial_residuals(slices, target, domain)
    crowd = {"markersize": 2.4, "markeredgewidth": 0.0, "alpha": 0.6} if len(shares) > CROWD else {}
    axes.plot(shares, losses, linestyle="none", label="runs", zorder=3, **{**_RUN, **crowd})
    axes.axvline(slices.centre[domain], color=canvas.MUTED, linewidth=0.8, linestyle=":")
    canvas.percent_axis(axes.xaxis, most=3)
    axes.locator_params(axis="y", nbins=4)


def partial_residuals(slices: Slices, target: str, domain: int) -> tuple[Floats, Floats]:
    """Share of the domain in each run, and the curve there times measured over predicted loss of the run."""
    fits, seen = slices.fits, slices.fits.seen
    losses = seen.losses.get(target, np.full(len(seen.runs), np.nan))[slices.runs]
    runs = slices.runs[np.isfinite(losses)]
    own = fits.value(target, fits.inputs(seen.mixtures[runs], seen.params[runs], seen.tokens[runs]))
    shares = seen.mixtures[runs, domain]
    curve = fits.value(target, fits.inputs(slices.line(domain, shares), slices.params, slices.tokens))
    return shares, curve * losses[np.isfinite(losses)] / own


def _statement(slices: Slices) -> str:
    scale = [f"{human(slices.params)} parameters"] if np.isfinite(slices.params) else []
    scale += [f"{human(slices.tokens)} tokens"] if np.isfinite(slices.tokens) else []
    return "How each loss moves with the share of one domain" + (f", at {' and '.join(scale)}" if scale else "")


def _caption(slices: Slices, domains: list[int], targets: list[str]) -> str:
    fits = slices.fits
    middle = ", ".join(f"{canvas.short(fits.domains[j])} {100 * slices.centre[j]:.0f}%" for j in domains)
    lines = [f"Slices through one mixture (dotted: {middle}): the other shares keep their proportions. "
             "Runs lie at other mixtures; each is off the curve by its own residual."]  # fmt: skip
    if len(domains) < len(fits.domains):
        lines.append(f"{len(domains)} of {len(fits.domains)} domains, those that move the losses most.")
    if len(targets) < len(fits.targets):
        own = {fits.domains[j] for j in domains} & set(targets)
        which = ["those of these domains"] if own else []
        which += ["those that these domains move most"] if len(own) < len(targets) else []
        lines.append(f"{len(targets)} of {len(fits.targets)} targets, {', then '.join(which)}.")
    return " ".join(lines)
