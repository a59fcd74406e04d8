"""all-MiniLM-L6-v2 in plain numpy: sentence embeddings without torch.

A BERT encoder (six layers, width 384), the mean over the tokens, length one. Texts are laid end to end, so no work is
spent on padding and no mask is needed: only attention looks at one text at a time. Texts up to 512 word pieces are read
whole; the model's own default of 256 would drop a third of a 400-token passage.

Packs of texts are computed side by side, each in one thread. numpy's own threads are switched off meanwhile: the many
small products of attention make them wait for each other, which was twenty times slower on two cores.

Source: Reimers and Gurevych, "Sentence-BERT: Sentence Embeddings using Siamese BERT-Networks" (pooling); Wang et al.,
"MiniLM: Deep Self-Attention Distillation" (the encoder).
"""

from __future__ import annotations

import ctypes
import json
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from referee.errors import DataError
from referee.llm.catalogue import catalogue_entry, embedder_key, model_path
from referee.llm.local import usable_cores

Floats = NDArray[np.float32]

MAX_TOKENS = 512
_PACK_TOKENS = 512
_GELU_ROWS = 128
# Beyond these the exponential is nothing to a float, but a denormal number that slows arithmetic a hundredfold.
_NO_WEIGHT = np.float32(-70)
_ERF_IS_ONE = np.float32(8)
_COMPUTING = threading.Lock()


class MiniLM:
    """The embedder; its files are read at the first ``encode``.

    Args:
        folder: Folder with ``model.safetensors``, ``tokenizer.json`` and ``config.json``.
    """

    dim = 384

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._loading = threading.Lock()
        self._encoder: _Encoder | None = None

    @classmethod
    def fetched(cls, cache_dir: Path | None = None) -> MiniLM:
        """The embedder from the fetched files.

        Raises:
            DataError: They were not fetched yet.
        """
        key = embedder_key()
        folder = model_path(key, cache_dir)
        if folder is None:
            raise DataError(
                f"the embedding model {key!r} is not on this machine yet.",
                hint=f"Run `referee models fetch {key}` ({catalogue_entry(key).size >> 20:,} MiB).",
                ids={"model": key},
            )
        return cls(folder)

    def encode(self, texts: Sequence[str], batch_size: int = 32) -> Floats:
        """Embed texts.

        Args:
            texts: Any texts; what lies beyond 512 word pieces of one is not seen. An empty text has an embedding too.
            batch_size: At most this many texts are computed together.

        Returns:
            Array of shape (number of texts, 384), rows of length one, in the order of the texts; (0, 384) for none.

        Raises:
            DataError: A model file is missing or is not all-MiniLM-L6-v2.
        """
        if not texts:
            return np.zeros((0, self.dim), np.float32)
        encoder = self._loaded()
        token_ids = [encoder.tokenize(text) for text in texts]
        packs = list(_packs([len(ids) for ids in token_ids], batch_size))
        with _COMPUTING, _one_blas_thread():
            pool = ThreadPoolExecutor(min(usable_cores(), len(packs)))
            try:
                return np.concatenate(list(pool.map(encoder.embed, ([token_ids[i] for i in pack] for pack in packs))))
            finally:
                pool.shutdown(cancel_futures=True)

    def _loaded(self) -> _Encoder:
        with self._loading:
            if self._encoder is None:
                self._encoder = _Encoder(self._folder)
        return self._encoder


@contextmanager
def _one_blas_thread() -> Iterator[None]:
    """Hold the OpenBLAS in numpy's wheels to one thread; with another BLAS nothing is changed."""
    library = next((Path(np.__file__).parents[1] / "numpy.libs").glob("libscipy_openblas64_*.so"), None)
    if library is None:
        yield
        return
    blas = ctypes.CDLL(str(library))
    before = blas.scipy_openblas_get_num_threads64_()
    blas.scipy_openblas_set_num_threads64_(1)
    try:
        yield
    finally:
        blas.scipy_openblas_set_num_threads64_(before)


def _packs(lengths: list[int], batch_size: int) -> Iterator[range]:
    """Ranges of neighbouring texts that are computed together: bounded in texts and in tokens."""
    start, tokens = 0, 0
    for index, length in enumerate(lengths):
        if index > start and (index - start >= batch_size or tokens + length > _PACK_TOKENS):
            yield range(start, index)
            start, tokens = index, 0
        tokens += length
    yield range(start, len(lengths))


class _Encoder:
    """Weights and tokenizer, and the pass through them."""

    def __init__(self, folder: Path) -> None:
        from safetensors import SafetensorError
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        try:
            config = json.loads((folder / "config.json").read_text("utf-8"))
            weights: dict[str, Any] = load_file(folder / "model.safetensors")
            self._tokenizer = Tokenizer.from_str((folder / "tokenizer.json").read_text("utf-8"))
            self._heads = int(config["num_attention_heads"])
            self._epsilon = float(config["layer_norm_eps"])
            self._layers = [_layer(weights, number) for number in range(int(config["num_hidden_layers"]))]
            self._words = weights["embeddings.word_embeddings.weight"]
            kind = weights["embeddings.token_type_embeddings.weight"][0]
            self._positions = weights["embeddings.position_embeddings.weight"] + kind
            self._norm = _pair(weights, "embeddings.LayerNorm")
        except (OSError, ValueError, KeyError, SafetensorError) as error:
            raise DataError(
                f"the embedding model in {str(folder)!r} cannot be loaded: {type(error).__name__}: {error}.",
                hint="Run `referee models remove minilm` and `referee models fetch minilm`.",
            ) from error
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)

    def tokenize(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text).ids)

    def embed(self, token_ids: list[list[int]]) -> Floats:
        ends = np.cumsum([len(ids) for ids in token_ids])
        spans = [slice(end - len(ids), end) for ids, end in zip(token_ids, ends.tolist(), strict=True)]
        positions = np.concatenate([np.arange(len(ids)) for ids in token_ids])
        words: Floats = self._words[np.concatenate(token_ids)] + self._positions[positions]
        hidden = _normalised(words, self._norm, self._epsilon)
        for layer in self._layers:
            attended = self._attention(hidden @ layer["qkv"][0] + layer["qkv"][1], spans)
            hidden = _normalised(
                hidden + attended @ layer["out"][0] + layer["out"][1], layer["out_norm"], self._epsilon
            )
            inner: Floats = hidden @ layer["up"][0] + layer["up"][1]
            _gelu(inner)
            hidden = _normalised(
                hidden + inner @ layer["down"][0] + layer["down"][1], layer["down_norm"], self._epsilon
            )
        means = np.stack([hidden[span].mean(axis=0) for span in spans])
        result: Floats = means / np.linalg.norm(means, axis=1, keepdims=True)
        return result

    def _attention(self, qkv: Floats, spans: list[slice]) -> Floats:
        """Softmax attention within each text; all heads of a text in one product."""
        width = qkv.shape[1] // 3
        scale = np.float32((width // self._heads) ** -0.5)
        result = np.empty((len(qkv), width), np.float32)
        for span in spans:
            parts = qkv[span].reshape(-1, 3, self._heads, width // self._heads).transpose(1, 2, 0, 3)
            query, key, value = parts[0] * scale, parts[1], parts[2]
            scores = query @ key.transpose(0, 2, 1)
            scores -= scores.max(axis=-1, keepdims=True)
            np.maximum(scores, _NO_WEIGHT, out=scores)
            np.exp(scores, out=scores)
            scores /= scores.sum(axis=-1, keepdims=True)
            result[span] = (scores @ value).transpose(1, 0, 2).reshape(-1, width)
        return result


def _layer(weights: dict[str, Any], number: int) -> dict[str, tuple[Floats, Floats]]:
    base = f"encoder.layer.{number}"
    joined = [_linear(weights, f"{base}.attention.self.{name}") for name in ("query", "key", "value")]
    return {
        "qkv": (np.concatenate([pair[0] for pair in joined], axis=1), np.concatenate([pair[1] for pair in joined])),
        "out": _linear(weights, f"{base}.attention.output.dense"),
        "out_norm": _pair(weights, f"{base}.attention.output.LayerNorm"),
        "up": _linear(weights, f"{base}.intermediate.dense"),
        "down": _linear(weights, f"{base}.output.dense"),
        "down_norm": _pair(weights, f"{base}.output.LayerNorm"),
    }


def _linear(weights: dict[str, Any], name: str) -> tuple[Floats, Floats]:
    weight, bias = _pair(weights, name)
    return np.ascontiguousarray(weight.T), bias


def _pair(weights: dict[str, Any], name: str) -> tuple[Floats, Floats]:
    return weights[f"{name}.weight"], weights[f"{name}.bias"]


def _normalised(values: Floats, scale_and_shift: tuple[Floats, Floats], epsilon: float) -> Floats:
    """Layer normalisation over the last axis."""
    values = values - values.mean(axis=-1, keepdims=True)
    values /= np.sqrt(np.square(values).mean(axis=-1, keepdims=True) + np.float32(epsilon))
    values *= scale_and_shift[0]
    values += scale_and_shift[1]
    return values


def _gelu(values: Floats) -> None:
    """Apply x * Phi(x) in place, a block of rows at a time so that the steps stay in the processor's cache.

    The error function is Abramowitz and Stegun 7.1.26, wrong by at most 1.5e-7: numpy has none.
    """
    for start in range(0, len(values), _GELU_ROWS):
        block = values[start : start + _GELU_ROWS]
        scaled = np.abs(block) * np.float32(0.5**0.5)
        t = 1 / (1 + np.float32(0.3275911) * scaled)
        poly = t * np.float32(1.061405429)
        for coefficient in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
            poly += np.float32(coefficient)
            poly *= t
        np.minimum(scaled, _ERF_IS_ONE, out=scaled)
        np.square(scaled, out=scaled)
        np.exp(-scaled, out=scaled)
        poly *= scaled
        np.subtract(1, poly, out=poly)
        np.copysign(poly, block, out=poly)
        poly += 1
        block *= poly
        block *= np.float32(0.5)
