"""Batches by mixture, and the fixed held-out measurements, from the files that `corpus.py` writes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from tiny_model import CONTEXT, TinyLM
from torch import Tensor

Bytes = NDArray[np.uint8]

LOSS_SEQUENCES = 512  # x 128 = 65,536 held-out tokens per domain
QUESTIONS, BEGINNING, CONTINUATION, CHOICES = 128, 32, 16, 4


@dataclass(frozen=True)
class Corpus:
    """Training and held-out bytes by domain."""

    train: Mapping[str, Bytes]
    valid: Mapping[str, Bytes]

    @classmethod
    def read(cls, folder: Path) -> Corpus:
        domains = json.loads((folder / "ledger.json").read_text())["domains"]

        def part(name: str) -> dict[str, Bytes]:
            return {d: np.memmap(folder / f"{d}.{name}.bin", dtype=np.uint8, mode="r") for d in domains}

        return cls(part("train"), part("valid"))

    @property
    def domains(self) -> list[str]:
        return list(self.train)


class Stream:
    """Training sequences of one domain: every piece once in random order, then again with other boundaries."""

    def __init__(self, data: Bytes, rng: np.random.Generator) -> None:
        self.data, self.rng = data, rng
        self.starts: list[int] = []

    def next(self) -> Bytes:
        if not self.starts:
            first = self.rng.integers(CONTEXT)
            starts = np.arange(first, len(self.data) - CONTEXT - 1, CONTEXT)
            self.starts = self.rng.permutation(starts).tolist()
        start = self.starts.pop()
        return self.data[start : start + CONTEXT + 1]


class Sampler:
    """Batches whose token shares follow the mixture as closely as whole sequences allow."""

    def __init__(self, corpus: Corpus, mixture: Mapping[str, float], seed: int) -> None:
        used = {domain: share for domain, share in mixture.items() if share > 0}
        *streams, self.rng = np.random.default_rng(seed).spawn(len(used) + 1)
        self.streams = [Stream(corpus.train[domain], rng) for domain, rng in zip(used, streams, strict=True)]
        self.edges = np.cumsum(list(used.values())) / sum(used.values())
        self.drawn = dict.fromkeys(used, 0)

    def batch(self, size: int) -> Tensor:
        """(size, context + 1) tokens; by systematic sampling no batch is off by more than one sequence a domain."""
        points = (np.arange(size) + self.rng.random()) / size
        picks = np.minimum(np.searchsorted(self.edges, points, side="right"), len(self.edges) - 1)
        for domain, number in zip(self.drawn, np.bincount(picks, minlength=len(self.edges)), strict=True):
            self.drawn[domain] += int(number) * CONTEXT
        return torch.from_numpy(np.stack([self.streams[p].next() for p in picks]).astype(np.int64))


@dataclass(frozen=True)
class Exam:
    """The held-out measurements of one domain, the same for every run."""

    sequences: Tensor  # (512, 129)
    questions: Tensor  # (128 x 4, 48): a beginning and one of four continuations, the true one first

    @classmethod
    def of(cls, valid: Bytes) -> Exam:
        starts = np.linspace(0, len(valid) - CONTEXT - 1, LOSS_SEQUENCES).astype(int)
        sequences = valid[starts[:, None] + np.arange(CONTEXT + 1)]
        length = BEGINNING + CONTINUATION
        asked = np.linspace(length, len(valid) - 2 * length, QUESTIONS).astype(int)
        pieces = valid[asked[:, None] + np.arange(length)]
        choices = []
        for other in range(CHOICES):  # a wrong continuation is the true one of a question far away
            choice = pieces.copy()
            choice[:, BEGINNING:] = np.roll(pieces, other * QUESTIONS // CHOICES, axis=0)[:, BEGINNING:]
            choices.append(choice)
        questions = np.stack(choices, axis=1).reshape(-1, length)
        return cls(torch.from_numpy(sequences.astype(np.int64)), torch.from_numpy(questions.astype(np.int64)))

    def loss(self, model: TinyLM) -> float:
        """Mean loss in nats per token."""
        return float(np.mean([_nats(model, part).mean().item() for part in self.sequences.split(64)]))

    def accuracy(self, model: TinyLM) -> float:
        """Share of questions whose true continuation has the largest summed log probability."""
        nats = torch.cat([_nats(model, part)[:, -CONTINUATION:].sum(1) for part in self.questions.split(128)])
        return float((nats.view(-1, CHOICES).argmin(1) == 0).double().mean())


@torch.inference_mode()
def _nats(model: TinyLM, sequences: Tensor) -> Tensor:
    logits = model(sequences[:, :-1])
    flat = F.cross_entropy(logits.flatten(0, 1), sequences[:, 1:].flatten(), reduction="none")
    return flat.view(len(sequences), -1)


def made_up_corpus(folder: Path) -> None:
    """Two small domains of random digits and random letters in the files of a corpus, for the smoke test."""
    rng = np.random.default_rng(0)
    for domain, alphabet in (("digits", b"0123456789 "), ("letters", b"abcdefgh ")):
        for part, size in (("train", 40_000), ("valid", 20_000)):
            text = rng.choice(np.frombuffer(alphabet, dtype=np.uint8), size)
            (folder / f"{domain}.{part}.bin").write_bytes(text.tobytes())
    (folder / "ledger.json").write_text(json.dumps({"domains": {"digits": {}, "letters": {}}}))
