"""The logits of an embedded model for every token of a text, in blocks that are never kept together."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from referee.errors import DataError, ModelError
from referee.llm.catalogue import catalogue_entry, model_path
from referee.llm.fetch import fetch_model
from referee.llm.llama_library import BUILD, llama_library
from referee.llm.sources import FetchProgress
from referee.machine import usable_cores

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Logits = npt.NDArray[np.float32]

MAX_TOKENS = 512
# 64 rows over Qwen's 151,936 tokens are 39 MB; one block for all 512 would be 311 MB and is not faster.
BLOCK_TOKENS = 64
_NO_FLASH_ATTENTION = 0


@dataclass(frozen=True)
class LogitsModel:
    """Which model the logits are of; scores of two that differ in any of this cannot be compared.

    Attributes:
        name: Key in the catalogue, or the file's name.
        sha256: Of the model file.
        quantisation: As the file's name says, as ``q4_k_m``.
        tokenizer: The tokenizer that the file names, with its size, as ``gpt2/qwen2 151936``.
        runtime: The library and its build.
        max_tokens: Longer texts lose their end.
        parameters: How many it has; 0 where that is not known.
    """

    name: str
    sha256: str
    quantisation: str
    tokenizer: str
    runtime: str
    max_tokens: int = MAX_TOKENS
    parameters: int = 0


class LlamaLogits:
    """One loaded model that says how likely it found every token of a text.

    Not a chat model: nothing is generated and no template is used. Calls from several threads wait for one another.

    Args:
        key: Key of a model in the catalogue.
        path: Its file.
        max_tokens: Longer texts lose their end.

    Attributes:
        model: What to record with every number.
        vocabulary: V, the number of tokens.

    Raises:
        MissingExtra: xllamacpp is not installed.
        SettingsError: Another build of it is.
        DataError: The file is no model the library can load.
    """

    def __init__(self, key: str, path: Path, *, max_tokens: int = MAX_TOKENS) -> None:
        self._library = llama_library()
        calls = self._library.calls
        parameters = calls.llama_model_default_params()
        parameters.n_gpu_layers = 0
        self._loaded = calls.llama_model_load_from_file(str(path).encode(), parameters)
        if self._loaded == self._library.ffi.NULL:
            raise DataError(
                f"the model {key!r} cannot be loaded from {str(path)!r}.",
                hint=f"Run `referee models remove {key}` and `referee models fetch {key}`.",
                ids={"model": key},
            )
        self._context = calls.llama_init_from_model(self._loaded, self._settings(max_tokens))
        self._batch = calls.llama_batch_init(BLOCK_TOKENS, 0, 1)
        self._vocab = calls.llama_model_get_vocab(self._loaded)
        # Whoever reads blocks may ask for tokens meanwhile.
        self._lock = threading.RLock()
        self.vocabulary = int(calls.llama_vocab_n_tokens(self._vocab))
        self.model = LogitsModel(
            name=key,
            sha256=catalogue_entry(key).files[0].sha256,
            quantisation=path.stem.lower().replace(".", "-").rpartition("-")[2],
            tokenizer=f"{self._metadata('model')}/{self._metadata('pre')} {self.vocabulary}",
            runtime=f"xllamacpp {BUILD}",
            max_tokens=max_tokens,
            parameters=int(calls.llama_model_n_params(self._loaded)),
        )

    def tokens(self, text: str) -> list[int]:
        """Ids of the text's tokens without any special one, at most ``max_tokens`` from its head.

        Raises:
            ModelError: The model was closed.
        """
        raw = text.encode()
        room = len(raw) + 8
        ids = self._library.ffi.new("int32_t[]", room)
        with self._lock:
            self._require_open()
            found = self._library.calls.llama_tokenize(self._vocab, raw, len(raw), ids, room, False, False)
        return [int(ids[index]) for index in range(max(int(found), 0))][: self.model.max_tokens]

    def blocks(self, tokens: list[int]) -> Iterator[Logits]:
        """For every token the logits of what follows it: arrays of up to 64 x V in float32, in order, L rows in all.

        A block is overwritten by the next one: use it before going on. One text at a time has the model.

        Raises:
            ModelError: The library could not compute them, or the model was closed.
        """
        with self._lock:
            self._require_open()
            calls = self._library.calls
            calls.llama_memory_clear(calls.llama_get_memory(self._context), True)
            for start in range(0, len(tokens), BLOCK_TOKENS):
                block = tokens[start : start + BLOCK_TOKENS]
                # One row alone takes another way through the library, with other last digits: give it company.
                yield self._decoded(block * 2 if len(block) == 1 else block, start)[: len(block)]

    def close(self) -> None:
        """Free the model's memory. Twice is harmless; nothing can be asked afterwards."""
        with self._lock:
            if self._loaded is None:
                return
            calls = self._library.calls
            calls.llama_batch_free(self._batch)
            calls.llama_free(self._context)
            calls.llama_model_free(self._loaded)
            self._loaded = None

    def _require_open(self) -> None:
        """A thread that still waits for the model when a run is ended must not reach into memory that is freed."""
        if self._loaded is None:
            raise ModelError(
                f"the model {self.model.name!r} was closed while a text waited for it.",
                hint="Resume the run: what was scored is kept.",
                ids={"model": self.model.name},
            )

    def _settings(self, max_tokens: int) -> Any:
        settings = self._library.calls.llama_context_default_params()
        settings.n_ctx = max_tokens + 1
        settings.n_batch = settings.n_ubatch = BLOCK_TOKENS
        # With flash attention a row's logits depend on how many rows its block has (by up to 0.9).
        settings.flash_attn_type = _NO_FLASH_ATTENTION
        settings.n_threads = settings.n_threads_batch = usable_cores()
        return settings

    def _decoded(self, tokens: list[int], start: int) -> Logits:
        import numpy as np

        batch = self._batch
        batch.n_tokens = len(tokens)
        for index, token in enumerate(tokens):
            batch.token[index], batch.pos[index], batch.logits[index] = token, start + index, 1
            batch.n_seq_id[index], batch.seq_id[index][0] = 1, 0
        code = self._library.calls.llama_decode(self._context, batch)
        if code != 0:
            raise ModelError(
                f"{self.model.name!r} could not compute the logits of {len(tokens)} tokens: llama.cpp's code {code}.",
                hint="The machine may be out of memory; use a smaller model.",
                ids={"model": self.model.name},
            )
        values = self._library.calls.llama_get_logits(self._context)
        size = len(tokens) * self.vocabulary
        raw = self._library.ffi.buffer(values, size * 4)
        return np.frombuffer(raw, dtype=np.float32).reshape(len(tokens), self.vocabulary)

    def _metadata(self, key: str) -> str:
        text = self._library.ffi.new("char[]", 64)
        name = f"tokenizer.ggml.{key}".encode()
        found = self._library.calls.llama_model_meta_val_str(self._loaded, name, text, 64)
        return self._library.ffi.string(text).decode() if found > 0 else ""


async def load_logits(key: str, *, download: bool = True, progress: FetchProgress | None = None) -> LlamaLogits:
    """A model of the catalogue, fetched where it is not here, unless ``download`` forbids it; ``progress`` is told.

    Raises:
        MissingExtra: xllamacpp is not installed.
        SettingsError: Another build of it is, or the key is unknown.
        DataError: The file could not be had or loaded.
    """
    import asyncio

    llama_library()
    path = model_path(key)
    if path is None and not download:
        raise not_here(key)
    path = path or await fetch_model(key, progress=progress)
    return await asyncio.to_thread(LlamaLogits, key, path)


def not_here(key: str) -> DataError:
    """What is said of an embedded model that is not here where nothing may be downloaded."""
    return DataError(
        f"the embedded model {key!r} is not here, and nothing is downloaded now.",
        hint=f"Run `referee models fetch {key}` where there is a network.",
        ids={"model": key},
    )
