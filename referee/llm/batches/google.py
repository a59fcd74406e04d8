"""Google's batches: a file of requests in, a file of responses out, known by a display name."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from referee.llm.batches.protocol import BatchResult, BatchState, Pause, Status, Submission, parsed_lines, unanswered
from referee.llm.clients import connections
from referee.llm.google_client import google_client
from referee.llm.spec import ModelSpec

_STATUS: dict[str, Status] = {
    "JOB_STATE_SUCCEEDED": "ended",
    "JOB_STATE_PARTIALLY_SUCCEEDED": "ended",
    "JOB_STATE_EXPIRED": "expired",
    "JOB_STATE_CANCELLED": "cancelled",
    "JOB_STATE_FAILED": "failed",
}
# Errors in files of results have the numbers of google.rpc.Code; what is not here is the provider's own trouble.
_HTTP = {3: 400, 5: 404, 7: 403, 8: 429, 9: 400, 11: 400, 14: 503, 16: 401}
_LOOKED_AT = 200


class GoogleBatches:
    """Batches over ``batchGenerateContent``, with requests in a file (2 GB at most)."""

    most_requests = 100_000
    most_bytes = 1_000_000_000

    def __init__(self, spec: ModelSpec, *, key: str | None, timeout_s: float, base_url: str | None = None) -> None:
        self._model = spec.name
        self._http = connections(base_url, timeout_s)
        self._client = google_client(key, self._http, base_url).aio

    def line(self, digest: str, body: Mapping[str, Any]) -> bytes:
        """One call."""
        return json.dumps({"key": digest, "request": dict(body)}, ensure_ascii=False).encode("utf-8", "replace") + b"\n"

    async def submit(self, submission: Submission, requests: Path) -> str:
        """Upload the requests, and make a batch of them under our name."""
        sent = await self._client.files.upload(
            file=str(requests), config={"display_name": submission.name, "mime_type": "application/jsonl"}
        )
        made = await self._client.batches.create(
            model=self._model, src=str(sent.name), config={"display_name": submission.name}
        )
        return str(made.name)

    async def find(self, submission: Submission, known: frozenset[str], digests: frozenset[str], wait: Pause) -> str:
        """By its display name."""
        looked_at = 0
        async for batch in await self._client.batches.list(config={"page_size": 100}):
            if batch.display_name == submission.name:
                return str(batch.name)
            looked_at += 1
            if looked_at >= _LOOKED_AT and batch.create_time and batch.create_time.timestamp() < submission.at:
                break
        return ""

    async def state(self, batch_id: str) -> BatchState:
        """How it stands; how many are answered is not said before the end."""
        batch = await self._client.batches.get(name=batch_id)
        file = batch.dest.file_name if batch.dest else None
        return BatchState(
            status=_STATUS.get(batch.state.value if batch.state else "", "open"),
            problem=(batch.error.message or "") if batch.error else "",
            files=(file,) if file else (),
        )

    async def results(self, batch_id: str, state: BatchState, scratch: Path) -> AsyncIterator[BatchResult]:
        """The lines of its file."""
        for name in state.files:
            await self._client.files.download(file=name, destination=str(scratch))
            for digest, line in parsed_lines(scratch, "key"):
                yield _result(digest, line)

    async def cancel(self, batch_id: str) -> None:
        """End it."""
        await self._client.batches.cancel(name=batch_id)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()


def _result(digest: str, line: Mapping[str, Any]) -> BatchResult:
    if isinstance(line.get("response"), dict):
        return BatchResult(digest, 200, line["response"])
    error = line.get("error")
    if not isinstance(error, dict):
        return unanswered(digest, "no reply came")
    code = error.get("code")
    status = _HTTP.get(code, 500) if isinstance(code, int) and code < 400 else int(code or 500)
    return unanswered(digest, str(error.get("message", "")), status)
