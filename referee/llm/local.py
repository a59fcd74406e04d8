"""The embedded chat model: llama.cpp inside this process, spoken to like any other OpenAI-compatible server.

The server listens on loopback only, on a port the system picks, and wants a key that is made anew for each process,
so that other users of the machine cannot use it. Settings that were chosen by measurement on two cores:

- One slot. Two are slower, and they would halve the context.
- Flash attention, with 16-bit keys and values: 8-bit ones made prompts three times and replies twenty times slower.
- Batches of 512 tokens: as fast as 2,048 on a section, and a client that hangs up frees the model sooner.
- Few spins in OpenMP: with one other busy process, threads that spin cost a third of the speed.
"""

from __future__ import annotations

import asyncio
import atexit
import gc
import os
import secrets
import threading
from functools import lru_cache
from pathlib import Path
from typing import Any

import httpx

from referee.errors import DataError, MissingExtra, ModelUnavailable, SettingsError
from referee.llm.catalogue import CatalogueEntry, catalogue_entry, chat_model_key, fetched_path
from referee.machine import usable_cores

LOCAL_CONTEXT_TOKENS = 16_384
REPEAT_PENALTY = 1.1

_BATCH_TOKENS = 512
_PROMPT_CACHE_MIB = 768
_SPIN_VARIABLE = "GOMP_SPINCOUNT"
_SPINS = "1000"


class LocalServer:
    """One loaded chat model that answers on ``base_url``.

    Sampling defaults are temperature 0 and a repeat penalty of 1.1; a request may give its own. Too long a prompt is
    refused by the server, never cut.

    Args:
        key: Key of a chat model in the catalogue, for messages and as the model's name.
        path: Its file.
        n_ctx: Context in tokens, prompt and reply together.

    Attributes:
        base_url: Address of the API, with ``/v1``.
        api_key: Key each request must carry as a bearer token.
        context_tokens: The context the server really has.

    Raises:
        MissingExtra: xllamacpp is not installed.
        DataError: The file is no model the runtime can load.
    """

    def __init__(self, key: str, path: Path, n_ctx: int = LOCAL_CONTEXT_TOKENS) -> None:
        self.key = key
        self.api_key = secrets.token_urlsafe(24)
        runtime = import_runtime()
        parameters = _parameters(runtime, key, path, n_ctx, self.api_key)
        try:
            self._server: Any = runtime.Server(parameters)
        except (RuntimeError, ValueError) as error:
            raise DataError(
                f"the embedded model {key!r} cannot be loaded from {str(path)!r}: {error}.",
                hint=f"Run `referee models remove {key}` and `referee models fetch {key}`.",
                ids={"model": key},
            ) from error
        root = str(self._server.listening_address)
        self.base_url = f"{root}/v1"
        self._client = httpx.Client(
            base_url=root, headers={"Authorization": f"Bearer {self.api_key}"}, timeout=60, trust_env=False
        )
        self.count_tokens = lru_cache(maxsize=256)(self._count_tokens)
        # A server that is closed before its loop has begun never ends: wait for an answer that comes from the loop.
        self._ask("GET", "/lora-adapters")
        self.context_tokens = int(self._ask("GET", "/props")["default_generation_settings"]["n_ctx"])

    @property
    def is_open(self) -> bool:
        """Whether the model is loaded."""
        return self._server is not None

    def close(self) -> None:
        """Stop the server and free the model's memory; a request under way ends with an error. Twice is harmless."""
        self._client.close()
        self._server = None
        gc.collect()

    def _count_tokens(self, text: str) -> int:
        """Tokens of a text as the model sees it, without its chat template."""
        return len(self._ask("POST", "/tokenize", {"content": text, "add_special": False})["tokens"])

    def _ask(self, method: str, route: str, body: dict[str, Any] | None = None) -> Any:
        try:
            response = self._client.request(method, route, json=body)
            response.raise_for_status()
        except (httpx.HTTPError, RuntimeError) as error:
            raise ModelUnavailable(
                f"the embedded model {self.key!r} does not answer {route!r}: {type(error).__name__}.",
                hint="It may have been closed, or the machine ran out of memory.",
                ids={"model": self.key},
            ) from error
        return response.json()


async def get_local_server(
    key: str = "local", *, n_ctx: int = LOCAL_CONTEXT_TOKENS, cache_dir: Path | None = None
) -> LocalServer:
    """The running server of an embedded model; loaded in a thread on the first call, shared by all later ones.

    Args:
        key: ``local`` or the key of a chat model.
        n_ctx: Context in tokens; another context is another server.
        cache_dir: Where models lie, as for ``fetch_model``.

    Raises:
        SettingsError: The key is unknown or the context is larger than the model was trained for.
        DataError: The file was not fetched yet, or cannot be loaded.
        MissingExtra: xllamacpp is not installed.
    """
    entry = catalogue_entry(chat_model_key(key))
    if not 0 < n_ctx <= entry.context_tokens:
        raise SettingsError(
            f"a context of {n_ctx:,} tokens does not suit the embedded model {entry.key!r}.",
            hint=f"Choose one from 1 to {entry.context_tokens:,}.",
        )
    return await asyncio.to_thread(_open_shared, entry, n_ctx, cache_dir)


def close_local_servers() -> None:
    """Stop all shared servers; the next ``get_local_server`` loads anew."""
    with _LOCK:
        while _SERVERS:
            _SERVERS.popitem()[1].close()


_LOCK = threading.Lock()
_SERVERS: dict[tuple[Path, int], LocalServer] = {}


def _open_shared(entry: CatalogueEntry, n_ctx: int, cache_dir: Path | None) -> LocalServer:
    path = fetched_path(entry.key, cache_dir)
    with _LOCK:
        server = _SERVERS.get((path, n_ctx))
        if server is None or not server.is_open:
            server = _SERVERS[path, n_ctx] = LocalServer(entry.key, path, n_ctx)
        return server


def import_runtime() -> Any:
    """Import xllamacpp with few spins set: its OpenMP reads the variable only when it is loaded."""
    before = os.environ.get(_SPIN_VARIABLE)
    os.environ.setdefault(_SPIN_VARIABLE, _SPINS)
    try:
        import xllamacpp
    except ImportError as error:
        raise MissingExtra(
            "the embedded model needs the package 'xllamacpp', which is not installed.",
            hint="Run `pip install 'referee[local]'`, or name another model with --model.",
        ) from error
    finally:
        if before is None:
            os.environ.pop(_SPIN_VARIABLE, None)
    return xllamacpp


def _parameters(runtime: Any, key: str, path: Path, n_ctx: int, api_key: str) -> Any:
    parameters = runtime.CommonParams()
    parameters.model.path = str(path)
    parameters.model_alias = {key}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [api_key]
    parameters.ui = False
    parameters.endpoint_slots = False
    parameters.verbosity = 0
    parameters.n_ctx = n_ctx
    parameters.n_parallel = 1
    parameters.n_batch = parameters.n_ubatch = _BATCH_TOKENS
    parameters.flash_attn_type = runtime.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_ENABLED
    parameters.cache_ram_mib = _PROMPT_CACHE_MIB
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = usable_cores()
    parameters.sampling.temp = 0.0
    parameters.sampling.penalty_repeat = REPEAT_PENALTY
    return parameters


atexit.register(close_local_servers)
