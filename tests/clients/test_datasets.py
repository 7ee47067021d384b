"""Hugging Face datasets draws documents; written by mixlaw, their tokens have the mixture."""

from __future__ import annotations

import runpy
from itertools import islice

import numpy as np
import pytest
import yaml

pytestmark = pytest.mark.filterwarnings("default")
datasets = pytest.importorskip("datasets", reason="datasets is not installed", exc_type=ImportError)

DRAWS = 20_000


def endless(corpus, name):
    """Documents of one domain, over and over: (number of the domain, length)."""
    lengths = [len(document) for document in corpus.documents[name]]
    number = corpus.names.index(name) + 1

    def rows():
        rng = np.random.default_rng(number)
        while True:
            for i in rng.permutation(len(lengths)):
                yield {"domain": number, "tokens": lengths[i]}

    return datasets.IterableDataset.from_generator(rows)


def drawn(corpus, rows):
    tokens = dict.fromkeys(range(1, 4), 0)
    for row in islice(rows, DRAWS):
        tokens[row["domain"]] += row["tokens"]
    total = sum(tokens.values())
    return {name: tokens[i] / total for i, name in enumerate(corpus.names, start=1)}


def off_by(corpus, shares):
    errors = corpus.error(DRAWS)
    return max(abs(shares[name] - corpus.shares[name]) / errors[name] for name in corpus.names)


def test_the_yaml_draws_the_token_mixture(corpus):
    content = yaml.safe_load(corpus.write("hf", {name: name for name in corpus.names}))
    rows = datasets.interleave_datasets(
        [endless(corpus, name) for name in content["paths"]],
        probabilities=content["probabilities"],
        stopping_strategy=content["stopping_strategy"],
        seed=0,
    )
    assert off_by(corpus, drawn(corpus, rows)) < 4


def test_the_module_draws_the_token_mixture(corpus, tmp_path):
    path = tmp_path / "mixture.py"
    path.write_text(corpus.write("hf-python", {name: name for name in corpus.names}))
    module = runpy.run_path(str(path))
    rows = module["mixture"](load=lambda name: endless(corpus, name), seed=1)
    assert off_by(corpus, drawn(corpus, rows)) < 4


def test_shares_passed_as_they_are_draw_another_mixture(corpus):
    rows = datasets.interleave_datasets(
        [endless(corpus, name) for name in corpus.names], probabilities=list(corpus.shares.values()), seed=0
    )
    shares = drawn(corpus, rows)
    assert shares == pytest.approx({"web": 300 / 770, "code": 450 / 770, "math": 20 / 770}, abs=0.015)
    assert off_by(corpus, shares) > 30


def test_the_sum_is_checked_to_1e_8():
    sets = [datasets.Dataset.from_dict({"x": [1]}), datasets.Dataset.from_dict({"x": [2]})]
    datasets.interleave_datasets(sets, probabilities=[0.6, 0.4 + 1e-9], seed=0)
    with pytest.raises(ValueError, match=r"[Pp]robabilities"):
        datasets.interleave_datasets(sets, probabilities=[0.6, 0.4 + 1e-7], seed=0)
