"""megatron-core reads the words file, builds a blended dataset and draws the token mixture."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

pytestmark = pytest.mark.filterwarnings("default")
pytest.importorskip("megatron.core", reason="megatron-core is not installed", exc_type=ImportError)

SAMPLES = 1000
LENGTH = 128


@pytest.fixture(scope="module", autouse=True)
def process_group(tmp_path_factory):
    """The builder asks for its rank: one process on its own."""
    from torch import distributed

    store = tmp_path_factory.mktemp("store") / "store"
    distributed.init_process_group("gloo", init_method=f"file://{store}", rank=0, world_size=1)
    yield
    distributed.destroy_process_group()


@pytest.fixture(scope="module")
def prefixes(corpus, tmp_path_factory):
    from megatron.core.datasets.indexed_dataset import IndexedDatasetBuilder

    folder = tmp_path_factory.mktemp("megatron")
    for name, documents in corpus.documents.items():
        builder = IndexedDatasetBuilder(str(folder / f"{name}.bin"), dtype=np.int32)
        for document in documents:
            builder.add_document(document, [len(document)])
        builder.finalize(str(folder / f"{name}.idx"))
    return {name: folder / name for name in corpus.names}


def drawn(corpus, folder, **blend):
    from megatron.core.datasets.blended_megatron_dataset_builder import BlendedMegatronDatasetBuilder
    from megatron.core.datasets.gpt_dataset import GPTDataset, GPTDatasetConfig

    config = GPTDatasetConfig(
        random_seed=1,
        sequence_length=LENGTH,
        path_to_cache=str(folder / "cache"),
        tokenizer=SimpleNamespace(eod=0, pad=-1, vocab_size=100, unique_identifiers={"name": "numbers"}),
        reset_position_ids=False,
        reset_attention_mask=False,
        eod_mask_loss=False,
        **blend,
    )
    train = BlendedMegatronDatasetBuilder(GPTDataset, [SAMPLES, 0, 0], lambda: True, config).build()[0]
    assert len(train) >= SAMPLES
    return corpus.drawn(train[i]["tokens"].numpy() for i in range(SAMPLES))


def test_the_parser_takes_every_pair(corpus, prefixes):
    from megatron.core.datasets.utils import get_blend_from_list

    paths, weights = get_blend_from_list(corpus.write("megatron", prefixes).split())
    assert dict(zip(paths, weights, strict=True)) == {str(prefixes[n]): s for n, s in corpus.shares.items()}


def test_a_blend_of_1000_samples_has_the_token_mixture(corpus, prefixes, tmp_path):
    from megatron.core.datasets.utils import get_blend_from_list

    blend = get_blend_from_list(corpus.write("megatron", prefixes).split())
    shares = drawn(corpus, tmp_path, blend=blend, split="1,0,0")
    assert shares == pytest.approx(corpus.shares, abs=1.5 / SAMPLES)


def test_a_blend_per_split_has_the_token_mixture(corpus, prefixes, tmp_path):
    from megatron.core.datasets.utils import get_blend_from_list

    content = json.loads(corpus.write("megatron-split", prefixes))
    splits = [get_blend_from_list(content[key]) if content[key] else None for key in ("train", "valid", "test")]
    shares = drawn(corpus, tmp_path, blend_per_split=splits)
    assert shares == pytest.approx(corpus.shares, abs=1.5 / SAMPLES)


def test_a_comment_would_silently_drop_the_weights(corpus, prefixes):
    from megatron.core.datasets.utils import get_blend_from_list

    words = ["#mix", *corpus.write("megatron", prefixes).split()]
    paths, weights = get_blend_from_list(words)
    assert weights is None and "0.6" in paths
