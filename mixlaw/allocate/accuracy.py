"""What a set of runs buys: the expected error at the target, before any of them is made.

Around a prior the log loss is linear in the parameters, ``y = J theta + d + e``, with a misfit ``d`` of the law and
noise ``e``. ``mixlaw fit`` weights all rows alike, so its estimate is ``theta^ = (J'J + ridge)^-1 J' y`` and the error
at target mixtures with Jacobian ``G`` is, with ``H = G (J'J + ridge)^-1 J'``,

    H (d + e) - d_target  -  (G - H J)(theta - prior)

whose mean square over prior, misfit and noise is the criterion: I-optimality (``g' (J'WJ + ridge)^-1 g`` averaged over
candidate mixtures, the variance term) with the model error of Box and Draper (1959) added. The misfit is a Gaussian
process that is smooth in log N, log D and the mixture: what makes a crowd of small runs pull a fit away from the
target. Its sizes are measured on the fitting part of the public tables (see ``Misfit``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mixlaw.allocate.menu import Indices, Menu
from mixlaw.allocate.prior import Prior, drawn
from mixlaw.laws.base import Floats, Inputs, Law

MEAN_OF_NORMAL = float(np.sqrt(2 / np.pi))
"""Mean absolute value of a normal variable of standard deviation 1."""
RIDGE = 1e-6
"""The ridge of ``mixlaw fit`` on transformed parameters."""


@dataclass(frozen=True)
class Misfit:
    """Standard deviations of log losses, and how far misfit reaches.

    Rounded from restricted maximum likelihood on the residuals of ``capacity`` on the 122M and 310M runs of the
    public DMSL table (four targets), and checked by a replay that predicts the 680M runs from those two sizes; the
    937M runs had no part in them.

    Attributes:
        common: misfit that all mixtures share (schedules, tokenisers, the form in N and D).
        mixture: misfit that differs between mixtures.
        run: noise of a whole run (seed).
        checkpoint: noise of a checkpoint.
        reach_params: distance in log N over which misfit fades.
        reach_tokens: distance in log D over which the common misfit fades.
        reach_mixture: Hellinger-type distance (between square roots of shares) over which misfit fades.
    """

    common: float = 6e-3
    mixture: float = 8e-3
    run: float = 1.5e-3
    checkpoint: float = 3.5e-3
    reach_params: float = 1.0
    reach_tokens: float = 0.7
    reach_mixture: float = 0.35

    def covariance(self, left: Inputs, right: Inputs) -> Floats:
        """Covariance of the misfit between two sets of rows, shape (n, m)."""
        size = _bell(left.log_params[:, None] - right.log_params, self.reach_params)
        time = _bell(left.log_tokens[:, None] - right.log_tokens, self.reach_tokens)
        near = np.sqrt(left.mixtures) @ np.sqrt(right.mixtures).T
        apart = np.sqrt(np.maximum(2 - 2 * near, 0))[np.ix_(left.code, right.code)]
        return np.asarray(
            size * (self.common**2 * time + self.mixture**2 * _bell(apart, self.reach_mixture)), dtype=np.float64
        )


def _bell(distance: Floats, reach: float) -> Floats:
    return np.asarray(np.exp(-0.5 * (distance / reach) ** 2))


def log_jacobian(law: Law, theta: Floats, inputs: Inputs) -> Floats:
    """Derivative of log predictions by theta, shape (S, n, P)."""
    return np.asarray(law.gradient(theta, inputs) / law.predict(theta, inputs)[..., None])


class Accuracy:
    """Expected errors of choices from a menu.

    Attributes:
        menu: the runs.
        prior: S parameter vectors.
        goal: candidate mixtures at the target scale, m rows.
        jacobian: of the log losses of all rows of the menu, shape (S, n, P).
        between: covariance of misfit and noise between them, shape (n, n).
        shared: covariance of their misfit with that of the goal, through the goal's Jacobian, shape (S, P, n).
    """

    def __init__(self, menu: Menu, prior: Prior, goal: Inputs, misfit: Misfit | None = None) -> None:
        """Prepare Jacobians and covariances of the whole menu; memory grows with its rows squared."""
        self.menu, self.prior, self.goal = menu, prior, goal
        self.misfit = misfit = misfit or Misfit()
        self.jacobian = log_jacobian(prior.law, prior.theta, menu.inputs)
        self.at_goal = log_jacobian(prior.law, prior.theta, goal)
        same = menu.run[:, None] == menu.run
        self.between = misfit.covariance(menu.inputs, menu.inputs) + misfit.run**2 * same
        self.between[np.diag_indices(len(menu.run))] += misfit.checkpoint**2
        self.to_goal = misfit.covariance(menu.inputs, goal)
        self.of_goal = misfit.covariance(goal, goal)
        self._ridge = RIDGE * np.eye(prior.theta.shape[1])
        turned = self.at_goal.transpose(0, 2, 1)
        self._square = turned @ self.at_goal / len(goal)
        self.shared = turned @ self.to_goal.T / len(goal)
        self._floor = float(np.diag(self.of_goal).mean())

    def averaged(self, rng: np.random.Generator, *, done: int = 0) -> Accuracy:
        """The same menu and goal, averaged over draws of what is not known before any run is bought."""
        wide = drawn(self.prior, rng, covariance=self._open(), done=done)
        return Accuracy(self.menu, wide, self.goal, self.misfit)

    def _open(self) -> Floats:
        """Covariance of the parameters given the runs done, shape (S, P, P)."""
        rows, square = self.menu.done_rows, np.diag(self.prior.spread**2)
        known = self.jacobian[:, rows] @ square
        seen = known @ self.jacobian[:, rows].transpose(0, 2, 1) + self.between[np.ix_(rows, rows)]
        left = square - known.transpose(0, 2, 1) @ np.linalg.solve(seen, known)
        return np.asarray((left + left.transpose(0, 2, 1)) / 2 + 1e-9 * np.eye(len(square)))

    def judged_on(self, goal: Inputs) -> Accuracy:
        """The same menu and prior with other candidate mixtures."""
        return Accuracy(self.menu, self.prior, goal, self.misfit)

    def _pull(self, runs: Indices | Sequence[int]) -> tuple[Indices, Floats, Floats]:
        """Rows of a choice with the runs done, ``H`` (S, m, n) and what a shrunk fit leaves, (S, m, P)."""
        rows = np.concatenate([self.menu.done_rows, self.menu.rows(runs)])
        jacobian = self.jacobian[:, rows]
        turned = jacobian.transpose(0, 2, 1)
        pull = np.matmul(self.at_goal, np.linalg.solve(turned @ jacobian + self._ridge, turned))
        return rows, pull, (self.at_goal - pull @ jacobian) * self.prior.spread

    def variance(self, runs: Indices | Sequence[int]) -> Floats:
        """Mean squared error of log predictions, shape (S, m)."""
        rows, pull, left = self._pull(runs)
        spread = ((pull @ self.between[np.ix_(rows, rows)]) * pull).sum(axis=-1)
        shared = (pull * self.to_goal[rows].T).sum(axis=-1)
        return np.asarray(np.maximum(spread - 2 * shared + np.diag(self.of_goal), 0) + (left**2).sum(axis=-1))

    def criterion(self, runs: Indices | Sequence[int]) -> float:
        """The mean of ``variance``: what an optimal choice makes small.

        Sums over the m candidate mixtures are done once, for ``G'G``, so that a call costs the same for any m.
        """
        rows = np.concatenate([self.menu.done_rows, self.menu.rows(runs)])
        jacobian = self.jacobian[:, rows]
        turned = jacobian.transpose(0, 2, 1)
        middle = turned @ self.between[np.ix_(rows, rows)] @ jacobian
        return self.of_sums(turned @ jacobian, middle, self.shared[:, :, rows] @ jacobian)

    def of_sums(self, normal: Floats, middle: Floats, shared: Floats) -> float:
        """The criterion from ``J'J``, ``J'CJ`` and the products of J with what rows share with the goal, all (S, P, P).

        C is the covariance of misfit and noise between rows.
        """
        inverse = np.linalg.inv(normal + self._ridge)
        spread = ((inverse @ self._square @ inverse) * middle).sum()
        left = (np.eye(normal.shape[1]) - inverse @ normal) * self.prior.spread
        shrunk = ((self._square @ left) * left).sum()
        return float((spread - 2 * (inverse * shared).sum() + shrunk) / len(normal)) + self._floor

    def error(self, runs: Indices | Sequence[int]) -> float:
        """Expected mean relative error at the target."""
        return MEAN_OF_NORMAL * float(np.sqrt(self.variance(runs)).mean())

    def covariance(self, runs: Indices | Sequence[int]) -> Floats:
        """Covariance of the errors of log predictions between candidate mixtures, shape (S, m, m)."""
        rows, pull, left = self._pull(runs)
        shared = pull @ self.to_goal[rows]
        spread = pull @ self.between[np.ix_(rows, rows)] @ pull.transpose(0, 2, 1)
        return np.asarray(spread - shared - shared.transpose(0, 2, 1) + self.of_goal + left @ left.transpose(0, 2, 1))

    def regret(self, runs: Indices | Sequence[int], rng: np.random.Generator, *, draws: int = 200) -> float:
        """Expected loss of the mixture that would be picked, minus the best candidate's; mean over targets."""
        loss = self.prior.law.predict(self.prior.theta, self.goal)
        noise = rng.standard_normal((draws, loss.shape[1]))
        total = 0.0
        for one, covariance in zip(loss, self.covariance(runs), strict=True):
            values, vectors = np.linalg.eigh(covariance)
            errors = noise @ (vectors * np.sqrt(np.maximum(values, 0))).T
            picked = np.argmin(np.log(one) + errors, axis=1)
            total += float((one[picked] - one.min()).mean())
        return total / len(loss)
