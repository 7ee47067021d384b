"""The predicted objective around a proposed mixture as a picture: slices through the simplex.

Three domains: the whole simplex. More: for pairs of the domains that matter most a slice through the proposal, in
which two shares vary and the others keep their proportions. Two: a curve.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from mixlaw.errors import InputError
from mixlaw.laws.base import Floats
from mixlaw.optimize import Choice
from mixlaw.optimize.region import EXACT
from mixlaw.render.pictures import canvas
from mixlaw.render.pictures.canvas import style
from mixlaw.render.pictures.panels import EDGE, MARKS, panels, unit_of
from mixlaw.render.pictures.response import toward
from mixlaw.units import human

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.contour import QuadContourSet
    from matplotlib.figure import Figure

DOMAINS = 4
"""Domains whose pairs are drawn where there are more than three."""
_GRID = 41
LARGE = 0.05
"""Share in a proposal from which a domain is drawn before those that are not in it."""
_LEVELS = 9
_FILL = "YlGnBu"
_RUN: dict[str, Any] = {"marker": ".", "color": "#3a3d42", "markersize": 4, "markeredgewidth": 0.0}
_NOISE: dict[str, Any] = {"color": canvas.PALETTE[1], "linewidth": 1.8}


@dataclass(frozen=True)
class Slice:
    """A grid of mixtures with the objective at each.

    Attributes:
        pair: the domains that vary.
        x: share of the first, shape (g, g).
        y: share of the second, shape (g, g).
        value: predicted objective, as people read it, shape (g, g).
        excess: by how much the mixture misses a constraint, shape (g, g); at most 0 where it is allowed.
    """

    pair: tuple[int, int]
    x: Floats
    y: Floats
    value: Floats
    excess: Floats


@style()
def draw(choice: Choice) -> Figure:
    """Contours of the objective with runs, baselines, the proposal, and what is within the noise of one run.

    Raises:
        InputError: for a single domain, which leaves nothing to choose.
    """
    count = len(choice.fits.domains)
    if count < 2:
        raise InputError("at least two domains, to draw slices between them", f"{count}")
    if count == 2:
        figure = _curve(choice)
    elif count == 3:
        figure = _filled(choice, [(0, 1)], ternary=True)
    else:
        figure = _filled(choice, list(combinations(leading(choice), 2)), ternary=False)
    canvas.say(figure, _statement(choice), caption=_caption(choice), entries=_entries(choice))
    return figure


def leading(choice: Choice, most: int = DOMAINS) -> list[int]:
    """The domains that matter most, in the order of mixtures.

    First those with the largest shares in the proposal, of at least 5 %; then those along which the objective moves
    most over the shares in the data.
    """
    seen, free = choice.fits.seen.mixtures, choice.found.region.constraints
    large = [int(k) for k in np.argsort(-choice.proposal, kind="stable") if choice.proposal[k] >= LARGE]
    moved = []
    for domain in range(len(choice.fits.domains)):
        at = np.linspace(seen[:, domain].min(), seen[:, domain].max(), 7)
        moves = free.upper[domain] > free.lower[domain]
        moved.append(np.ptp(choice.surface.value(toward(choice.proposal, domain, at))) if moves else -1.0)
    return sorted(list(dict.fromkeys([*large, *np.argsort(-np.array(moved), kind="stable").tolist()]))[:most])


def sign(choice: Choice) -> float:
    """-1 where the objective is made of accuracies alone, which are shown as they are; else 1."""
    return -1.0 if all(name.startswith("bench/") for name in choice.surface.weights) else 1.0


def excess(choice: Choice, shares: Floats) -> Floats:
    """By how much each mixture, shape (n, K), misses the constraint or limit that it misses most; at most 0 within."""
    rows = choice.found.region.rows
    matrix, limit = np.array([row.coefficients for row in rows]), np.array([row.limit for row in rows])
    missed = (shares @ matrix.T - limit).max(axis=1)
    for bound in choice.found.bounds:
        missed = np.maximum(missed, bound.surface.value(shares) - bound.level)
    return np.asarray(missed)


def slice_of(choice: Choice, pair: tuple[int, int], *, whole: bool) -> Slice:
    """Evaluate a slice: over the whole simplex, or as far as the runs and the marked mixtures go."""
    reach = [1.0, 1.0] if whole else [_reach(choice, domain) for domain in pair]
    u, v = np.meshgrid(np.linspace(0, 1, _GRID), np.linspace(0, 1, _GRID), indexing="ij")
    x = u * reach[0]
    y = v * np.minimum(reach[1], 1 - x)
    shares = _mixtures(choice.proposal, pair, x.ravel(), y.ravel())
    value = sign(choice) * choice.surface.value(shares).reshape(x.shape)
    return Slice(pair, x, y, value, excess(choice, shares).reshape(x.shape))


def _reach(choice: Choice, domain: int) -> float:
    points = np.vstack([choice.fits.seen.mixtures, choice.proposal, *choice.baselines.values()])
    return float(min(1.0, 1.08 * points[:, domain].max() + 0.01))


def _mixtures(centre: Floats, pair: tuple[int, int], x: Floats, y: Floats) -> Floats:
    """Mixtures with these shares of a pair, the others in proportion, shape (n, K)."""
    others = [k for k in range(len(centre)) if k not in pair]
    rest = centre[others]
    rest = rest / rest.sum() if rest.sum() > 1e-9 else np.full(len(others), 1 / len(others))
    shares = np.zeros((len(x), len(centre)))
    shares[:, pair[0]], shares[:, pair[1]] = x, y
    shares[:, others] = np.maximum(1 - x - y, 0.0)[:, None] * rest
    return shares


def _filled(choice: Choice, pairs: list[tuple[int, int]], *, ternary: bool) -> Figure:
    """Panels with one scale of colours."""
    size = 5.4 if ternary else 2.75
    figure, grid = panels(len(pairs), width=size, height=size * (0.8 if ternary else 0.86))
    found = [slice_of(choice, pair, whole=ternary) for pair in pairs]
    levels = _levels(choice, np.concatenate([one.value.ravel() for one in found]))
    drawn = []
    for one, (axes, _, _) in zip(found, grid, strict=True):
        drawn.append((axes, _panel(axes, choice, one, levels, ternary=ternary)))
    bar = figure.colorbar(drawn[-1][1], ax=[axes for axes, _ in drawn], shrink=0.7, aspect=28, pad=0.02)
    bar.set_label(f"predicted {_objective(choice)}")
    bar.outline.set_visible(False)
    return figure


def _levels(choice: Choice, values: Floats) -> Floats:
    """Levels that are dense near the optimum: the far corners of a simplex would take all colours."""
    from matplotlib.ticker import MaxNLocator

    best = sign(choice) * float(choice.surface.value(choice.proposal[None])[0])
    off = np.sort(np.abs(values - best))
    far = float(off[int(0.7 * (len(off) - 1))]) or 1e-6
    low, high = (best, best + far) if sign(choice) > 0 else (best - far, best)
    low, high = max(low, float(values.min())), min(high, float(values.max()))
    return np.asarray(MaxNLocator(_LEVELS).tick_values(low, high))


def _panel(axes: Axes, choice: Choice, one: Slice, levels: Floats, *, ternary: bool) -> QuadContourSet:
    """Contours, runs and marks of one slice."""
    names = [canvas.short(choice.fits.domains[k], 18) for k in one.pair]
    place = _triangle if ternary else _square
    x, y = place(one.x, one.y)
    lower_is_better = sign(choice) > 0
    reverse, extend = ("_r", "max") if lower_is_better else ("", "min")
    filled = axes.contourf(x, y, one.value, levels=levels, cmap=f"{_FILL}{reverse}", extend=extend, alpha=0.85)
    axes.contour(x, y, one.value, levels=[_edge_of_noise(choice)], colors=[_NOISE["color"]], linewidths=1.8)
    if one.excess.max() > EXACT:
        beyond = [EXACT, one.excess.max() + 1]
        axes.contourf(x, y, one.excess, levels=beyond, colors=[canvas.PAPER], alpha=0.55)
        axes.contourf(x, y, one.excess, levels=beyond, colors="none", hatches=["////"])
    runs = place(*choice.fits.seen.mixtures[:, one.pair].T)
    axes.plot(*runs, linestyle="none", label="runs", zorder=5, **_RUN)
    for name, share in reversed(_marked(choice).items()):
        at = place(*share[list(one.pair)])
        axes.plot([at[0]], [at[1]], linestyle="none", label=name, zorder=6, clip_on=False, **MARKS[name], **EDGE)
    if ternary:
        _frame(axes, [canvas.short(name, 18) for name in choice.fits.domains])
    else:
        axes.set_xlabel(f"{names[0]} share")
        axes.set_ylabel(f"{names[1]} share")
        for axis in (axes.xaxis, axes.yaxis):
            canvas.percent_axis(axis, most=4)
        axes.grid(False)
    return filled


def _edge_of_noise(choice: Choice) -> float:
    """The objective that lies one standard deviation of a run above that of the proposal."""
    return sign(choice) * (float(choice.surface.value(choice.proposal[None])[0]) + choice.noise)


def _square(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    return x, y


def _triangle(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Corners: first domain left, second right, third on top."""
    return np.asarray(second + (1 - first - second) / 2), np.asarray((1 - first - second) * np.sqrt(3) / 2)


def _frame(axes: Axes, names: list[str]) -> None:
    """Edges, lines of equal share with their per cents, and the names at the corners."""
    axes.set_aspect("equal")
    axes.set_axis_off()
    height = np.sqrt(3) / 2
    axes.plot([0, 1, 0.5, 0], [0, 0, height, 0], color=canvas.MUTED, linewidth=1.0, zorder=3)
    for share in (0.25, 0.5, 0.75):
        rest = 1 - share
        for ends in ([(share, rest), (share, 0.0)], [(rest, share), (0.0, share)], [(rest, 0.0), (0.0, rest)]):
            x, y = _triangle(*np.array(ends).T)
            axes.plot(x, y, color=canvas.PAPER, linewidth=0.7, alpha=0.7, zorder=2)
        for at, shift in (((share, rest), (-2, -10)), ((0.0, share), (6, 2)), ((rest, 0.0), (-6, 4))):
            x, y = _triangle(*np.array(at)[:, None])
            side: Any = "left" if shift[0] > 0 else "right" if shift[0] < -2 else "center"
            axes.annotate(f"{100 * share:.0f}%", (x.item(), y.item()), xytext=shift, textcoords="offset points",
                          fontsize=7.5, color=canvas.MUTED, ha=side)  # fmt: skip
    corners = (((0.0, 0.0), -24), ((1.0, 0.0), -24), ((0.5, height), 8))
    for name, (corner, up) in zip(names, corners, strict=True):
        axes.annotate(f"all {name}", corner, xytext=(0, up), textcoords="offset points", ha="center")


def _curve(choice: Choice) -> Figure:
    """Two domains: the objective against the share of the first."""
    figure = canvas.figure(6.4, 3.6)
    axes = figure.add_subplot()
    at = np.linspace(0, 1, 201)
    shares = np.column_stack([at, 1 - at])
    value = sign(choice) * choice.surface.value(shares)
    axes.plot(at, value, color=canvas.PALETTE[5], label="objective")
    axes.axhline(_edge_of_noise(choice), **_NOISE)
    outside = excess(choice, shares) > EXACT
    marked = [sign(choice) * float(choice.surface.value(m[None])[0]) for m in _marked(choice).values()]
    levels = _levels(choice, np.append(value, marked))
    low, high = min(levels[0], *marked), max(levels[-1], *marked)
    if outside.any():
        axes.fill_between(at, low, high, where=outside.tolist(), color=canvas.MUTED, alpha=0.18, linewidth=0, zorder=0)
    axes.set_ylim(low, high)
    axes.plot(choice.fits.seen.mixtures[:, 0], np.full(len(choice.fits.seen.runs), low), linestyle="none",
              label="runs", clip_on=False, **{**_RUN, "markersize": 7, "color": canvas.INK})  # fmt: skip
    for name, share in reversed(_marked(choice).items()):
        height = sign(choice) * float(choice.surface.value(share[None])[0])
        axes.plot(share[0], height, linestyle="none", label=name, zorder=6, **MARKS[name], **EDGE)
    axes.set_xlabel(
        f"{canvas.short(choice.fits.domains[0])} share (the rest is {canvas.short(choice.fits.domains[1])})"
    )
    axes.set_ylabel(f"predicted {_objective(choice)}")
    canvas.percent_axis(axes.xaxis)
    return figure


def _marked(choice: Choice) -> dict[str, Floats]:
    return {name: {"proposal": choice.proposal, **choice.baselines}[name] for name in MARKS
            if name == "proposal" or name in choice.baselines}  # fmt: skip


def _entries(choice: Choice) -> list[canvas.Entry]:
    entries: list[canvas.Entry] = []
    for name in _marked(choice):
        value = sign(choice) * float(choice.surface.value(_marked(choice)[name][None])[0])
        entries.append((f"{name.replace('_', ' ')} {value:.4f}", {**MARKS[name], **EDGE}))
    noise = ("within the noise of one run", {**_NOISE, "linestyle": "-"})
    return [*entries, ("runs", {**_RUN, "markersize": 7, "color": canvas.MUTED}), noise]


def _objective(choice: Choice) -> str:
    """What the values are, with the unit where all losses have one."""
    names = list(choice.surface.weights)
    units = {unit_of(choice.fits.units, name[5:]) if name.startswith("loss/") else "" for name in names}
    unit = f", {units.pop()}" if len(units) == 1 and "" not in units else ""
    if len(names) == 1:
        return f"{canvas.short(names[0].partition('/')[2])} {'accuracy' if sign(choice) < 0 else 'loss'}{unit}"
    kind = "accuracies" if sign(choice) < 0 else "losses" if all(n.startswith("loss/") for n in names) else "terms"
    even = len({round(w, 9) for w in choice.surface.weights.values()}) == 1
    return f"{'mean' if even else 'weighted mean'} of {len(names)} {kind}{unit}"


def _statement(choice: Choice) -> str:
    largest = sorted(zip(choice.fits.domains, choice.proposal, strict=True), key=lambda item: -item[1])
    largest = [(name, share) for name, share in largest if share >= 0.005]
    listed = ", ".join(f"{canvas.short(name)} {100 * share:.0f}%" for name, share in largest[:5])
    scale = choice.request.scale
    words = [f"{human(scale.params)} parameters"] if scale.params else []
    words += [f"{human(scale.tokens)} tokens"] if scale.tokens else []
    return f"Proposal{' for ' + ' and '.join(words) if words else ''}: {listed}{', ...' if len(largest) > 5 else ''}"


def _caption(choice: Choice) -> str:
    lines, count = [], len(choice.fits.domains)
    if count > 3:
        lines.append("Slices through the proposal: two shares vary, the others keep their proportions. Runs and other "
                     "mixtures are projected; colours hold on the slice alone.")  # fmt: skip
    if count > DOMAINS:
        whole = (choice.proposal >= LARGE).sum() >= DOMAINS
        rest = "" if whole else ", then those that move the objective most"
        lines.append(f"{DOMAINS} of {count} domains: the largest shares of the proposal{rest}.")
    outside = choice.fits.outside(choice.proposal)
    if outside:
        lines.append(f"The proposal lies beyond the shares of the runs: {outside}.")
    if any(row.kind != "min" or row.bound > 0 for row in choice.found.region.rows) or choice.found.bounds:
        lines.append("Hatched: not allowed." if count > 2 else "Grey: not allowed.")
    return " ".join(lines)
