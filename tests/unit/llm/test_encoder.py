from __future__ import annotations

import math

import numpy as np
import pytest

from referee.llm import encoder
from referee.llm.encoder import Encoder

WIDTH, INNER = 8, 12


def weights() -> dict[str, np.ndarray]:
    """An encoder of one layer; queries and keys are large, so that scores go far beyond what a float's exp can hold."""
    chance = np.random.default_rng(5)
    base = "encoder.layer.0"
    sizes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (20, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
        "embeddings.position_embeddings.weight": (64, WIDTH),
        f"{base}.intermediate.dense.weight": (INNER, WIDTH),
        f"{base}.intermediate.dense.bias": (INNER,),
        f"{base}.output.dense.weight": (WIDTH, INNER),
        f"{base}.output.dense.bias": (WIDTH,),
    }
    for name in ("self.query", "self.key", "self.value", "output.dense"):
        sizes |= {f"{base}.attention.{name}.weight": (WIDTH, WIDTH), f"{base}.attention.{name}.bias": (WIDTH,)}
    for name in ("embeddings.LayerNorm", f"{base}.attention.output.LayerNorm", f"{base}.output.LayerNorm"):
        sizes |= {f"{name}.weight": (WIDTH,), f"{name}.bias": (WIDTH,)}
    return {name: chance.normal(size=size).astype(np.float32) for name, size in sizes.items()}


def test_gelu_against_the_error_function() -> None:
    values = np.linspace(-30, 30, 6001, dtype=np.float32).reshape(-1, 1)
    wanted = [0.5 * x * (1 + math.erf(x / math.sqrt(2))) for x in values[:, 0].tolist()]
    bias = np.full(1, 0.5, np.float32)
    values -= bias
    encoder._add_and_gelu(values, bias)
    assert np.abs(values[:, 0] - wanted).max() < 2e-6
    assert np.abs(values[2200:3800, 0] - wanted[2200:3800]).max() < 1e-6


@pytest.mark.parametrize("factor", [1.0, 12.0])
def test_attention_is_a_softmax_however_large_the_scores(factor: float) -> None:
    made = Encoder(weights(), heads=2, layers=1, epsilon=1e-5)
    qkv = np.random.default_rng(1).normal(size=(9, 3 * WIDTH)).astype(np.float32)
    qkv[:, : 2 * WIDTH] *= factor
    spans = [slice(0, 5), slice(5, 9)]
    found = made._attention(qkv, spans)
    largest = 0.0
    for span in spans:
        for head in (slice(0, 4), slice(4, 8)):
            query, key, value = (qkv[span, at : at + WIDTH][:, head].astype(float) for at in (0, WIDTH, 2 * WIDTH))
            scores = query @ key.T
            largest = max(largest, scores.max())
            weight = np.exp(scores - scores.max(axis=1, keepdims=True))
            assert found[span, head] == pytest.approx(weight / weight.sum(axis=1, keepdims=True) @ value, abs=2e-5)
    assert (largest > 100) == (factor > 1), "one case needs the shift and the other does without"


def test_a_text_does_not_see_its_neighbours() -> None:
    made = Encoder(weights(), heads=2, layers=1, epsilon=1e-5)
    together = made.embed([[1, 2, 3], [4], [5, 6, 7, 8, 9]])
    alone = [made.embed([ids])[0] for ids in ([1, 2, 3], [4], [5, 6, 7, 8, 9])]
    assert together == pytest.approx(np.array(alone), abs=1e-6)
    assert np.linalg.norm(together, axis=1) == pytest.approx(1, abs=1e-6)


def test_a_missing_array_is_an_error() -> None:
    some = weights()
    del some["encoder.layer.0.output.dense.bias"]
    with pytest.raises(KeyError, match=r"output\.dense\.bias"):
        Encoder(some, heads=2, layers=1, epsilon=1e-5)
