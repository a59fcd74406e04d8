"""The embedder a setting names, ready to use: the embedded one is fetched when it is not here yet."""

from __future__ import annotations

from pathlib import Path

from referee.llm.catalogue import embedder_key
from referee.llm.embeddings import Embedder, make_embedder
from referee.llm.fetch import fetch_model
from referee.llm.sources import FetchProgress
from referee.llm.spec import LOCAL
from referee.settings import CallSettings


async def open_embedder(
    spec: str = LOCAL,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    cache_dir: Path | None = None,
    progress: FetchProgress | None = None,
    calls: CallSettings | None = None,
) -> Embedder:
    """The embedder of ``settings.embedder``; for ``local`` its files are fetched first.

    Args:
        spec: ``local`` or ``provider:NAME``, as in ``referee.llm.embeddings.make_embedder``.
        base_url: An OpenAI-compatible server that embeds under the name ``spec``.
        api_key: Key instead of the one in the provider's variable.
        cache_dir: Base folder instead of ``REFEREE_CACHE_DIR`` or the user's cache.
        progress: Told about bytes as they are fetched.
        calls: How often a provider or server is tried, and how long it may take; by default the settings' defaults.

    Raises:
        SettingsError: Nothing embeds under that name, or a key is missing.
        DataError: The embedded model cannot be fetched.
        MissingExtra: An optional package is needed.
    """
    if spec.strip().partition(":")[0] == LOCAL:
        await fetch_model(embedder_key(spec.strip()), cache_dir=cache_dir, progress=progress)
    return make_embedder(spec, base_url=base_url, api_key=api_key, cache_dir=cache_dir, calls=calls)
