"""Deterministic embeddings from hashed words: texts that share words are close, and nothing is downloaded."""

from __future__ import annotations

import base64
import hashlib
import math
import re
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_WORD = re.compile(r"\w+")


def hash_vector(text: str, dim: int) -> list[float]:
    """A unit vector: every lower-cased word adds 1 or -1 at a place its hash names; a text without words is e0."""
    values = [0.0] * dim
    for word in _WORD.findall(text.lower()):
        number = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big")
        values[(number >> 1) % dim] += 1.0 if number & 1 else -1.0
    norm = math.sqrt(sum(value * value for value in values))
    if norm == 0:
        return [1.0] + [0.0] * (dim - 1)
    return [value / norm for value in values]


def as_base64(vector: Sequence[float]) -> str:
    """Little-endian float32, as ``encoding_format: base64`` sends it."""
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode("ascii")


class HashEmbedder:
    """An embedder for tests.

    Args:
        dim: Length of the vectors.

    Attributes:
        id: What stands in records.
        calls: The lists of texts it was given.
        urgencies: How urgent each of these was.
    """

    def __init__(self, dim: int = 64) -> None:
        self.id = f"hash-{dim}"
        self.dim = dim
        self.calls: list[list[str]] = []
        self.urgencies: list[int] = []

    async def embed(self, texts: Sequence[str], *, urgency: int = 0) -> NDArray[np.float32]:
        """Unit vectors, one row a text; no texts give an array of shape (0, dim)."""
        import numpy as np

        self.calls.append(list(texts))
        self.urgencies.append(urgency)
        rows = [hash_vector(text, self.dim) for text in texts]
        return np.asarray(rows, dtype=np.float32).reshape(len(rows), self.dim)

    async def aclose(self) -> None:
        """There is nothing to close."""
