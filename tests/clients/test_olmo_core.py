"""OLMo-core builds its source mixture from our YAML; the token files hold documents of different lengths."""

from __future__ import annotations

import numpy as np
import pytest

from mixlaw.export import ExportOptions

pytestmark = pytest.mark.filterwarnings("default")
pytest.importorskip("olmo_core", reason="ai2-olmo-core is not installed", exc_type=ImportError)

LENGTH = 64
END = 0
BATCH = 512


@pytest.fixture(scope="module")
def files(corpus, tmp_path_factory):
    folder = tmp_path_factory.mktemp("olmo")
    for name, documents in corpus.documents.items():
        tokens = np.concatenate([np.append(document[1:], END) for document in documents])
        tokens.astype(np.uint16).tofile(folder / f"{name}.npy")
    return {name: folder / f"{name}.npy" for name in corpus.names}


def mixture(text, tokens, folder):
    from olmo_core.data.source_mixture import SourceMixtureDatasetConfig, SourceMixtureList

    path = folder / "mixture.yaml"
    path.write_text(text)
    sources = SourceMixtureList.from_yaml(path)
    sources.validate()
    return SourceMixtureDatasetConfig(
        source_list=sources, requested_tokens=tokens, global_batch_size=BATCH, render_tables=False
    )


@pytest.mark.parametrize("tokens", [100_000, 500_000], ids=["one pass at most", "repeated sources"])
def test_the_instances_have_the_token_mixture(corpus, files, tmp_path, tokens):
    from olmo_core.data import NumpyDatasetDType, NumpyFSLDatasetConfig, TokenizerConfig

    text = corpus.write("olmo-core", files, options=ExportOptions(tokens=tokens))
    assert ("max_repetition_ratio" in text) == (tokens == 500_000)
    dataset = NumpyFSLDatasetConfig.from_src_mix(
        mixture(text, tokens, tmp_path),
        sequence_length=LENGTH,
        tokenizer=TokenizerConfig(vocab_size=100, eos_token_id=END, pad_token_id=END),
        dtype=NumpyDatasetDType.uint16,
        work_dir=str(tmp_path),
    ).build()
    dataset.prepare()
    assert len(dataset) * LENGTH >= tokens
    shares = corpus.drawn(dataset[i]["input_ids"].numpy() for i in range(len(dataset)))
    rounding = (BATCH + len(shares) * 5 * LENGTH) / tokens
    assert shares == pytest.approx(corpus.shares, abs=rounding)
    assert rounding < 0.02


def test_without_the_ratio_a_scarce_source_stops_the_build(corpus, files, tmp_path):
    from olmo_core.exceptions import OLMoConfigurationError

    config = mixture(corpus.write("olmo-core", files), 500_000, tmp_path)
    with pytest.raises(OLMoConfigurationError, match="Insufficient tokens"):
        config.build(npdtype=np.uint16, sequence_length=LENGTH)
