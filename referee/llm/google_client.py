"""The client of Google's API, as chats, embeddings and batches use it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx
    from google.genai import Client

# The version that takes a JSON schema for the reply. It is the default of google-genai 2; google-genai 3 sends to v1.
_API_VERSION = "v1beta"


def google_client(key: str | None, http: httpx.AsyncClient, base_url: str | None = None) -> Client:
    """A client that sends through ``http``, to ``base_url`` or to Google's own address."""
    from google.genai import Client
    from google.genai.types import HttpOptions

    return Client(
        api_key=key, http_options=HttpOptions(base_url=base_url, api_version=_API_VERSION, httpx_async_client=http)
    )
