"""Google: its format, its embeddings, and its batches: files of requests and responses, known by a display name."""

from __future__ import annotations

import json
import math
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pydantic import SecretStr

from referee.llm.batches.protocol import (
    BatchProvider,
    BatchResult,
    BatchState,
    Pause,
    Status,
    Submission,
    newest,
    status_in,
    unanswered,
)
from referee.llm.clients import Connection
from referee.llm.providers.protocol import Provider, Vector, WireRequest

if TYPE_CHECKING:
    from google.genai import Client
    from langchain_core.language_models import BaseChatModel

# The version that takes a JSON schema for the reply. It is the default of google-genai 2; google-genai 3 sends to v1.
_API_VERSION = "v1beta"
_ADDRESS = "https://generativelanguage.googleapis.com"
# A picture is 258 tokens up to 384 x 384, else for each tile of 768.
_SMALL, _TILE, _TOKENS = 384, 768, 258

_STATUS: dict[str, Status] = {
    "JOB_STATE_SUCCEEDED": "ended",
    "JOB_STATE_PARTIALLY_SUCCEEDED": "ended",
    "JOB_STATE_EXPIRED": "expired",
    "JOB_STATE_CANCELLED": "cancelled",
    "JOB_STATE_FAILED": "failed",
}
# Errors in files of results have the numbers of google.rpc.Code; what is not here is the provider's own trouble.
_HTTP = {3: 400, 5: 404, 7: 403, 8: 429, 9: 400, 11: 400, 14: 503, 16: 401}


class Google(Provider):
    """Google."""

    def chat(self, connection: Connection, temperature: float | None, max_tokens: int) -> BaseChatModel:
        """LangChain's client over one of our own."""
        from langchain_google_genai import ChatGoogleGenerativeAI

        chat = ChatGoogleGenerativeAI(
            model=connection.spec.name,
            api_key=SecretStr(connection.key or ""),
            base_url=connection.base_url,
            max_tokens=max_tokens,
            temperature=temperature,
            timeout=connection.timeout_s,
            max_retries=1,
        )
        chat.client = self._client(connection)
        return chat

    def errors(self) -> tuple[type[Exception], ...]:
        """The SDK's tree and LangChain's, for chats and for embeddings."""
        from google.genai.errors import APIError
        from langchain_google_genai._common import GoogleGenerativeAIError
        from langchain_google_genai.chat_models import ChatGoogleGenerativeAIError

        return APIError, GoogleGenerativeAIError, ChatGoogleGenerativeAIError

    def arguments(self, request: WireRequest) -> dict[str, Any]:
        """The reply's format."""
        if not request.native:
            return {}
        return {
            "response_mime_type": "application/json",
            "response_json_schema": self.dialect(request.schema),
        }

    def embedder(self, connection: Connection) -> Callable[[list[str]], Awaitable[list[Vector]]]:
        """LangChain's client over one of our own; the vectors have no places but their order."""
        from langchain_google_genai import GoogleGenerativeAIEmbeddings

        embeddings = GoogleGenerativeAIEmbeddings(
            model=connection.spec.name,
            google_api_key=SecretStr(connection.key or ""),
            task_type="SEMANTIC_SIMILARITY",
        )
        embeddings.client = self._client(connection)
        return embeddings.aembed_documents

    def batches(self, connection: Connection) -> BatchProvider:
        """Over ``batchGenerateContent``."""
        return GoogleBatches(self._client(connection).aio, connection)

    def _client(self, connection: Connection) -> Client:
        from google.genai import Client
        from google.genai.types import HttpOptions

        options = HttpOptions(
            base_url=connection.base_url, api_version=_API_VERSION, httpx_async_client=connection.http
        )
        return Client(api_key=connection.key, http_options=options)


class GoogleBatches(BatchProvider):
    """Batches over ``batchGenerateContent``, with requests in a file (2 GB at most)."""

    id_key = "key"

    def line(self, digest: str, body: Mapping[str, Any]) -> bytes:
        """One call."""
        return json.dumps({"key": digest, "request": dict(body)}, ensure_ascii=False).encode("utf-8", "replace") + b"\n"

    async def submit(self, submission: Submission, requests: Path) -> str:
        """Upload the requests, and make a batch of them under our name."""
        sent = await self.client.files.upload(
            file=str(requests), config={"display_name": submission.name, "mime_type": "application/jsonl"}
        )
        made = await self.client.batches.create(
            model=self.connection.spec.name, src=str(sent.name), config={"display_name": submission.name}
        )
        return str(made.name)

    async def find(self, submission: Submission, known: frozenset[str], digests: frozenset[str], wait: Pause) -> str:
        """By its display name."""
        found = await newest(
            await self.client.batches.list(config={"page_size": 100}),
            lambda batch: bool(batch.display_name == submission.name),
            lambda batch: batch.create_time.timestamp() if batch.create_time else None,
            submission.at,
        )
        return str(found.name) if found else ""

    async def state(self, batch_id: str) -> BatchState:
        """How it stands; how many are answered is not said before the end."""
        batch = await self.client.batches.get(name=batch_id)
        file = batch.dest.file_name if batch.dest else None
        return BatchState(
            status=_STATUS.get(batch.state.value if batch.state else "", "open"),
            problem=(batch.error.message or "") if batch.error else "",
            files=(file,) if file else (),
        )

    def sources(self, batch_id: str, state: BatchState) -> list[str]:
        """Its file."""
        base = f"{(self.connection.base_url or _ADDRESS).rstrip('/')}/{_API_VERSION}"
        return [f"{base}/{quote(name)}:download?alt=media" for name in state.files]

    @property
    def headers(self) -> dict[str, str]:
        """The key."""
        return {"x-goog-api-key": self.connection.key or ""}

    def result(self, line: Mapping[str, Any]) -> BatchResult:
        """A reply, or why there is none."""
        digest, error = line["key"], line.get("error")
        if isinstance(line.get("response"), dict):
            return BatchResult(digest, 200, line["response"])
        if not isinstance(error, dict):
            return unanswered(digest, "no reply came")
        code = error.get("code")
        status = _HTTP.get(code) if isinstance(code, int) else None
        return unanswered(digest, str(error.get("message", "")), status or status_in(code, 500))

    async def cancel(self, batch_id: str) -> None:
        """End it."""
        await self.client.batches.cancel(name=batch_id)


def _image_tokens(width: int, height: int) -> int:
    """Google's page "Understand and count tokens"."""
    small = max(width, height) <= _SMALL
    return _TOKENS if small else _TOKENS * math.ceil(width / _TILE) * math.ceil(height / _TILE)


GOOGLE = Google(
    name="google_genai",
    forms=("google_genai",),
    keys=("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    sdk="langchain_google_genai",
    price_list="google",
    has_embeddings=True,
    image_tokens=_image_tokens,
    has_batches=True,
)
