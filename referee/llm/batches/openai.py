"""OpenAI's batches, and those of servers that speak its protocol: a file of requests in, files of results out."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from referee.llm.batches.protocol import (
    BatchResult,
    BatchState,
    Pause,
    Status,
    Submission,
    parsed_lines,
    unanswered,
)
from referee.llm.clients import connections
from referee.llm.spec import ModelSpec

if TYPE_CHECKING:
    from openai.types import Batch

_ENDPOINT: Literal["/v1/chat/completions"] = "/v1/chat/completions"
_NAME = "referee"
_STATUS: dict[str, Status] = {
    "completed": "ended",
    "expired": "expired",
    "cancelled": "cancelled",
    "failed": "failed",
}
_FULL = "token_limit_exceeded"
# A batch that was handed in stands among the newest, which the provider lists first.
_LOOKED_AT = 200


class OpenAIBatches:
    """Batches over ``/v1/files`` and ``/v1/batches``.

    Limits are OpenAI's (50,000 requests and 200 MB), a little below for what counts differently; the file is streamed.
    """

    most_requests = 50_000
    most_bytes = 190_000_000

    def __init__(self, spec: ModelSpec, *, key: str | None, timeout_s: float) -> None:
        from openai import AsyncOpenAI

        self._client = AsyncOpenAI(
            api_key=key or "none",
            base_url=spec.base_url,
            timeout=timeout_s,
            max_retries=0,
            http_client=cast(Any, connections(spec.base_url, timeout_s)),  # the SDK takes both libraries' clients
        )

    def line(self, digest: str, body: Mapping[str, Any]) -> bytes:
        """One call; it is never streamed."""
        sent = {name: value for name, value in body.items() if name not in ("stream", "stream_options")}
        request = {"custom_id": digest, "method": "POST", "url": _ENDPOINT, "body": sent}
        return json.dumps(request, ensure_ascii=False).encode("utf-8", "replace") + b"\n"

    async def submit(self, submission: Submission, requests: Path) -> str:
        """Upload the requests, and make a batch of them that carries our name."""
        with requests.open("rb") as file:
            sent = await self._client.files.create(file=(f"{submission.name}.jsonl", file), purpose="batch")
        made = await self._client.batches.create(
            input_file_id=sent.id,
            endpoint=_ENDPOINT,
            completion_window="24h",
            metadata={_NAME: submission.name},
        )
        return made.id

    async def find(self, submission: Submission, known: frozenset[str], digests: frozenset[str], wait: Pause) -> str:
        """By the name in its metadata."""
        looked_at = 0
        async for batch in self._client.batches.list(limit=100):
            if (batch.metadata or {}).get(_NAME) == submission.name:
                return batch.id
            looked_at += 1
            if looked_at >= _LOOKED_AT and batch.created_at < submission.at:
                break
        return ""

    async def state(self, batch_id: str) -> BatchState:
        """How it stands; a batch that was turned away says why."""
        batch = await self._client.batches.retrieve(batch_id)
        errors = (batch.errors.data if batch.errors else None) or []
        counts = batch.request_counts
        return BatchState(
            status=_STATUS.get(batch.status, "open"),
            answered=counts.completed if counts else 0,
            problem="; ".join(dict.fromkeys(error.message or error.code or "" for error in errors)),
            full=any(error.code == _FULL for error in errors),
            files=_files(batch),
        )

    async def results(self, batch_id: str, state: BatchState, scratch: Path) -> AsyncIterator[BatchResult]:
        """The lines of its files: one holds replies, the other what went wrong."""
        for name in state.files:
            async with self._client.files.with_streaming_response.content(name) as response:
                with scratch.open("wb") as file:
                    async for part in response.iter_bytes():
                        file.write(part)
            for digest, line in parsed_lines(scratch, "custom_id"):
                yield _result(digest, line)

    async def cancel(self, batch_id: str) -> None:
        """End it."""
        await self._client.batches.cancel(batch_id)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()


def _files(batch: Batch) -> tuple[str, ...]:
    return tuple(name for name in (batch.output_file_id, batch.error_file_id) if name)


def _result(digest: str, line: Mapping[str, Any]) -> BatchResult:
    response = line.get("response")
    if isinstance(response, dict) and isinstance(response.get("body"), dict):
        return BatchResult(digest, int(response.get("status_code") or 200), response["body"])
    error = line.get("error")
    return unanswered(digest, str((error.get("message") if isinstance(error, dict) else error) or "no reply came"))
