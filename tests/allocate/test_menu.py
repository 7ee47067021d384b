from __future__ import annotations

import numpy as np

from mixlaw.allocate.menu import Menu
from mixlaw.allocate.sizes import Size
from mixlaw.laws.base import Inputs


def test_every_mixture_at_every_size(menu: Menu, sizes: tuple[Size, ...]) -> None:
    assert len(menu.size) == 36 and len(menu.inputs) == 72
    for run in (0, 13, 35):
        rows = menu.rows([run])
        size = sizes[menu.size[run]]
        assert menu.inputs.tokens[rows].tolist() == list(size.tokens)
        assert set(menu.inputs.params[rows]) == {size.params}
        assert menu.cost[run] == size.cost
        assert np.array_equal(menu.inputs.shares[rows[0]], menu.inputs.mixtures[menu.mixture[run]])
    assert menu.prices.tolist() == [s.cost for s in sizes]
    assert menu.stock.tolist() == [12, 12, 12]


def test_done_runs_are_free_and_not_for_sale(menu: Menu) -> None:
    rows = Inputs.build(menu.inputs.domains, np.array([[1.0, 0, 0], [1.0, 0, 0], [0, 0.5, 0.5]]), 1e8, 2e9)
    more = menu.after(rows, np.array([0, 0, 1]))
    assert more.done.sum() == 2 and more.sizes == menu.sizes
    assert len(more.done_rows) == 3
    assert np.array_equal(more.inputs.shares[more.done_rows], rows.shares)
    assert more.stock.tolist() == menu.stock.tolist()
    assert np.array_equal(more.inputs.shares[:72], menu.inputs.shares)
