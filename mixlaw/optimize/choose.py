"""From fitted laws to the mixture to train with: the one call behind ``mixlaw optimize-mixture``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mixlaw.benchmark import Accuracy, predict_accuracies
from mixlaw.check.calibrate import calibration_flags
from mixlaw.fits import FitSet, Prediction
from mixlaw.flags import Doubt, Flag
from mixlaw.laws.base import Floats
from mixlaw.optimize.evidence import SURE, Epochs, Nearest, Standing, epochs, nearest, run_noise, standings
from mixlaw.optimize.prices import Price, prices
from mixlaw.optimize.ranges import Range, ranges
from mixlaw.optimize.request import Request
from mixlaw.optimize.search import Found, search, starts_of
from mixlaw.optimize.surface import Scale, Surface
from mixlaw.predicting import doubts_at
from mixlaw.units import shorten


@dataclass(frozen=True)
class Choice:
    """The mixture recommended, and the evidence.

    Attributes:
        request: what was asked.
        fits: the laws.
        found: the search and its optimum, the proposal.
        baselines: other mixtures by name (natural, incumbent, uniform, best_observed), each of shape (K,).
        best_run: name of the best observed run.
        standings: objective of ``proposal`` and every baseline.
        keep: whether the incumbent is recommended: it is allowed, and the proposal is not surely better.
        noise: standard deviation of the objective of one more run.
        ranges: shares within that noise of the optimum, by domain.
        prices: binding constraints.
        epochs: by domain.
        nearest: run nearest to the recommended mixture.
        flags: doubts.
    """

    request: Request
    fits: FitSet
    found: Found
    baselines: Mapping[str, Floats]
    best_run: str
    standings: Mapping[str, Standing]
    keep: bool
    noise: float
    ranges: Mapping[str, Range]
    prices: tuple[Price, ...]
    epochs: Mapping[str, Epochs | None]
    nearest: Nearest
    flags: tuple[Flag, ...]

    @property
    def surface(self) -> Surface:
        """The predicted objective."""
        return self.found.surface

    @property
    def proposal(self) -> Floats:
        """The optimum, shape (K,)."""
        return self.found.optimum.mixture

    @property
    def mixture(self) -> Floats:
        """The recommended mixture, shape (K,): the proposal, or the incumbent in a tie."""
        return self.baselines["incumbent"] if self.keep else self.proposal

    @property
    def predicted(self) -> dict[str, Prediction]:
        """Losses of the recommended mixture by target."""
        return self.fits.predict(self.surface.inputs(self.mixture[None]))

    @property
    def accuracies(self) -> dict[str, Accuracy]:
        """Accuracies of the recommended mixture by predictable task."""
        return predict_accuracies(self.fits, self.surface.inputs(self.mixture[None]))


def choose(fits: FitSet, request: Request | None = None, *, progress: Callable[[float], None] | None = None) -> Choice:
    """Find the mixture with the best predicted objective that satisfies every constraint, and judge it.

    Raises:
        InputError: for names that the fit does not know, or a scale that the laws need and nobody gave.
        InfeasibleError: naming the constraints that collide.
    """
    request = request or Request()
    best_run, baselines = _baselines(fits, request)
    found = search(fits, request, baselines, progress=progress)
    proposal, scale = found.optimum.mixture, request.scale
    judged = standings(found.surface, proposal, baselines)
    for name, share in baselines.items():
        judged[name] = replace(judged[name], allowed=_allowed(found, share))
    current = judged.get("incumbent")
    keep = current is not None and current.allowed and (current.tie or current.ahead)
    noise = run_noise(fits, found.surface, proposal)
    mixture = baselines["incumbent"] if keep else proposal
    choice = Choice(
        request=request, fits=fits, found=found, baselines=baselines, best_run=best_run, standings=judged, keep=keep,
        noise=noise, ranges=ranges(found.function, found.region, found.optimum, noise),
        prices=prices(found, request.domains, scale.tokens),
        epochs=epochs(request.domains, fits.domains, mixture, scale.tokens, fits.seen),
        nearest=nearest(fits.seen, mixture), flags=(),
    )  # fmt: skip
    return replace(choice, flags=tuple(_flags(choice)))


def by_scale(fits: FitSet, request: Request, scales: Sequence[Scale]) -> list[tuple[Scale, Found]]:
    """The optimum at several scales, to see how it moves."""
    out = []
    for scale in scales:
        asked = replace(request, scale=scale)
        out.append((scale, search(fits, asked, _baselines(fits, asked)[1])))
    return out


def _baselines(fits: FitSet, request: Request) -> tuple[str, dict[str, Floats]]:
    objective = request.objective.over(fits.targets, fits.benchmarks)
    return starts_of(fits, request, Surface.of(fits, objective, request.scale))


def _allowed(found: Found, share: Floats) -> bool:
    return found.region.contains(share) and all(bound.excess(share) <= 1e-9 for bound in found.bounds)


def _units(choice: Choice) -> str:
    """The losses of the objective by unit where they have several; else empty."""
    by_unit: dict[str, list[str]] = {}
    for name in choice.surface.weights:
        if name.startswith("loss/"):
            by_unit.setdefault(choice.fits.units[name[5:]].value, []).append(name[5:])
    listed = [f"{unit} ({shorten(targets, 3)})" for unit, targets in by_unit.items()]
    return f"{' and '.join(listed)}; name the losses to use, with weights, in --objective" if len(listed) > 1 else ""


def _flags(choice: Choice) -> Iterator[Flag]:
    scale, optimum = choice.request.scale, choice.found.optimum
    yield from doubts_at(choice.fits, choice.mixture, scale.params, scale.tokens)
    if mixed := _units(choice):
        yield Flag(Doubt.MIXED_UNITS, mixed)
    for name, share in choice.baselines.items():
        outside = choice.fits.outside(share)
        if outside and not (choice.keep and name == "incumbent"):
            yield Flag(Doubt.BASELINE_EXTRAPOLATES, f"{name.replace('_', ' ')}: {outside}")
    near = choice.nearest
    if near.distance > near.usual:
        yield Flag(Doubt.FAR_FROM_RUNS, f"{near.distance:.2f} from {near.run}, runs at most {near.usual:.2f} apart")
    repeated = {domain: found for domain, found in choice.epochs.items() if found and found.mismatch}
    if repeated:
        listed = (f"{d} {e.target:.2g} epochs (proxies {e.proxies:.2g})" for d, e in repeated.items())
        yield Flag(Doubt.REPEATS_MORE, ", ".join(listed))
    if not choice.fits.bootstrapped:
        yield Flag(Doubt.NO_BOOTSTRAP)
    yield from calibration_flags(choice.fits)
    if not optimum.converged:
        yield Flag(Doubt.SEARCH_UNFINISHED, f"off by {optimum.residual:.0e}")
    ties = {
        name: found for name, found in choice.standings.items() if name != "proposal" and found.tie and found.allowed
    }
    if ties:
        listed = (f"{n.replace('_', ' ')} (beaten with probability {s.beaten:.2f})" for n, s in ties.items())
        yield Flag(Doubt.TIE, ", ".join(listed))
    small = {n: s for n, s in choice.standings.items() if s.probability >= SURE and 0 < -s.regret[1] < choice.noise}
    if small:
        listed = (f"{n.replace('_', ' ')} by {-s.regret[1]:.2g}" for n, s in small.items())
        yield Flag(Doubt.SMALL_GAIN, f"{', '.join(listed)} (scatter of one run {choice.noise:.2g})")
    flat = {name: found for name, found in choice.ranges.items() if found.flat}
    if flat:
        yield Flag(Doubt.FLAT, ", ".join(f"{name} {r.low:.2f}-{r.high:.2f}" for name, r in flat.items()))
