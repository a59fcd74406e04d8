"""Anthropic: its format, where a reply is a tool call, its marks for the cache, and its message batches."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from contextlib import aclosing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pydantic import SecretStr

from referee.llm.batches.protocol import BatchProvider, BatchResult, BatchState, Pause, Submission, unanswered
from referee.llm.clients import Connection
from referee.llm.completions import TOOL
from referee.llm.providers.protocol import Provider, WireRequest

if TYPE_CHECKING:
    from anthropic.types.messages import MessageBatch
    from langchain_core.language_models import BaseChatModel

# A picture is scaled to 1568 on the longer side; a token for 750 dots.
_LONG, _DOTS = 1568, 750

# What the SDK would have raised for the same error at once.
_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_VERSION = "2023-06-01"  # of the format, as the SDK sends it
# Clocks differ between us and the provider.
_CLOCK_S = 300


class Anthropic(Provider):
    """Anthropic."""

    def chat(self, connection: Connection, temperature: float | None, max_tokens: int) -> BaseChatModel:
        """LangChain's client over one of our own."""
        import httpx2
        from anthropic import AsyncAnthropic
        from langchain_anthropic import ChatAnthropic

        chat = ChatAnthropic(
            model=connection.spec.name,
            api_key=SecretStr(connection.key or ""),
            base_url=connection.base_url,
            max_tokens=max_tokens,
            temperature=temperature,
            timeout=connection.timeout_s,
            max_retries=0,
        )
        # LangChain shares one HTTP client per process, which cannot be closed and dies with the first event loop.
        client = AsyncAnthropic(
            api_key=connection.key,
            base_url=chat.anthropic_api_url,
            timeout=connection.timeout_s,
            max_retries=0,
            http_client=connection.new_http(httpx2),
        )
        chat.__dict__["_async_client"] = client
        return chat

    def errors(self) -> tuple[type[Exception], ...]:
        """The SDK's tree."""
        from anthropic import AnthropicError

        return (AnthropicError,)

    def arguments(self, request: WireRequest) -> dict[str, Any]:
        """The reply is handed in by a tool, unless its schema stands in the prompt."""
        if not request.native or self.schema_in_text(request):
            return {}
        tool = {"name": TOOL, "description": "Hand in the reply.", "input_schema": self.dialect(request.schema)}
        return {"tools": [tool], "tool_choice": {"type": "tool", "name": TOOL}}

    def batches(self, connection: Connection) -> BatchProvider:
        """Over ``/v1/messages/batches``."""
        import httpx2
        from anthropic import AsyncAnthropic

        client = AsyncAnthropic(
            api_key=connection.key,
            base_url=connection.base_url,
            timeout=connection.timeout_s,
            max_retries=0,
            http_client=connection.new_http(httpx2),
        )
        return AnthropicBatches(client, connection)


class AnthropicBatches(BatchProvider):
    """Batches over ``/v1/messages/batches``.

    Anthropic takes 100,000 requests and 256 MB. A body is in memory as a whole, several times over: ours are smaller.
    """

    most_requests, most_bytes = 100_000, 32_000_000

    def line(self, digest: str, body: Mapping[str, Any]) -> bytes:
        """One call; it is never streamed."""
        sent = {name: value for name, value in body.items() if name != "stream"}
        return json.dumps({"custom_id": digest, "params": sent}, ensure_ascii=False).encode("utf-8", "replace") + b"\n"

    async def submit(self, submission: Submission, requests: Path) -> str:
        """Hand in the requests of the file."""
        with requests.open("rb") as file:
            made = await self.client.messages.batches.create(requests=[json.loads(line) for line in file])
        return str(made.id)

    async def find(self, submission: Submission, known: frozenset[str], digests: frozenset[str], wait: Pause) -> str:
        """By the ids of its calls, which can be read once it has ended; only batches of the right size are waited for.

        A batch of ours that is still being worked on is thus waited for until it has ended.
        """
        while True:
            unsure = False
            async for batch in self.client.messages.batches.list(limit=100):
                if batch.created_at.timestamp() < submission.at - _CLOCK_S:
                    break
                if batch.id in known or sum(batch.request_counts.to_dict().values()) != submission.requests:
                    continue
                if batch.processing_status != "ended":
                    unsure = True
                elif await self._holds(batch, digests):
                    return str(batch.id)
            if not unsure:
                return ""
            await wait()

    async def _holds(self, batch: MessageBatch, digests: frozenset[str]) -> bool:
        """Whether the first line of its results is of one of these calls."""
        with TemporaryDirectory() as folder:
            scratch = Path(folder, "results")
            async with aclosing(self.results(batch.id, BatchState("ended"), scratch, len(digests))) as results:
                async for result in results:
                    return result.digest in digests
        return False

    async def state(self, batch_id: str) -> BatchState:
        """How it stands: that it expired or was cancelled is said of each call."""
        batch = await self.client.messages.batches.retrieve(batch_id)
        counts = batch.request_counts
        if batch.processing_status != "ended":
            return BatchState("open")
        ended = "cancelled" if counts.canceled else "expired" if counts.expired else "ended"
        return BatchState(ended, counts.succeeded)  # type: ignore[arg-type]

    def sources(self, batch_id: str, state: BatchState) -> list[str]:
        """Its results; the address that the provider names is not used, since the key goes with the question."""
        return [f"{str(self.client.base_url).rstrip('/')}/v1/messages/batches/{quote(batch_id, safe='')}/results"]

    @property
    def headers(self) -> dict[str, str]:
        """The key, and the version of the format."""
        return {"x-api-key": self.connection.key or "", "anthropic-version": _VERSION}

    def result(self, line: Mapping[str, Any]) -> BatchResult:
        """A reply, an error as it would have been raised at once, or why there is none."""
        digest, given = line["custom_id"], line.get("result")
        result = given if isinstance(given, dict) else {}
        kind = result.get("type")
        if kind == "succeeded" and isinstance(message := result.get("message"), dict):
            return BatchResult(digest, 200, message)
        error = result.get("error") if kind == "errored" else None
        inner = error.get("error") if isinstance(error, dict) else None
        if isinstance(error, dict) and isinstance(inner, dict):
            return BatchResult(digest, _STATUS.get(str(inner.get("type")), 500), error)
        return unanswered(digest, f"the batch {kind or 'ended'} before this call was answered")

    async def cancel(self, batch_id: str) -> None:
        """End it."""
        await self.client.messages.batches.cancel(batch_id)


def _image_tokens(width: int, height: int) -> int:
    """Anthropic's page "Vision"."""
    scale = min(1.0, _LONG / max(width, height))
    return math.ceil(width * scale * height * scale / _DOTS)


ANTHROPIC = Anthropic(
    name="anthropic",
    forms=("anthropic",),
    keys=("ANTHROPIC_API_KEY",),
    sdk="langchain_anthropic",
    price_list="anthropic",
    schema_first=True,
    cache_mark={"cache_control": {"type": "ephemeral"}},
    image_tokens=_image_tokens,
    has_batches=True,
)
