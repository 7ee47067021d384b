"""Hugging Face ``interleave_datasets``: a Python module that draws the mixture as it stands."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from decimal import Decimal

from mixlaw.errors import InputError
from mixlaw.export.base import About, Meaning, Order, Reading, Written
from mixlaw.export.convert import LENGTH, probabilities
from mixlaw.export.digits import plain
from mixlaw.export.hf import read_interleave

_TEMPLATE = '''"""Draw documents such that the tokens have the shares of the mixture (written by mixlaw)."""

from datasets import interleave_datasets, load_dataset

PROBABILITIES = {probabilities}

PATHS = {paths}


def load(path):
    """Change this to where your data are: a name on the hub, or a folder."""
    return load_dataset(path, split="train", streaming=True)


def mixture(load=load, seed=0):
    """All sources in one stream; probabilities are per document."""
    return interleave_datasets(
        [load(PATHS[name]) for name in PROBABILITIES],
        probabilities=list(PROBABILITIES.values()),
        seed=seed,
        stopping_strategy="all_exhausted",
    )


if __name__ == "__main__":
    for row in mixture().take(3):
        print(row)
'''


class HuggingFacePython:
    """The module."""

    about = About(
        "hf-python",
        "Hugging Face datasets (a Python module to import or edit)",
        Meaning.PROBABILITY,
        "datasets 5.2.0: rows drawn",
        (LENGTH,),
    )

    def write(self, order: Order) -> Written:
        """Names, paths and probabilities as Python literals, and the call."""
        shares = probabilities(order, "Hugging Face draws documents")
        paths = {name: repr(path) for name, path in order.single_paths().items()}
        return Written(_TEMPLATE.format(probabilities=_literal(_digits(shares)), paths=_literal(paths)))

    def read(self, text: str) -> Reading:
        """Read PROBABILITIES without running anything, and the strategy of the call."""
        try:
            tree = ast.parse(text.replace("\0", "?"))
        except SyntaxError as error:
            raise InputError("a Python module", str(error)) from error
        numbers = _assigned(tree, "PROBABILITIES")
        return read_interleave(list(numbers), list(numbers.values()), _strategy(tree))


def _digits(shares: Mapping[str, Decimal]) -> dict[str, str]:
    return {name: plain(share) for name, share in shares.items()}


def _literal(values: Mapping[str, str]) -> str:
    return "{\n" + "".join(f"    {name!r}: {value},\n" for name, value in values.items()) + "}"


def _assigned(tree: ast.Module, name: str) -> dict[str, object]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
            found = node.value
            if not isinstance(found, ast.Dict) or not all(map(_written_out, (*found.keys, *found.values))):
                raise InputError(f"{name} written out as names and numbers", "a computed value")
            return {str(key): value for key, value in ast.literal_eval(found).items()}
    raise InputError(f"a mapping {name} = {{name: number, ...}} at the top of the module", "none")


def _written_out(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant)


def _strategy(tree: ast.Module) -> object:
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "stopping_strategy" and isinstance(node.value, ast.Constant):
            return node.value.value
    return None
