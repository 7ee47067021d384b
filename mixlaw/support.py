"""What a law can be fitted to: the form that the data support, the targets that it serves, the rows of all of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mixlaw.dataset import Dataset
from mixlaw.errors import InputError
from mixlaw.laws.base import DomainLaw, Law


def form_for(law: Law, dataset: Dataset) -> Law:
    """The law itself, or its richest reduced form that the data can support.

    Raises:
        InputError: naming what the data lack.
    """
    for form in (law, *law.reduced):
        if form.needs <= dataset.varies:
            return form
    lacking = (law, *law.reduced)[-1].needs - dataset.varies
    wanted = {"params": "several model sizes", "tokens": "several token counts", "mix": "several mixtures"}
    raise InputError(
        f"{' and '.join(wanted[n] for n in sorted(lacking))} for the law {law.name!r}",
        "one or none of each",
        hint="Choose another law with --law, or add runs.",
    )


def served(law: Law, dataset: Dataset) -> tuple[str, ...]:
    """The targets that a law can predict: all, or those that are domains.

    Raises:
        InputError: when there is none.
    """
    if not isinstance(law, DomainLaw):
        return dataset.targets
    targets = tuple(t for t in dataset.targets if t in dataset.inputs.domains)
    if not targets:
        raise InputError(
            f"losses on training domains ({', '.join(dataset.inputs.domains)}) for the law {law.name!r}",
            f"losses on {', '.join(dataset.targets)}",
            hint="Choose another law with --law, or name the losses as the domains.",
        )
    return targets


def stacked(dataset: Dataset) -> Dataset:
    """The rows of all targets under one another, as losses of one target; each row knows its domain."""
    count, rows = len(dataset.targets), np.tile(np.arange(len(dataset)), len(dataset.targets))
    about = np.repeat([dataset.inputs.domains.index(t) for t in dataset.targets], len(dataset)).astype(np.intp)
    return replace(
        dataset,
        inputs=replace(dataset.inputs.rows(rows), about=about),
        targets=("all domains",),
        units=dataset.units[:1],
        log_y=dataset.log_y.reshape(1, count * len(dataset)),
        weights=dataset.weights.reshape(1, count * len(dataset)),
        run=dataset.run[rows],
    )
