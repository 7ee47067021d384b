"""Small corpora with documents of very different lengths, and what their draws may differ by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from mixlaw.domains import Domain, Domains
from mixlaw.export import ExportOptions, render
from mixlaw.mixture import Mixture, Recipe


@dataclass(frozen=True)
class Corpus:
    """Documents by domain; every token of a domain is its number, so that draws can be counted."""

    shares: Mapping[str, float]
    documents: Mapping[str, list[np.ndarray]]

    @property
    def names(self) -> list[str]:
        return list(self.shares)

    def domains(self, paths: Mapping[str, Path | str]) -> Domains:
        """The domains file that a user would write: counted tokens and measured mean lengths."""
        return Domains(
            {
                name: Domain(
                    available_tokens=float(sum(map(len, found))),
                    mean_tokens_per_document=float(np.mean([len(d) for d in found])),
                    paths=(str(paths[name]),),
                    max_epochs=1000,
                )
                for name, found in self.documents.items()
            }
        )

    def write(self, form: str, paths: Mapping[str, Path | str], *, options: ExportOptions | None = None) -> str:
        """The mixture in a trainer's format."""
        recipe = Recipe(Mixture(dict(self.shares)))
        return render(form, recipe, domains=self.domains(paths), options=options).text

    def drawn(self, tokens: Iterable[np.ndarray]) -> dict[str, float]:
        """Token shares of what a client drew."""
        counts: Counter[int] = Counter()
        for part in tokens:
            values, times = np.unique(part, return_counts=True)
            counts.update(dict(zip(values.tolist(), times.tolist(), strict=True)))
        found = {name: counts[i] for i, name in enumerate(self.shares, start=1)}
        return {name: count / sum(found.values()) for name, count in found.items()}

    def error(self, draws: int) -> dict[str, float]:
        """Standard error of each token share when ``draws`` documents are drawn independently (delta method)."""
        lengths = {name: np.array([len(d) for d in found], dtype=float) for name, found in self.documents.items()}
        p = {name: self.shares[name] / lengths[name].mean() for name in self.shares}
        total = sum(p.values())
        mean = 1 / total
        spread = {
            name: sum(
                p[other] / total * (lengths[other] ** 2).mean() * (float(other == name) - self.shares[name]) ** 2
                for other in self.shares
            )
            for name in self.shares
        }
        return {name: float(np.sqrt(value / draws) / mean) for name, value in spread.items()}


@pytest.fixture(scope="session")
def corpus() -> Corpus:
    """60/30/10 in tokens, of documents with about 500/1500/200 tokens."""
    rng = np.random.default_rng(0)
    lengths = {"web": (500, 400), "code": (1500, 120), "math": (200, 500)}
    documents = {
        name: [np.full(rng.integers(mean // 2, 3 * mean // 2), i, dtype=np.int64) for _ in range(number)]
        for i, (name, (mean, number)) in enumerate(lengths.items(), start=1)
    }
    return Corpus({"web": 0.6, "code": 0.3, "math": 0.1}, documents)
