"""Batches at the fake server: three protocols, and what can become of a batch."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any, Literal, get_args

from tests.support.http1 import HttpError, HttpRequest, HttpResponse, json_response

Wire = Literal["openai", "anthropic", "google"]
Ending = Literal[
    "completed",  # every call is answered, or has its own error
    "expired",  # every second call is not answered
    "cancelled",  # the same, and the provider calls it cancelled
    "failed",  # turned away as a whole: the first call is not valid
    "full",  # turned away as a whole: too much of the account waits already
    "missing",  # the last call has no line in the results
    "no file",  # OpenAI: it is completed, and names no file of results
    "foreign",  # the results also hold a line of an unknown id, one that is no JSON, and one line twice
]
ENDINGS: tuple[str, ...] = get_args(Ending)

Answer = Callable[[Wire, str, dict[str, Any], HttpRequest], Awaitable[HttpResponse | None]]

_UNANSWERED = ("expired", "cancelled")
_TURNED_AWAY = ("failed", "full")


@dataclass(frozen=True)
class BatchPlan:
    """What becomes of the batches of a server.

    Attributes:
        delay_s: How long each takes. Its calls are answered at the end; results come in reverse order.
        endings: How the first, the second, ... end; all others are ``completed``.
        hold_s: The reply to a batch that is handed in comes so late, after it was accepted.
        hold_upload_s: The same for a file of requests (OpenAI and Google).
        refuse: HTTP errors (``401``, ``500``, ...) with which the first requests to make a batch are turned down.
        read_s: Results stop for so long after their first line.
        spoil: Makes of a batch's results what is sent, given the batch and how often it was read before.
    """

    delay_s: float = 0.0
    endings: Sequence[Ending] = ()
    hold_s: float = 0.0
    hold_upload_s: float = 0.0
    refuse: Sequence[str] = ()
    read_s: float = 0.0
    spoil: Callable[[FakeBatch, int, list[bytes]], bytes] | None = None


@dataclass
class FakeBatch:
    """One batch that was accepted. ``calls`` are the requests' bodies by their custom ids.

    ``looked_at`` counts how often its state was asked for, ``read`` how often its results were.
    """

    id: str
    wire: Wire
    name: str
    model: str
    calls: dict[str, dict[str, Any]]
    ending: Ending
    at: float = field(default_factory=time.time)
    results: dict[str, tuple[int, Any] | None] | None = None
    looked_at: int = 0
    read: int = 0


class BatchDesk:
    """Takes batches and gives out their results; ``accepted`` are all of them, in order."""

    def __init__(self, plan: BatchPlan, answer: Answer, error: Callable[[Wire, str], HttpResponse]) -> None:
        self.plan, self.accepted = plan, list[FakeBatch]()
        self._answer, self._error = answer, error
        self._files: dict[str, bytes] = {}
        self._numbers = count(1)
        self._refused = 0
        self._working: dict[str, asyncio.Lock] = {}

    @property
    def submitted(self) -> Counter[str]:
        """How often each custom id was handed in, over all accepted batches."""
        return Counter(call for batch in self.accepted for call in batch.calls)

    def concerns(self, path: str) -> bool:
        """Whether a path belongs to batches and their files."""
        begins = ("/v1/batches", "/v1/files", "/v1/messages/batches", "/v1beta/batches", "/v1beta/files", "/upload/")
        return path.startswith(begins) or path.endswith(":batchGenerateContent")

    async def respond(self, http: HttpRequest) -> HttpResponse:
        """Answer one request of theirs."""
        if http.path.startswith("/v1/messages/batches"):
            return await self._anthropic(http, http.path.removeprefix("/v1/messages/batches").strip("/"))
        if http.path.startswith("/v1/"):
            return await self._openai(http, http.path.removeprefix("/v1/").split("/"))
        return await self._google(http)

    async def _openai(self, http: HttpRequest, parts: list[str]) -> HttpResponse:
        match http.method, parts:
            case "POST", ["files"]:
                name = self._kept(_uploaded(http))
                await asyncio.sleep(self.plan.hold_upload_s)
                kept = {"id": name, "object": "file", "bytes": len(self._files[name]), "created_at": int(time.time())}
                return json_response(200, {**kept, "filename": "requests.jsonl", "purpose": "batch", "status": "ok"})
            case "GET", ["files", name, "content"]:
                return self._content(name)
            case "POST", ["batches"]:
                given = http.json()
                calls = {line["custom_id"]: line["body"] for line in _lines(self._files[given["input_file_id"]])}
                name = (given.get("metadata") or {}).get("referee", "")
                return await self._accept("openai", name, "", calls, http)
            case "GET", ["batches"]:
                return json_response(200, {"object": "list", "data": await self._list("openai", http)})
            case "GET", ["batches", batch_id]:
                return await self._one(batch_id, http)
            case "POST", ["batches", batch_id, "cancel"]:
                return await self._cancel(batch_id, http)
        return self._error("openai", "404")

    async def _anthropic(self, http: HttpRequest, rest: str) -> HttpResponse:
        match http.method, rest.split("/") if rest else []:
            case "POST", []:
                calls = {line["custom_id"]: line["params"] for line in http.json()["requests"]}
                return await self._accept("anthropic", "", "", calls, http)
            case "GET", []:
                data = await self._list("anthropic", http)
                return json_response(200, {"data": data, "has_more": False, "first_id": None, "last_id": None})
            case "GET", [batch_id]:
                return await self._one(batch_id, http)
            case "GET", [batch_id, "results"]:
                batch = await self._worked(self._found(batch_id), http)
                return self._sent(batch, _results(batch, _anthropic_line))
            case "POST", [batch_id, "cancel"]:
                return await self._cancel(batch_id, http)
        return self._error("anthropic", "404")

    async def _google(self, http: HttpRequest) -> HttpResponse:
        path = http.path.removeprefix("/v1beta")
        if path.startswith("/upload/"):
            await asyncio.sleep(self.plan.hold_upload_s)
            return self._upload(http)
        if path.startswith("/files/"):
            return self._content(path.removeprefix("/files/").partition(":")[0])
        if path.endswith(":batchGenerateContent"):
            batch = http.json()["batch"]
            file = batch["inputConfig"]["fileName"].removeprefix("files/")
            calls = {line["key"]: line["request"] for line in _lines(self._files[file])}
            model = path.removeprefix("/models/").removesuffix(":batchGenerateContent")
            return await self._accept("google", batch["displayName"], model, calls, http)
        if path == "/batches":
            return json_response(200, {"operations": await self._list("google", http)})
        batch_id, _, verb = path.removeprefix("/batches/").partition(":")
        return await (self._cancel if verb == "cancel" else self._one)(f"batches/{batch_id}", http)

    def _upload(self, http: HttpRequest) -> HttpResponse:
        """Google's resumable upload: a place for the bytes first, then the bytes, in one part or several."""
        if http.headers.get("x-goog-upload-command") == "start":
            name = self._kept(b"")
            host = f"http://{http.headers['host']}"
            return HttpResponse(
                200, b"{}", {"x-goog-upload-url": f"{host}/upload/{name}", "x-goog-upload-status": "active"}
            )
        name = http.path.rpartition("/")[2]
        self._files[name] += http.body
        final = "finalize" in http.headers.get("x-goog-upload-command", "")
        status = {"x-goog-upload-status": "final" if final else "active"}
        return json_response(200, {"file": {"name": f"files/{name}"}}, status)

    async def _accept(
        self, wire: Wire, name: str, model: str, calls: dict[str, dict[str, Any]], http: HttpRequest
    ) -> HttpResponse:
        if self._refused < len(self.plan.refuse):
            self._refused += 1
            return self._error(wire, self.plan.refuse[self._refused - 1])
        number, endings = len(self.accepted), self.plan.endings
        batch_id = {"openai": "batch_", "anthropic": "msgbatch_", "google": "batches/"}[wire] + f"{number + 1:06d}"
        ending = endings[number] if number < len(endings) else "completed"
        batch = FakeBatch(batch_id, wire, name, model, calls, ending)
        self.accepted.append(batch)
        shown = await self._shown(batch, http, done=False)
        await asyncio.sleep(self.plan.hold_s)
        return json_response(200, shown)

    async def _one(self, batch_id: str, http: HttpRequest) -> HttpResponse:
        batch = self._found(batch_id)
        batch.looked_at += 1
        return json_response(200, await self._shown(batch, http))

    async def _list(self, wire: Wire, http: HttpRequest) -> list[Any]:
        """The newest first; a page that goes on after an id holds nothing more."""
        if http.query.get("after") or http.query.get("after_id"):
            return []
        return [await self._shown(one, http) for one in reversed(self.accepted) if one.wire == wire]

    async def _cancel(self, batch_id: str, http: HttpRequest) -> HttpResponse:
        batch = self._found(batch_id)
        if batch.results is None:
            batch.ending, batch.at = "cancelled", 0.0
        return await self._one(batch_id, http)

    def _found(self, batch_id: str) -> FakeBatch:
        found = next((batch for batch in self.accepted if batch.id == batch_id), None)
        if found is None:
            raise HttpError(f"there is no batch {batch_id!r}.")
        return found

    async def _shown(self, batch: FakeBatch, http: HttpRequest, *, done: bool = True) -> dict[str, Any]:
        """A batch in its provider's form; once its time has come, its calls are answered."""
        over = done and time.time() >= batch.at + self.plan.delay_s
        if over:
            await self._worked(batch, http)
        return {"openai": self._as_openai, "anthropic": _as_anthropic, "google": self._as_google}[batch.wire](batch)

    async def _worked(self, batch: FakeBatch, http: HttpRequest) -> FakeBatch:
        async with self._working.setdefault(batch.id, asyncio.Lock()):
            if batch.results is None:
                places = enumerate(batch.calls.items())
                worked = [
                    self._result(batch, digest, body, http)
                    for place, (digest, body) in places
                    if _gets_one(batch, place)
                ]
                answered = dict(await asyncio.gather(*worked))
                batch.results = {digest: answered.get(digest) for digest in batch.calls}
        return batch

    async def _result(
        self, batch: FakeBatch, digest: str, body: dict[str, Any], http: HttpRequest
    ) -> tuple[str, tuple[int, Any] | None]:
        response = await self._answer(batch.wire, batch.model, body, http)
        return digest, None if response is None else (response.status, json.loads(response.body))

    def _kept(self, content: bytes) -> str:
        name = f"file-{next(self._numbers):06d}"
        self._files[name] = content
        return name

    def _content(self, name: str) -> HttpResponse:
        if name.startswith("results-"):
            batch = self._found(name.removeprefix("results-").replace("--", "/"))
            return self._sent(batch, _results(batch, _openai_line if batch.wire == "openai" else _google_line))
        return HttpResponse(200, self._files[name])

    def _sent(self, batch: FakeBatch, lines: list[bytes]) -> HttpResponse:
        batch.read += 1
        first = len(lines[0]) if lines else 0
        kind = {"content-type": "application/x-jsonl"}
        body = self.plan.spoil(batch, batch.read - 1, lines) if self.plan.spoil else b"".join(lines)
        return HttpResponse(200, body, kind, first_bytes=min(first, len(body)), pause_s=self.plan.read_s)

    def _as_openai(self, batch: FakeBatch) -> dict[str, Any]:
        turned_away = batch.ending in _TURNED_AWAY
        status = "in_progress" if batch.results is None else "failed" if turned_away else batch.ending
        code = "token_limit_exceeded" if batch.ending == "full" else "invalid_request"
        error = {"code": code, "message": _WHY[batch.ending], "line": None, "param": None} if turned_away else None
        over = batch.results is not None
        return {
            "id": batch.id,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "input_file_id": "file",
            "completion_window": "24h",
            "created_at": int(batch.at),
            "status": status if status in ("in_progress", "failed", *_UNANSWERED) else "completed",
            "metadata": {"referee": batch.name},
            "errors": {"object": "list", "data": [error]} if error and over else None,
            "output_file_id": f"results-{batch.id}" if over and not turned_away and batch.ending != "no file" else None,
            "request_counts": {"total": len(batch.calls), "completed": _succeeded(batch), "failed": 0},
        }

    def _as_google(self, batch: FakeBatch) -> dict[str, Any]:
        states = {"expired": "EXPIRED", "cancelled": "CANCELLED", "failed": "FAILED", "full": "FAILED"}
        state = "RUNNING" if batch.results is None else states.get(batch.ending, "SUCCEEDED")
        named = batch.id.replace("/", "--")
        shown: dict[str, Any] = {
            "displayName": batch.name,
            "state": f"BATCH_STATE_{state}",
            "model": f"models/{batch.model}",
            "createTime": _when(batch.at),
        }
        if batch.results is not None and batch.ending not in _TURNED_AWAY:
            shown["output"] = {"responsesFile": f"files/results-{named}"}
        return {"name": batch.id, "metadata": shown, "done": batch.results is not None}


_WHY: dict[str, str] = {"failed": "The first line is not valid.", "full": "Enqueued token limit reached."}


def _gets_one(batch: FakeBatch, place: int) -> bool:
    """Whether the call at this place is answered."""
    if batch.ending == "missing":
        return place < len(batch.calls) - 1
    return not (batch.ending in _TURNED_AWAY or (batch.ending in _UNANSWERED and place % 2))


def _succeeded(batch: FakeBatch) -> int:
    return sum(result is not None and result[0] == 200 for result in (batch.results or {}).values())


def _as_anthropic(batch: FakeBatch) -> dict[str, Any]:
    over, results = batch.results is not None, (batch.results or {}).values()
    lost = sum(result is None for result in results) if batch.ending in _UNANSWERED else 0
    return {
        "id": batch.id,
        "type": "message_batch",
        "processing_status": "ended" if over else "in_progress",
        "created_at": _when(batch.at),
        "expires_at": _when(batch.at + 86_400),
        "results_url": f"/v1/messages/batches/{batch.id}/results" if over else None,
        "request_counts": {
            "processing": 0 if over else len(batch.calls),
            "succeeded": _succeeded(batch),
            "errored": (len(batch.calls) - lost - _succeeded(batch)) if over else 0,
            "canceled": lost if batch.ending == "cancelled" else 0,
            "expired": lost if batch.ending == "expired" else 0,
        },
    }


def _results(batch: FakeBatch, line: Callable[[str, FakeBatch, tuple[int, Any] | None], Any]) -> list[bytes]:
    """The lines of a batch's results, the last call's first."""
    results = batch.results or {}
    made = [line(digest, batch, result) for digest, result in results.items()]
    lines = [json.dumps(one, ensure_ascii=False).encode("utf-8", "replace") + b"\n" for one in reversed(made) if one]
    if batch.ending == "foreign" and made[0]:
        unknown = json.dumps(line("f" * 64, batch, next(iter(results.values())))).encode() + b"\n"
        broken = [] if batch.wire == "anthropic" else [b"{broken\n"]  # that SDK reads no line after one
        lines = [unknown, *broken, *lines, lines[0]]
    return lines


def _openai_line(digest: str, batch: FakeBatch, result: tuple[int, Any] | None) -> Any:
    line = {"id": f"req_{digest[:12]}", "custom_id": digest, "response": None, "error": None}
    if result is not None:
        return {**line, "response": {"status_code": result[0], "request_id": "req", "body": result[1]}}
    if batch.ending not in _UNANSWERED:
        return None
    return {**line, "error": {"code": f"batch_{batch.ending}", "message": f"The batch was {batch.ending}."}}


def _anthropic_line(digest: str, batch: FakeBatch, result: tuple[int, Any] | None) -> Any:
    if result is not None and result[0] == 200:
        return {"custom_id": digest, "result": {"type": "succeeded", "message": result[1]}}
    if result is not None:
        return {"custom_id": digest, "result": {"type": "errored", "error": result[1]}}
    kind = {"cancelled": "canceled", "expired": "expired"}.get(batch.ending)
    return {"custom_id": digest, "result": {"type": kind}} if kind else None


def _google_line(digest: str, batch: FakeBatch, result: tuple[int, Any] | None) -> Any:
    if result is None:
        return None
    return {"key": digest, **({"response": result[1]} if result[0] == 200 else result[1])}


def _lines(content: bytes) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in content.splitlines() if line.strip())


def _uploaded(http: HttpRequest) -> bytes:
    """The file in a multipart body."""
    boundary = b"--" + http.headers["content-type"].partition("boundary=")[2].strip('"').encode()
    for part in http.body.split(boundary):
        head, _, content = part.partition(b"\r\n\r\n")
        if b"filename=" in head:
            return content.removesuffix(b"\r\n")
    raise HttpError("the upload holds no file.")


def _when(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")
