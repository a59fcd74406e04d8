"""all-MiniLM-L6-v2 in plain numpy: sentence embeddings without torch.

A BERT encoder (six layers, width 384), the mean over the tokens, length one. Texts up to 512 word pieces are read
whole; the model's own default of 256 would drop a third of a 400-token passage.

Source: Reimers and Gurevych, "Sentence-BERT: Sentence Embeddings using Siamese BERT-Networks" (pooling); Wang et al.,
"MiniLM: Deep Self-Attention Distillation" (the encoder).
"""

from __future__ import annotations

import ctypes
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from referee.errors import DataError
from referee.llm.catalogue import embedder_key, fetched_path

Floats = NDArray[np.float32]

MAX_TOKENS = 512
# Some 10 MB at most, whatever the texts hold.
_WORDS_KEPT, _LONGEST_KEPT = 1 << 16, 40
_GET, _SET = "scipy_openblas_get_num_threads64_", "scipy_openblas_set_num_threads64_"
_HELD = threading.Lock()
_holders = 0
_before = 1


class MiniLM:
    """The embedder; its files are read at the first ``encode``.

    Args:
        folder: Folder with ``model.safetensors``, ``tokenizer.json`` and ``config.json``.
    """

    dim = 384

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._loading = threading.Lock()
        self._loaded: tuple[Any, _Encoder] | None = None

    @classmethod
    def fetched(cls, cache_dir: Path | None = None) -> MiniLM:
        """The embedder from the fetched files.

        Raises:
            DataError: They were not fetched yet.
        """
        return cls(fetched_path(embedder_key(), cache_dir))

    def encode(self, texts: Sequence[str]) -> Floats:
        """Embed texts together, in the thread that asks; several may ask at once.

        Args:
            texts: Any texts; what lies beyond 512 word pieces of one is not seen. An empty text has an embedding too.

        Returns:
            Array of shape (number of texts, 384), rows of length one, in the order of the texts; (0, 384) for none.

        Raises:
            DataError: A model file is missing or is not all-MiniLM-L6-v2.
        """
        if not texts:
            return np.zeros((0, self.dim), np.float32)
        tokenizer, encoder = self._opened()
        with one_blas_thread():
            return encoder.embed([tokenizer.encode(text).ids for text in texts])

    def _opened(self) -> tuple[Any, _Encoder]:
        with self._loading:
            if self._loaded is None:
                with _read_errors(self._folder):
                    tokenizer = _tokenizer(self._folder)
                    tokenizer.enable_truncation(MAX_TOKENS)
                    self._loaded = tokenizer, _Encoder(self._folder)
        return self._loaded


def piece_counter(cache_dir: Path | None = None) -> Callable[[str], int]:
    """What counts a text's word pieces, without the two marks that the model puts around it.

    Raises:
        DataError: The model was not fetched yet, or its tokenizer cannot be read.
    """
    return _counter(fetched_path(embedder_key(), cache_dir))


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold the OpenBLAS in numpy's wheels to one thread until the last who asks is done; another BLAS is left alone.

    Texts are computed side by side, each batch in one thread. numpy's own threads would wait for each other in the many
    small products, which took six to twenty times as long on two busy cores.
    """
    global _holders, _before
    blas = _openblas()
    if blas is None:
        yield
        return
    with _HELD:
        _holders += 1
        if _holders == 1:
            _before = getattr(blas, _GET)()
            getattr(blas, _SET)(1)
    try:
        yield
    finally:
        with _HELD:
            _holders -= 1
            if _holders == 0:
                getattr(blas, _SET)(_before)


class _Encoder:
    """BERT as published; arrays go by the names in its checkpoints. Safe to use from several threads at once.

    Texts are laid end to end, so no work is spent on padding and no mask is needed: only attention looks at one text
    at a time.
    """

    def __init__(self, folder: Path) -> None:
        from safetensors.numpy import load_file
        from scipy.special import erf

        config = json.loads((folder / "config.json").read_text("utf-8"))
        self._heads = int(config["num_attention_heads"])
        self._layers = [f"encoder.layer.{number}" for number in range(int(config["num_hidden_layers"]))]
        self._epsilon = np.float32(config["layer_norm_eps"])
        self._weights: dict[str, Floats] = load_file(folder / "model.safetensors")
        self._erf = erf
        self.embed([[0]])  # an array that is missing is said when the files are read

    def embed(self, token_ids: Sequence[Sequence[int]]) -> Floats:
        """Array of shape (texts, width): the mean over each text's tokens, scaled to length one."""
        ends = accumulate(len(ids) for ids in token_ids)
        spans = [slice(end - len(ids), end) for ids, end in zip(token_ids, ends, strict=True)]
        words, kinds, positions = (
            self._weights[f"embeddings.{name}_embeddings.weight"] for name in ("word", "token_type", "position")
        )
        at = np.concatenate([np.arange(len(ids)) for ids in token_ids])
        hidden = self._norm(words[np.concatenate(token_ids)] + kinds[0] + positions[at], "embeddings")
        for layer in self._layers:
            query, key, value = (
                self._linear(hidden, f"{layer}.attention.self.{part}") for part in ("query", "key", "value")
            )
            attended = np.concatenate([self._mixed(query[span], key[span], value[span]) for span in spans])
            hidden += self._linear(attended, f"{layer}.attention.output.dense")
            self._norm(hidden, f"{layer}.attention.output")
            inner = self._gelu(self._linear(hidden, f"{layer}.intermediate.dense"))
            hidden += self._linear(inner, f"{layer}.output.dense")
            self._norm(hidden, f"{layer}.output")
        means = np.stack([hidden[span].mean(axis=0) for span in spans])
        means /= np.linalg.norm(means, axis=1, keepdims=True)
        return means

    def _mixed(self, *rows: Floats) -> Floats:
        """Softmax attention within one text, all heads at once."""
        tokens, width = rows[0].shape
        query, key, value = (part.reshape(tokens, self._heads, -1).swapaxes(0, 1) for part in rows)
        scores: Floats = query @ key.swapaxes(1, 2)
        scores *= np.float32((width // self._heads) ** -0.5)
        scores -= scores.max(axis=2, keepdims=True)
        np.exp(scores, out=scores)
        mixed: Floats = scores @ value
        mixed /= scores.sum(axis=2, keepdims=True)
        return mixed.swapaxes(0, 1).reshape(tokens, width)

    def _linear(self, values: Floats, name: str) -> Floats:
        result: Floats = values @ self._weights[f"{name}.weight"].T
        result += self._weights[f"{name}.bias"]
        return result

    def _norm(self, values: Floats, name: str) -> Floats:
        """Layer normalisation over the last axis, in place."""
        values -= values.mean(axis=1, keepdims=True)
        values /= np.sqrt(np.square(values).mean(axis=1, keepdims=True) + self._epsilon)
        values *= self._weights[f"{name}.LayerNorm.weight"]
        values += self._weights[f"{name}.LayerNorm.bias"]
        return values

    def _gelu(self, values: Floats) -> Floats:
        """The exact function, in place: x / 2 * (1 + erf(x / sqrt(2)))."""
        share = values * np.float32(0.5**0.5)
        self._erf(share, out=share)
        share += np.float32(1)
        share *= np.float32(0.5)
        values *= share
        return values


@lru_cache(maxsize=2)
def _counter(folder: Path) -> Callable[[str], int]:
    """Kept, because each copy takes 30 ms and some 10 MB.

    No piece reaches over a blank or a line end, so a text has the pieces of its words, and most words were met before:
    looking for the borders of a long text's windows counts the same words a dozen times.
    """
    with _read_errors(folder):
        tokenizer = _tokenizer(folder)
    tokenizer.no_truncation()

    def pieces(word: str) -> int:
        return len(tokenizer.encode(word, add_special_tokens=False).ids)

    known = lru_cache(maxsize=_WORDS_KEPT)(pieces)

    def count(text: str) -> int:
        words = text.replace("\n", " ").split(" ")
        return sum(known(word) if len(word) <= _LONGEST_KEPT else pieces(word) for word in words if word)

    return count


def _tokenizer(folder: Path) -> Any:
    from tokenizers import Tokenizer

    text = (folder / "tokenizer.json").read_text("utf-8")
    json.loads(text)  # tokenizers raises a bare Exception for what is no JSON
    tokenizer = Tokenizer.from_str(text)
    tokenizer.no_padding()
    return tokenizer


@contextmanager
def _read_errors(folder: Path) -> Iterator[None]:
    from safetensors import SafetensorError

    try:
        yield
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        raise DataError(
            f"the embedding model in {str(folder)!r} cannot be loaded: {type(error).__name__}: {error}.",
            hint="Run `referee models remove minilm` and `referee models fetch minilm`.",
        ) from error


@lru_cache(maxsize=1)
def _openblas() -> ctypes.CDLL | None:
    folder = Path(np.__file__).parents[1] / "numpy.libs"
    file = next(folder.glob("libscipy_openblas64_*.so"), None)
    library = ctypes.CDLL(str(file)) if file else None
    return library if hasattr(library, _GET) and hasattr(library, _SET) else None
