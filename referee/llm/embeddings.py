"""Embedders: texts in, one row of length one a text out; embedded, a provider's, or any OpenAI-compatible server's."""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from tenacity import RetryCallState

from referee.errors import DataError, MissingExtra, RefereeError, ReplyInvalid, SettingsError
from referee.llm.catalogue import embedder_key
from referee.llm.clients import Connection
from referee.llm.failures import classified
from referee.llm.minilm import MiniLM
from referee.llm.providers import PROVIDERS, checked_key, parse_model, provider_of, require_key
from referee.llm.retrying import tries
from referee.llm.spec import ANSWERS, LOCAL, ModelSpec
from referee.llm.urgency import Urgency, UrgentFirst
from referee.machine import usable_cores
from referee.runs.stopping import current_stop
from referee.secrets import scrub
from referee.settings import CallSettings

logger = logging.getLogger(__name__)

Vectors = NDArray[np.float32]

SENTENCE_TRANSFORMERS = "sentence-transformers"
_REMOTE = tuple(form for one in PROVIDERS.values() if one.has_embeddings for form in one.forms)
OFFERED = (LOCAL, *(f"{form}:NAME" for form in (*_REMOTE, SENTENCE_TRANSFORMERS)), "NAME with a base URL")
_TEXTS_A_CALL = 64
# What the embedded model computes at a stretch: about 500 pieces, a tenth of a second, so that nothing urgent waits
# for long. A package with batches of its own is given all at once.
_SMALL_BATCH, _ANY_BATCH = 2_000, 1_000_000


class Embedder(Protocol):
    """Something that embeds texts.

    Attributes:
        id: What stands in records; vectors of two ids are never compared.
        dim: Numbers a text; None for a provider's model before its first reply.
    """

    @property
    def id(self) -> str: ...  # noqa: D102

    @property
    def dim(self) -> int | None: ...  # noqa: D102

    async def embed(self, texts: Sequence[str], *, urgency: Urgency = Urgency.PASSAGES) -> Vectors:
        """Embed texts: shape (texts, dim), rows of length one, so that a dot product is the cosine similarity.

        Args:
            texts: Any texts.
            urgency: What waits behind them; heeded where embeddings are computed here, since a server has its own
                order.
        """

    async def aclose(self) -> None:
        """Close connections, where there are any."""


def make_embedder(
    spec: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    cache_dir: Path | None = None,
    calls: CallSettings | None = None,
) -> Embedder:
    """The embedder a setting names. Nothing is loaded or sent yet.

    Args:
        spec: ``local``, ``local:minilm``, ``openai:NAME``, ``google_genai:NAME``, ``sentence-transformers:NAME``.
        base_url: An OpenAI-compatible server; the whole ``spec`` is then the server's own name for its model, unless
            that is computed here (``local``, ``sentence-transformers:NAME``).
        api_key: Key instead of the one in the provider's variable.
        cache_dir: Where fetched models lie.
        calls: How often a provider or server is tried, and how long it may take; by default the settings' defaults.

    Raises:
        SettingsError: Nothing embeds under that name, or a key is missing or cannot be sent.
        DataError: The embedded model was not fetched yet.
        MissingExtra: An optional package is needed.
    """
    provider, _, name = spec.strip().partition(":")
    if provider == LOCAL:
        key, encode = embedder_key(spec.strip()), MiniLM.fetched(cache_dir).encode
        return _InProcess(f"{LOCAL}:{key}", encode, MiniLM.dim, threads=usable_cores(), batch_chars=_SMALL_BATCH)
    if provider == SENTENCE_TRANSFORMERS and name:
        return _sentence_transformer(name)
    if provider == ANSWERS or (base_url is None and (provider not in _REMOTE or not name)):
        raise SettingsError(f"no embedder is called {spec!r}.", hint=f"Write one of: {', '.join(OFFERED)}.")
    model = parse_model(spec, base_url)
    sent = checked_key(api_key, "api_key", model) if api_key else require_key(model)
    return _Remote(model, sent, calls or CallSettings())


class _InProcess:
    """A model in this process; the work is done in threads, batch by batch, the most urgent first."""

    def __init__(
        self,
        embedder_id: str,
        encode: Callable[[Sequence[str]], Any],
        dim: int | None,
        *,
        threads: int,
        batch_chars: int,
    ) -> None:
        self.id = embedder_id
        self.dim = dim
        self._encode = encode
        self._batch_chars = batch_chars
        self._threads = UrgentFirst(threads, "embedder", comparisons=max(1, threads - 1))

    async def embed(self, texts: Sequence[str], *, urgency: Urgency = Urgency.PASSAGES) -> Vectors:
        if not texts:
            return np.zeros((0, self.dim or 0), np.float32)
        jobs = [self._threads.submit(urgency, partial(self._encode, part)) for part in self._batches(texts)]
        waits = [asyncio.wrap_future(job) for job in jobs]
        try:
            rows = [row for part in await asyncio.gather(*waits) for row in part]
        finally:
            for wait in waits:
                wait.cancel()
        vectors = _normalised(rows, len(texts), self.id)
        self.dim = vectors.shape[1]
        return vectors

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """Neighbouring texts up to ``batch_chars`` characters, and a longer one alone."""
        batch, chars = list[str](), 0
        for text in texts:
            if batch and chars + len(text) > self._batch_chars:
                yield batch
                batch, chars = [], 0
            batch.append(text)
            chars += len(text)
        yield batch

    async def aclose(self) -> None:
        """There is nothing to close."""


class _Remote:
    """A provider's model, or one behind an OpenAI-compatible server; tried again as chats are."""

    def __init__(self, model: ModelSpec, key: str | None, calls: CallSettings) -> None:
        self.id = model.id
        self.dim: int | None = None
        self._model = model
        self._calls = calls
        self._answered = False
        self._connection = Connection(model, key, calls.timeout_s)
        self._embed = provider_of(model).embedder(self._connection)

    async def embed(self, texts: Sequence[str], *, urgency: Urgency = Urgency.PASSAGES) -> Vectors:
        """Embed texts.

        Raises:
            ModelUnavailable: No answer after all tries; another run may help.
            ModelRefused: The key, the name or a text was refused.
            ContextTooLong: A text is longer than the model reads.
            ReplyInvalid: The vectors do not fit the texts.
        """
        if not texts:
            return np.zeros((0, self.dim or 0), np.float32)
        batches = [list(texts[start : start + _TEXTS_A_CALL]) for start in range(0, len(texts), _TEXTS_A_CALL)]
        rows = [row for batch in batches for row in await self._tried(batch)]
        vectors = _normalised(rows, len(texts), self.id)
        self.dim = vectors.shape[1]
        return vectors

    async def _tried(self, batch: list[str]) -> list[list[float]]:
        """Send, and send again where that can help; a stop on request is heeded between tries."""
        stop = current_stop()
        attempts = tries(self._calls, answered=lambda: self._answered, before_sleep=self._say_retry, sleep=stop.pause)
        async with stop.call():
            async for attempt in attempts:
                with attempt:
                    rows = await self._sent(batch)
        self._answered = True
        return rows

    async def _sent(self, batch: list[str]) -> list[list[float]]:
        with classified(self._model, as_what="an embedding server"):
            async with asyncio.timeout(self._calls.timeout_s):
                return await self._embed(batch)

    def _say_retry(self, state: RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        cause = scrub(error.message if isinstance(error, RefereeError) else str(error))
        logger.warning("embedding, try %d failed: %s", state.attempt_number, cause)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._connection.aclose()


def _sentence_transformer(name: str) -> Embedder:
    """Any model of the sentence-transformers package; it brings torch and may download the model."""
    if find_spec("sentence_transformers") is None:
        raise MissingExtra(
            f"the embedder {name!r} needs the package 'sentence-transformers', which is not installed.",
            hint=f"Run `pip install 'referee[{SENTENCE_TRANSFORMERS}]'`, or use the embedder 'local'.",
        )

    @cache  # loaded at the first text, in the one thread that computes: torch takes seconds
    def model() -> Any:
        try:
            return importlib.import_module("sentence_transformers").SentenceTransformer(name)
        except (ImportError, OSError, ValueError) as error:
            cause = next(iter(str(error).splitlines()), "").rstrip(".")
            raise DataError(
                f"the sentence-transformers model {name!r} cannot be loaded: {type(error).__name__}: {cause}.",
                hint="Name a model of huggingface.co, which is downloaded at first use, or a folder that holds one.",
                ids={"model": name},
            ) from error

    def encode(texts: Sequence[str]) -> Any:
        return model().encode(list(texts), show_progress_bar=False)

    return _InProcess(f"{SENTENCE_TRANSFORMERS}:{name}", encode, None, threads=1, batch_chars=_ANY_BATCH)


def _normalised(rows: Any, count: int, embedder_id: str) -> Vectors:
    """Rows as floats of length one; anything else than one finite, non-zero row a text is a bad reply."""
    try:
        vectors = np.asarray(rows, dtype=np.float32)
    except ValueError as error:
        raise _bad_reply(embedder_id, "vectors of different lengths") from error
    if vectors.ndim != 2 or len(vectors) != count:
        raise _bad_reply(embedder_id, f"{len(vectors)} vectors for {count} texts")
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or not lengths.all():
        zero = {"vector": "zero"} if np.isfinite(lengths).all() else {}
        raise _bad_reply(embedder_id, "a vector that is zero or not finite", **zero)
    return np.asarray(vectors / lengths, dtype=np.float32)


def _bad_reply(embedder_id: str, what: str, **ids: str) -> ReplyInvalid:
    return ReplyInvalid(
        f"the embedder {embedder_id!r} gave {what}.", hint="Try another embedder.", ids={"model": embedder_id, **ids}
    )
