"""MosaicML Streaming draws from real shards with the streams of our YAML."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

import numpy as np
import pytest
import yaml

from mixlaw.export import ExportOptions

pytestmark = pytest.mark.filterwarnings("default")

BLOCK = 128


def stand_in(name, **content):
    """Put a module that Streaming imports for images alone into place (the real one needs a CUDA build)."""
    module = ModuleType(name)
    module.__spec__ = ModuleSpec(name, None)
    module.__path__ = []
    module.__dict__.update(content)
    sys.modules[name] = module
    return module


try:
    import torchvision  # noqa: F401
except ImportError:
    data = stand_in("torchvision.datasets", VisionDataset=type("VisionDataset", (), {}))
    functional = stand_in("torchvision.transforms.functional", to_tensor=None)
    transforms = stand_in("torchvision.transforms", functional=functional)
    stand_in("torchvision", datasets=data, transforms=transforms)

streaming = pytest.importorskip("streaming", reason="mosaicml-streaming is not installed", exc_type=ImportError)


def write_shards(folder, samples):
    with streaming.MDSWriter(out=str(folder), columns={"tokens": "ndarray:int64"}, size_limit="64kb") as out:
        for sample in samples:
            out.write({"tokens": sample})


@pytest.fixture(scope="module")
def documents(corpus, tmp_path_factory):
    """One sample a document."""
    folder = tmp_path_factory.mktemp("documents")
    for name, found in corpus.documents.items():
        write_shards(folder / name, found)
    return {name: folder / name for name in corpus.names}


@pytest.fixture(scope="module")
def blocks(corpus, tmp_path_factory):
    """One sample a block of tokens."""
    folder = tmp_path_factory.mktemp("blocks")
    for name, found in corpus.documents.items():
        tokens = np.concatenate(found)
        write_shards(folder / name, tokens[: len(tokens) // BLOCK * BLOCK].reshape(-1, BLOCK))
    return {name: folder / name for name in corpus.names}


def drawn(corpus, text, **options):
    content = yaml.safe_load(text)["train_loader"]["dataset"]
    streams = [streaming.Stream(**stream) for stream in content["streams"].values()]
    options = {"epoch_size": content.get("epoch_size"), **options}
    set_ = streaming.StreamingDataset(streams=streams, batch_size=1, shuffle=True, num_canonical_nodes=1, **options)
    samples = [sample["tokens"] for sample in set_]
    return len(samples), corpus.drawn(samples)


@pytest.fixture(autouse=True)
def clean():
    """Shared memory of an earlier data set must not be in the way."""
    streaming.base.util.clean_stale_shared_memory()


def test_proportions_of_blocks_are_token_shares(corpus, blocks):
    options = ExportOptions(tokens=1000 * BLOCK, sequence_length=BLOCK)
    samples, shares = drawn(corpus, corpus.write("streaming", blocks, options=options))
    assert samples == 1000
    assert shares == pytest.approx(corpus.shares, abs=1.5 / samples)


def test_proportions_of_documents_give_the_token_mixture(corpus, documents):
    samples, shares = drawn(corpus, corpus.write("streaming-text", documents), epoch_size=4000)
    errors = corpus.error(samples)
    assert max(abs(shares[n] - corpus.shares[n]) / errors[n] for n in corpus.names) < 4


def test_shares_as_proportions_of_documents_draw_another_mixture(corpus, documents):
    _, shares = drawn(corpus, corpus.write("streaming", documents), epoch_size=4000)
    assert shares == pytest.approx({"web": 300 / 770, "code": 450 / 770, "math": 20 / 770}, abs=0.02)


@pytest.mark.parametrize("form", ["streaming-repeat", "streaming-choose"])
def test_passes_and_counts_give_the_token_mixture(corpus, documents, form):
    options = ExportOptions(tokens=600_000)
    samples, shares = drawn(corpus, corpus.write(form, documents, options=options))
    errors = corpus.error(samples)
    assert max(abs(shares[n] - corpus.shares[n]) / errors[n] for n in corpus.names) < 4


def test_a_number_in_quotes_is_refused(blocks):
    with pytest.raises(TypeError):
        streaming.StreamingDataset(streams=[streaming.Stream(local=str(blocks["web"]), proportion="0.6")], batch_size=1)
