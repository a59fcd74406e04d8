from __future__ import annotations

import numpy as np

from referee.testing import HashEmbedder


async def test_unit_vectors_that_repeat_and_follow_shared_words() -> None:
    embedder = HashEmbedder(dim=128)
    vectors = await embedder.embed(["the loss diverges", "The loss diverges early", "a table of prices", ""])
    assert vectors.shape == (4, embedder.dim)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]
    assert (vectors == await HashEmbedder(dim=128).embed(embedder.calls[0])).all()


async def test_no_texts() -> None:
    assert (await HashEmbedder(dim=8).embed([])).shape == (0, 8)
