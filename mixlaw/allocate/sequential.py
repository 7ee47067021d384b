"""What to run next: the runs that lower the expected regret of the decision most.

Given the runs that are done, the losses at the candidate mixtures and the loss of a run that could be made are jointly
normal (parameters, misfit and noise, linearised at the fit). After a run x with loss y the mean losses move by
``c(x) z / sqrt(v(x))`` with z standard normal, where c is the covariance of y with the candidates' losses and v its
variance. A run is worth what it does to the decision, ``min mu - E[min(mu + c z / sqrt v)]`` (the knowledge gradient
of Frazier, Powell and Dayanik, 2009), for mu the mean over targets: variance that cannot change the choice counts for
nothing. Several runs are proposed one after another, each given those before it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mixlaw.allocate.accuracy import Accuracy, Misfit
from mixlaw.allocate.menu import Indices
from mixlaw.errors import InputError
from mixlaw.laws.base import Floats

DRAWS = 1024
"""Draws of surprises on which runs are compared; the second half is the first with its sign turned."""
SETTLED = 1e-7
"""Expected gain (nats) below which the decision counts as made."""
TOLD = 16384
"""Draws on which the regret that is reported is averaged: a change of mind is a rare event."""


@dataclass(frozen=True)
class Step:
    """One proposed run.

    Attributes:
        run: position in the menu.
        cost: of the run.
        regret: expected regret once this run and those before it are done.
    """

    run: int
    cost: float
    regret: float


@dataclass(frozen=True)
class Proposal:
    """Runs to make next.

    Attributes:
        before: expected regret of deciding now.
        steps: in order.
        settled: no run is expected to change the decision, so that runs were chosen by what they take off the
            variance at the candidates.
    """

    before: float
    steps: tuple[Step, ...]
    settled: bool = False

    @property
    def runs(self) -> Indices:
        """Positions in the menu, in order."""
        return np.array([s.run for s in self.steps], dtype=np.intp)


class Belief:
    """Losses at the candidates and of every run that could be made, given the runs that are done.

    Attributes:
        mean: expected log losses at the candidates, shape (S, m).
        goal: their covariance, shape (S, m, m).
        cross: covariance of each run's last loss with them, shape (S, R, m).
        variance: of each run's last loss, shape (S, R).
    """

    def __init__(self, accuracy: Accuracy, misfit: Misfit | None = None) -> None:
        """Condition on the runs of the menu that are done."""
        menu, prior = accuracy.menu, accuracy.prior
        self.runs = np.flatnonzero(~menu.done)
        last = np.array([menu.rows([int(r)])[-1] for r in self.runs], dtype=np.intp)
        done = menu.done_rows
        jacobian = accuracy.jacobian * prior.spread
        self._runs, at_done, at_goal = jacobian[:, last], jacobian[:, done], accuracy.at_goal * prior.spread
        self._between = accuracy.between[np.ix_(last, last)]
        known = at_done @ _turned(at_done) + accuracy.between[np.ix_(done, done)]
        self._to_runs = at_done @ _turned(self._runs) + accuracy.between[np.ix_(done, last)]
        self._solved = np.linalg.solve(known, self._to_runs)
        to_goal = at_done @ _turned(at_goal) + accuracy.to_goal[done]
        self.mean = np.log(prior.law.predict(prior.theta, accuracy.goal))
        self.goal = at_goal @ _turned(at_goal) + accuracy.of_goal - _turned(to_goal) @ np.linalg.solve(known, to_goal)
        unknown = self._runs @ _turned(at_goal) + accuracy.to_goal[last]
        self.cross = unknown - _turned(self._solved) @ to_goal
        spread = (self._runs**2).sum(axis=-1) + np.diag(self._between)
        least = (misfit or Misfit()).checkpoint ** 2
        self.variance = np.maximum(spread - (self._solved * self._to_runs).sum(axis=1), least)
        self._columns: list[tuple[Floats, Floats]] = []

    def observe(self, place: int) -> Floats:
        """Take it that the run at ``place`` is made: update, and return how far it moves the means, (S, m)."""
        column = np.matmul(self._runs, self._runs[:, place, :, None])[..., 0] + self._between[place]
        column -= np.einsum("snr,sn->sr", self._solved, self._to_runs[:, :, place])
        for earlier, scale in self._columns:
            column -= earlier * (earlier[:, place] / scale)[:, None]
        scale = self.variance[:, place].copy()
        moved = self.cross[:, place].copy()
        self._columns.append((column, scale))
        self.cross -= (column / scale[:, None])[..., None] * moved[:, None, :]
        self.variance = np.maximum(self.variance - column**2 / scale[:, None], 1e-12)
        return np.asarray(moved / np.sqrt(scale)[:, None])


def _normal(rng: np.random.Generator, draws: int, width: int) -> Floats:
    half = rng.standard_normal((draws // 2, width))
    return np.concatenate([half, -half])


def _turned(stack: Floats) -> Floats:
    """A stack of matrices, each transposed."""
    return stack.transpose(0, 2, 1)


def propose(accuracy: Accuracy, rng: np.random.Generator, *, count: int, budget: float | None = None) -> Proposal:
    """Propose the next ``count`` runs.

    With a budget each run may cost at most an equal part of what is left, and the run that lowers the expected regret
    most is taken; without one the run that lowers it most per unit of cost.

    Raises:
        InputError: when no run fits into the budget, or the menu is empty.
    """
    belief = Belief(accuracy)
    menu = accuracy.menu
    cost = menu.cost[belief.runs]
    loss = np.exp(belief.mean)
    targets = len(loss)
    centre = loss.mean(axis=0)
    before = _regret_now(belief, loss, rng)
    noise = _normal(rng, DRAWS, targets)
    moved = np.broadcast_to(centre, (DRAWS, len(centre))).copy()
    told = np.broadcast_to(centre, (TOLD, len(centre))).copy()
    free = np.ones(len(cost), dtype=bool)
    left, settled = budget, False
    steps: list[Step] = []
    for made in range(count):
        fits = free if left is None else free & (cost <= left / (count - made) * (1 + 1e-12))
        if not fits.any():
            raise InputError(
                f"a budget that buys {count} runs", f"{budget:.3g}, the cheapest run costs {cost.min():.3g}"
            )
        gain = _gains(belief, loss, moved, noise)
        if gain.max() < SETTLED:
            settled, gain = True, (belief.cross**2).mean(axis=(0, 2)) / belief.variance.mean(axis=0)
        worth = np.where(fits, gain / cost if left is None else gain, -np.inf)
        place = int(np.argmax(worth))
        step = belief.observe(place) * loss
        moved += _normal(rng, DRAWS, targets) @ step / targets
        told += _normal(rng, TOLD, targets) @ step / targets
        free[place] = False
        left = None if left is None else left - float(cost[place])
        regret = max(0.0, before - float(centre.min() - told.min(axis=1).mean()))
        steps.append(Step(int(belief.runs[place]), float(cost[place]), regret))
    return Proposal(before, tuple(steps), settled)


def _gains(belief: Belief, loss: Floats, moved: Floats, noise: Floats) -> Floats:
    """What each run takes off the expected regret, shape (R,), by draws that all runs share."""
    scaled = belief.cross / np.sqrt(belief.variance)[..., None] * loss[:, None, :] / len(loss)
    now = moved.min(axis=1).mean()
    gains = np.empty(scaled.shape[1])
    for first in range(0, len(gains), 64):
        part = np.tensordot(noise, scaled[:, first : first + 64], axes=1)
        gains[first : first + 64] = now - (moved[:, None, :] + part).min(axis=2).mean(axis=0)
    return gains


def _regret_now(belief: Belief, loss: Floats, rng: np.random.Generator) -> float:
    """Expected loss of the mixture with the best mean, minus the best there is."""
    covariance = (belief.goal * loss[:, :, None] * loss[:, None, :]).sum(axis=0) / len(loss) ** 2
    values, vectors = np.linalg.eigh(covariance)
    errors = _normal(rng, TOLD, len(values)) @ (vectors * np.sqrt(np.maximum(values, 0))).T
    centre = loss.mean(axis=0)
    picked = int(np.argmin(centre))
    truth = centre + errors
    return float((truth[:, picked] - truth.min(axis=1)).mean())
