"""Trainers whose config cannot hold a token mixture, and the nearest thing that can."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Refusal:
    """Why there is no such format.

    Attributes:
        trainer: what people look for.
        why: what its weight field does instead.
        instead: the nearest thing that works.
    """

    trainer: str
    why: str
    instead: str


_JOIN = (
    "Draw the mixture once with --format hf-python (its mixture().take(n) gives rows with the token shares), "
    "save it, and train on that one set"
)

REFUSED: dict[str, Refusal] = {
    "axolotl": Refusal(
        "Axolotl datasets[].weight",
        "the weight is the fraction of that one set to keep (0 to 1, ignored when streaming), not a mixture weight",
        f"{_JOIN}; or list a set twice to see it twice (--format table shows the epochs).",
    ),
    "litgpt": Refusal(
        "LitGPT",
        "no config key holds a mixture",
        "Write a small data module around litdata.CombinedStreamingDataset(datasets, weights=[...], "
        "iterate_over_all=False) with the shares of --format table: on token blocks its weights are token shares.",
    ),
    "torchtitan": Refusal(
        "torchtitan",
        "mixtures are Python config, in classes that change between versions",
        "In 0.3 write InterleavedHuggingFaceTextDataLoader.Config(sources=[HFDataSource(dataset=..., weight=...)]) "
        "with the shares of --format table: each source is packed first, so its weights are token shares.",
    ),
    "verl": Refusal(
        "verl data.train_files",
        "the files are joined; there are no weights",
        f"{_JOIN}; or write a sampler for data.sampler.class_path with the probabilities of --format hf.",
    ),
}
"""By the word after ``--format``."""
