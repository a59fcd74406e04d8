"""A BERT encoder in plain numpy: tokens of several texts in, one vector of length one a text out.

Texts are laid end to end, so no work is spent on padding and no mask is needed: only attention looks at one text at a
time, a head at a time, so that its scores stay in the processor's cache. Three quarters of what is left are products of
matrices, which BLAS computes near the processor's speed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Pair = tuple[Floats, Floats]

_GELU_ROWS = 64
# gelu(x) = x / (1 + exp(-x * p(x * x))), highest power first: fitted to the exact function (that with erf, which numpy
# lacks) for |x| up to 5.5, wrong by at most 7e-8 there and in its tails by less than 3e-7.
_GELU = (3.61077150e-09, -2.66874484e-07, 7.93795392e-06, -1.10478566e-04, -6.62654511e-05, 7.26685745e-02, 1.59576843)
_GELU_FITTED = np.float32(5.5**2)
# The exponential of a float32 is a normal number in this range with room for a sum; beyond it, arithmetic is a
# hundred times slower or infinite.
_SAFE = 70.0


class Encoder:
    """The weights, and the pass through them. Safe to use from several threads at once.

    Args:
        weights: Arrays by the names that BERT checkpoints give them.
        heads: Attention heads a layer.
        layers: Number of layers.
        epsilon: What layer normalisation adds to a variance.

    Raises:
        KeyError: An array is missing.
    """

    def __init__(self, weights: Mapping[str, Any], *, heads: int, layers: int, epsilon: float) -> None:
        kind = weights["embeddings.token_type_embeddings.weight"][0]
        self._heads = heads
        self._epsilon = np.float32(epsilon)
        self._words: Floats = weights["embeddings.word_embeddings.weight"]
        self._positions: Floats = weights["embeddings.position_embeddings.weight"] + kind
        self._norm = _pair(weights, "embeddings.LayerNorm")
        self._layers = [_layer(weights, number, heads) for number in range(layers)]

    def embed(self, token_ids: Sequence[Sequence[int]]) -> Floats:
        """Array of shape (texts, width): the mean over each text's tokens, scaled to length one.

        Args:
            token_ids: One text or more, each of one token or more and no longer than the model's positions.
        """
        ends = list(accumulate(len(ids) for ids in token_ids))
        spans = [slice(end - len(ids), end) for ids, end in zip(token_ids, ends, strict=True)]
        positions = np.concatenate([np.arange(len(ids)) for ids in token_ids])
        hidden: Floats = self._words[np.concatenate(token_ids)]
        hidden += self._positions[positions]
        _normalise(hidden, self._norm, self._epsilon)
        for layer in self._layers:
            attended = self._attention(_linear(hidden, layer["qkv"]), spans)
            hidden += _linear(attended, layer["out"])
            _normalise(hidden, layer["out_norm"], self._epsilon)
            inner = hidden @ layer["up"][0]
            _add_and_gelu(inner, layer["up"][1])
            hidden += _linear(inner, layer["down"])
            _normalise(hidden, layer["down_norm"], self._epsilon)
        means = np.stack([hidden[span].mean(axis=0) for span in spans])
        means /= np.linalg.norm(means, axis=1, keepdims=True)
        return means

    def _attention(self, qkv: Floats, spans: Sequence[slice]) -> Floats:
        """Softmax attention within each text."""
        width = qkv.shape[1] // 3
        result = np.empty((len(qkv), width), np.float32)
        longest = max(span.stop - span.start for span in spans)
        room = np.empty(longest * longest, np.float32)
        ones = np.ones(longest, np.float32)
        for span in spans:
            query, key, value = (qkv[span, at : at + width] for at in range(0, 3 * width, width))
            turned = np.ascontiguousarray(key.T)
            largest = _largest_scores(query, key, self._heads)
            scores = room[: len(query) ** 2].reshape(len(query), len(query))
            for head, within in enumerate(_heads(width, self._heads)):
                np.matmul(query[:, within], turned[within], out=scores)
                if largest[head] > _SAFE:
                    _shift(scores)
                np.exp(scores, out=scores)
                mixed = result[span, within]
                np.matmul(scores, value[:, within], out=mixed)
                mixed /= (scores @ ones[: len(query)])[:, None]
        return result


def _layer(weights: Mapping[str, Any], number: int, heads: int) -> dict[str, Pair]:
    base = f"encoder.layer.{number}"
    query, key, value = (_turned(weights, f"{base}.attention.self.{name}") for name in ("query", "key", "value"))
    scale = np.float32((query[0].shape[1] // heads) ** -0.5)
    joined = [(query[0] * scale, query[1] * scale), key, value]
    return {
        "qkv": (np.concatenate([pair[0] for pair in joined], axis=1), np.concatenate([pair[1] for pair in joined])),
        "out": _turned(weights, f"{base}.attention.output.dense"),
        "out_norm": _pair(weights, f"{base}.attention.output.LayerNorm"),
        "up": _turned(weights, f"{base}.intermediate.dense"),
        "down": _turned(weights, f"{base}.output.dense"),
        "down_norm": _pair(weights, f"{base}.output.LayerNorm"),
    }


def _turned(weights: Mapping[str, Any], name: str) -> Pair:
    weight, bias = _pair(weights, name)
    return np.ascontiguousarray(weight.T), bias


def _pair(weights: Mapping[str, Any], name: str) -> Pair:
    return weights[f"{name}.weight"], weights[f"{name}.bias"]


def _linear(values: Floats, weight_and_bias: Pair) -> Floats:
    result: Floats = values @ weight_and_bias[0]
    result += weight_and_bias[1]
    return result


def _heads(width: int, heads: int) -> list[slice]:
    """The columns of each head."""
    size = width // heads
    return [slice(at, at + size) for at in range(0, width, size)]


def _largest_scores(query: Floats, key: Floats, heads: int) -> Floats:
    """No score of a head, positive or negative, is larger: the product of its longest query and its longest key."""

    def longest(rows: Floats) -> Floats:
        by_head = rows.reshape(len(rows), heads, -1)
        squares: Floats = np.einsum("nhd,nhd->nh", by_head, by_head).max(axis=0)
        return np.sqrt(squares)

    return longest(query) * longest(key)


def _shift(scores: Floats) -> None:
    """Move each row so that its largest score is 0, which softmax does not notice, and end it where weights vanish."""
    scores -= scores.max(axis=1, keepdims=True)
    np.maximum(scores, np.float32(-_SAFE), out=scores)


def _normalise(values: Floats, scale_and_shift: Pair, epsilon: np.float32) -> None:
    """Layer normalisation over the last axis, in place."""
    values -= values.mean(axis=1, keepdims=True)
    variance = np.einsum("ij,ij->i", values, values) / np.float32(values.shape[1])
    values *= (1 / np.sqrt(variance + epsilon))[:, None]
    values *= scale_and_shift[0]
    values += scale_and_shift[1]


def _add_and_gelu(values: Floats, bias: Floats) -> None:
    """Apply gelu(x + bias) in place, a block of rows at a time so that the steps stay in the processor's cache."""
    room = np.empty((2, _GELU_ROWS, values.shape[1]), np.float32)
    highest, *others, lowest = (np.float32(-coefficient) for coefficient in _GELU)
    for start in range(0, len(values), _GELU_ROWS):
        block = values[start : start + _GELU_ROWS]
        square, power = room[0, : len(block)], room[1, : len(block)]
        block += bias
        np.square(block, out=square)
        np.minimum(square, _GELU_FITTED, out=square)
        np.multiply(square, highest, out=power)
        for coefficient in others:
            power += coefficient
            power *= square
        power += lowest
        power *= block
        np.minimum(power, np.float32(_SAFE), out=power)
        np.exp(power, out=power)
        power += np.float32(1)
        block /= power
