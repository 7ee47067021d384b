"""The criterion of a choice that changes by a few runs at a time, without going through all of its rows again."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mixlaw.allocate.accuracy import Accuracy
from mixlaw.allocate.menu import Indices
from mixlaw.laws.base import Floats


class Tally:
    """Sums over the rows of a choice that the criterion is made of, for S parameter vectors.

    Attributes:
        accuracy: what the criterion is.
        value: the criterion of the choice.
    """

    def __init__(self, accuracy: Accuracy, runs: Indices) -> None:
        """Sum over the runs done and the runs chosen."""
        self.accuracy = accuracy
        menu = accuracy.menu
        rows = np.concatenate([menu.done_rows, menu.rows(runs)])
        jacobian = accuracy.jacobian[:, rows]
        turned = jacobian.transpose(0, 2, 1)
        self._normal = turned @ jacobian
        self._pull = accuracy.between[:, rows] @ jacobian  # (S, rows of the menu, P)
        self._middle = turned @ self._pull[:, rows]
        self._shared = accuracy.shared[:, :, rows] @ jacobian
        self.value = self.accuracy.of_sums(self._normal, self._middle, self._shared)

    def _sums(self, rows: Indices, signed: Floats) -> tuple[Floats, Floats, Floats]:
        """The sums after rows have come in and gone; ``signed`` are their Jacobians, negative for those that go."""
        turned = signed.transpose(0, 2, 1)
        cross = turned @ self._pull[:, rows]
        own = turned @ self.accuracy.between[np.ix_(rows, rows)] @ signed
        return (
            self._normal + turned @ self.accuracy.jacobian[:, rows],
            self._middle + cross + cross.transpose(0, 2, 1) + own,
            self._shared + self.accuracy.shared[:, :, rows] @ signed,
        )

    def _signed(self, gone: Iterable[int], come: Iterable[int]) -> tuple[Indices, Floats]:
        menu = self.accuracy.menu
        out, into = menu.rows(list(gone)), menu.rows(list(come))
        rows = np.concatenate([out, into])
        sign = np.where(np.arange(len(rows)) < len(out), -1.0, 1.0)
        return rows, self.accuracy.jacobian[:, rows] * sign[:, None]

    def after(self, gone: Iterable[int], come: Iterable[int]) -> float:
        """The criterion if some runs were replaced by others."""
        return self.accuracy.of_sums(*self._sums(*self._signed(gone, come)))

    def change(self, gone: Iterable[int], come: Iterable[int]) -> None:
        """Replace some runs by others."""
        rows, signed = self._signed(gone, come)
        self._normal, self._middle, self._shared = self._sums(rows, signed)
        self._pull = self._pull + self.accuracy.between[:, rows] @ signed
        self.value = self.accuracy.of_sums(self._normal, self._middle, self._shared)
