"""One file for each known trap of a trainer: mixlaw refuses it, or warns of what it does."""

from __future__ import annotations

from pathlib import Path

import pytest

from mixlaw.errors import InputError
from mixlaw.export import check

TRAPS = Path(__file__).parent / "traps"

REFUSED = {
    "megatron-comment.txt": "the comment '#mix'",
    "megatron-missing-weight.txt": "an odd number of words",
    "megatron-path-first.txt": "'web' in the place of a weight",
    "megatron-mistyped-weight.txt": "'O.6' in the place of a weight",
    "megatron-nan.txt": "a number above 0 for 'web'",
    "megatron-zero.txt": "a number above 0 for 'code'",
    "megatron-split-missing-key.json": "no test",
    "megatron-split-empty-list.json": "under valid",
    "megatron-bridge-blend-weights.yaml": "no such field",
    "nemo-valid.yaml": "train, validation, test",
    "olmo-core-sum.yaml": "1.00002",
    "olmo-core-unknown-key.yaml": "comment",
    "olmo-core-no-paths.yaml": "paths",
    "olmo-core-repetition-below-one.yaml": "max_repetition_ratio",
    "streaming-two-kinds.yaml": "one of proportion, repeat and choose",
    "streaming-some-without.yaml": "proportion on every stream or on none",
    "streaming-quoted.yaml": "'0.6'",
    "streaming-unknown-key.yaml": "weight",
    "streaming-negative.yaml": "-0.6",
    "levanter-old-block.yaml": "data.configs",
    "levanter-unknown-source.yaml": "code",
    "levanter-late-start.yaml": "begin at 0",
    "gpt-neox-lengths.yaml": "as many weights as sources",
    "gpt-neox-epochs.yaml": "no train_epochs",
    "nanotron-mapping.yaml": "a mapping of folders",
    "nanotron-lengths.yaml": "as many weights as sources",
    "nanotron-step-zero.yaml": "start_training_step",
    "hf-percent.yaml": "probabilities that sum to 1",
    "hf-sum.yaml": "1.0000001",
    "hf-python-computed.py": "a computed value",
    "lingua-negative.yaml": "-40.0",
    "llama-factory-bare-number.yaml": "it crashes",
    "llama-factory-concat.yaml": "sizes alone set the mixture",
    "llama-factory-counts.yaml": "as many weights as sources",
    "ms-swift-counts-alone.yaml": "sizes of the sets alone",
    "energon-old-class.yaml": "MetadatasetV2",
    "open-instruct-exponent.yaml": "exponent",
    "open-instruct-odd.yaml": "an odd number of words",
    "bridge-sft-zero.yaml": "a number above 0 for 'code'",
    "dolma-zero.yaml": "a number above 0 for 'code'",
    "dolma-two-kinds.yaml": "both",
    "table-no-share.csv": "rows with domain and share",
}
WARNED = {
    "megatron-number-as-prefix.txt": "'2024' in the place of a prefix reads as a number",
    "megatron-comma.txt": "the comma is part of the prefix",
    "megatron-suffix.txt": "without .bin",
    "olmo-core-zero.yaml": "still draws",
    "levanter-tiny.yaml": "draws no sequence",
    "gpt-neox-by-documents.yaml": "ignores these weights",
    "hf-default-strategy.yaml": "stops at the first source",
    "hf-without-replacement.yaml": "the total ignores the probabilities",
    "llama-factory-once.yaml": "the total ignores the probabilities",
    "ms-swift-bare-numbers.yaml": "quote them",
}
FORMATS = ("megatron-split", "megatron-bridge", "megatron", "nemo", "olmo-core", "streaming", "levanter", "gpt-neox")
FORMATS += ("nanotron", "hf-python", "hf", "lingua", "llama-factory", "ms-swift", "energon", "open-instruct")
FORMATS += ("bridge-sft", "dolma", "table")


def form(file):
    return next(name for name in FORMATS if file.startswith(name))


def read(file, domains):
    path = TRAPS / file
    return check(form(file), path.read_text(), domains=domains, where=file)


def test_every_file_is_tried():
    assert {path.name for path in TRAPS.iterdir()} == REFUSED.keys() | WARNED.keys()


@pytest.mark.parametrize("file", REFUSED)
def test_refused(file, domains):
    with pytest.raises(InputError) as refusal:
        read(file, domains)
    assert file in str(refusal.value)
    assert REFUSED[file] in str(refusal.value)


@pytest.mark.parametrize("file", WARNED)
def test_warned(file, domains):
    assert any(WARNED[file] in warning for warning in read(file, domains).warnings)
