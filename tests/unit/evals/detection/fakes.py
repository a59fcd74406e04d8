"""Models that are tables, for detectors."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from referee.evals.detection.protocols import Logits, ModelIdentity

A = np.array([[2, 1, 0, -1], [0, 2, 1, -1], [1, 0, -1, 2], [0.5, 0, 1.5, -0.5], [1, 1, 0, 0]], dtype=np.float32)
B = np.array(
    [[1.5, 1, 0.5, -1], [0.5, 1.5, 1, -0.5], [1, 0.5, -1, 1.5], [0, 0.5, 1, 0], [0.5, 1, 0.5, 0]], dtype=np.float32
)
IDS = [3, 0, 2, 3, 1]


def identity(name: str, **more: str | int) -> ModelIdentity:
    return ModelIdentity.model_validate({"name": name, "quantisation": "fp32", "tokenizer": "words", **more})


@dataclass
class TableLogits:
    """The same logits for every text; ``rows`` is the size of a block, ``padding`` rows come after the text."""

    table: Logits
    rows: int = 64
    padding: int = 0
    ids: Sequence[int] = tuple(IDS)
    model: ModelIdentity = field(default_factory=lambda: identity("table"))
    passes: int = 0

    def tokens(self, text: str) -> list[int]:
        return list(self.ids)

    def blocks(self, tokens: list[int]) -> Iterator[Logits]:
        self.passes += 1
        padded = np.concatenate([self.table, np.full((self.padding, self.table.shape[1]), 7, dtype=np.float32)])
        mask = np.arange(len(padded)) < len(self.table)
        held = np.empty((self.rows, self.table.shape[1]), dtype=np.float32)
        for start in range(0, len(padded), self.rows):
            kept = padded[start : start + self.rows][mask[start : start + self.rows]]
            held[: len(kept)] = kept
            if len(kept):
                yield held[: len(kept)]


class BigramLogits:
    """A bigram model of words, smoothed, that knows one corpus by heart."""

    def __init__(self, corpus: str, name: str = "bigrams", smooth: float = 0.05, max_tokens: int = 512) -> None:
        self.model = identity(name, max_tokens=max_tokens)
        words = _words(corpus)
        self._ids = {word: number for number, word in enumerate(sorted(set(words)), 1)}
        size = len(self._ids) + 1
        pairs = Counter(itertools.pairwise(words))
        counts = np.full((size, size), smooth)
        for (first, second), times in pairs.items():
            counts[self._ids[first], self._ids[second]] += times
        self._log = np.log(counts / counts.sum(axis=1, keepdims=True)).astype(np.float32)
        self.passes = 0

    def tokens(self, text: str) -> list[int]:
        return [self._ids.get(word, 0) for word in _words(text)][: self.model.max_tokens]

    def blocks(self, tokens: list[int]) -> Iterator[Logits]:
        self.passes += 1
        for start in range(0, len(tokens), 16):
            yield self._log[tokens[start : start + 16]]


@dataclass
class Filler:
    """Fills every gap with the same word, and leaves out all gaps in its first ``silent`` answers."""

    word: str = "zebra"
    silent: int = 0
    asked: list[tuple[str, int]] = field(default_factory=list)
    identity: ModelIdentity = field(default_factory=lambda: identity("t5-fake"))

    async def fills(self, masked: str, count: int, *, seed: int) -> Sequence[str]:
        self.asked.append((masked, seed))
        return () if len(self.asked) <= self.silent else (self.word,) * count


@dataclass
class Generator:
    """Continues every prefix with these texts in turn."""

    texts: Sequence[str]
    identity: ModelIdentity = field(default_factory=lambda: identity("writer-fake"))

    async def continuations(
        self, prefix: str, count: int, *, seed: int, temperature: float, max_tokens: int
    ) -> Sequence[str]:
        return [self.texts[number % len(self.texts)] for number in range(count)]


@dataclass
class Labels:
    """A classifier of a table."""

    labels: Mapping[int, str]
    values: Sequence[float]
    identity: ModelIdentity = field(default_factory=lambda: identity("encoder-fake"))

    def logits(self, text: str) -> Sequence[float]:
        return self.values


class WordEmbedder:
    """Counts of hashed words, of length one; the zero vector stands for a text without words."""

    id = "words-fake"
    dim = 64

    async def embed(self, texts: Sequence[str], *, urgency: object = None) -> np.ndarray[tuple[int, int], np.dtype]:
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in _words(text):
                row[int(hashlib.sha256(word.encode()).hexdigest(), 16) % self.dim] += 1
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)

    async def aclose(self) -> None:
        pass


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
