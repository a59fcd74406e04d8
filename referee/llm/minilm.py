"""all-MiniLM-L6-v2 in plain numpy: sentence embeddings without torch.

A BERT encoder (six layers, width 384), the mean over the tokens, length one. Texts up to 512 word pieces are read
whole; the model's own default of 256 would drop a third of a 400-token passage.

Source: Reimers and Gurevych, "Sentence-BERT: Sentence Embeddings using Siamese BERT-Networks" (pooling); Wang et al.,
"MiniLM: Deep Self-Attention Distillation" (the encoder).
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from referee.errors import DataError
from referee.llm.blas import one_blas_thread
from referee.llm.catalogue import catalogue_entry, embedder_key, model_path
from referee.llm.encoder import Encoder, Floats

MAX_TOKENS = 512
_PACK_TOKENS = 512


class MiniLM:
    """The embedder; its files are read at the first ``encode``.

    Args:
        folder: Folder with ``model.safetensors``, ``tokenizer.json`` and ``config.json``.
    """

    dim = 384

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._loading = threading.Lock()
        self._loaded: tuple[Any, Encoder] | None = None

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
        """Embed texts, in the thread that asks; several may ask at once.

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
        tokenizer, encoder = self._opened()
        token_ids = [list(tokenizer.encode(text).ids) for text in texts]
        packs = _packs([len(ids) for ids in token_ids], batch_size)
        with one_blas_thread():
            return np.concatenate([encoder.embed([token_ids[at] for at in pack]) for pack in packs])

    def _opened(self) -> tuple[Any, Encoder]:
        with self._loading:
            if self._loaded is None:
                self._loaded = _read(self._folder)
        return self._loaded


def _read(folder: Path) -> tuple[Any, Encoder]:
    """The tokenizer, set to the model's length, and the encoder."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
        weights = load_file(folder / "model.safetensors")
        tokenizer = Tokenizer.from_str((folder / "tokenizer.json").read_text("utf-8"))
        encoder = Encoder(
            weights,
            heads=int(config["num_attention_heads"]),
            layers=int(config["num_hidden_layers"]),
            epsilon=float(config["layer_norm_eps"]),
        )
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        raise DataError(
            f"the embedding model in {str(folder)!r} cannot be loaded: {type(error).__name__}: {error}.",
            hint="Run `referee models remove minilm` and `referee models fetch minilm`.",
        ) from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer, encoder


def _packs(lengths: list[int], batch_size: int) -> Iterator[range]:
    """Ranges of neighbouring texts that are computed together: bounded in texts and in tokens."""
    start, tokens = 0, 0
    for index, length in enumerate(lengths):
        if index > start and (index - start >= batch_size or tokens + length > _PACK_TOKENS):
            yield range(start, index)
            start, tokens = index, 0
        tokens += length
    yield range(start, len(lengths))
