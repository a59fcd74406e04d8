"""One call from arrival to response: log, key, fault, script, latency."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from referee.testing import hash_vector
from tests.support.faults import Fault, FaultPlan
from tests.support.http1 import HttpRequest, HttpResponse, json_response
from tests.support.log import OK, CallEntry, CallLog, count_words
from tests.support.prompt_cache import PromptCache
from tests.support.request import ChatRequest, schema_in
from tests.support.script import Script, ScriptError, generated
from tests.support.spoiling import spoil
from tests.support.vectors import as_base64
from tests.support.wire import ChatReply, ErrorReply, anthropic, google, ollama, openai

WIRES: dict[str, Any] = {"openai": openai, "anthropic": anthropic, "google": google, "ollama": ollama}
_HTTP_ERRORS = ("400", "401", "context", "429", "500", "503")
_REFUSAL = "I cannot help with that."


@dataclass(frozen=True)
class Connection:
    """What a call may ask of its connection."""

    has_left: Callable[[], bool]
    wait_until_left: Callable[[float], Any]


class Answering:
    """Answers calls by script, faults, latency and seed.

    Args:
        script: See ``FakeServer``, as for all others.
        faults: What goes wrong.
        log: Where calls are written down.
        latency_s: Before a reply begins.
        stream_s: Between the first event of a stream and the others.
        seed: Decides generated replies.
        expected_key: The only one that is accepted.
        cache: The cache of prompts; null for a provider without one.
        streams: Whether streams are to be had; replies come whole otherwise.
        window: As many tokens of a prompt are read, and the rest is cut off in silence; null for no such bound.

    Attributes:
        problems: Errors of the script so far, which the server raises when it closes.
    """

    def __init__(
        self,
        script: Script,
        faults: FaultPlan,
        log: CallLog,
        *,
        latency_s: float,
        stream_s: float,
        seed: int,
        expected_key: str | None,
        cache: PromptCache | None,
        streams: bool,
        window: int | None = None,
    ) -> None:
        self.script, self.faults, self.log = script, faults, log
        self.latency_s, self.stream_s, self.seed, self.expected_key = latency_s, stream_s, seed, expected_key
        self._cache, self._streams, self._window = cache, streams, window
        self.problems: list[ScriptError] = []

    def unauthorized(self, wire: str, http: HttpRequest) -> HttpResponse | None:
        """The provider's answer to a wrong key; null for the expected one."""
        key = WIRES[wire].key(http.headers) or (http.query.get("key", "") if wire == "google" else "")
        if self.expected_key in (None, key):
            return None
        return error_response(wire, "401")

    async def answer(
        self, endpoint: str, request: ChatRequest, http: HttpRequest, connection: Connection
    ) -> HttpResponse | None:
        """Answer one call; null means: close the connection without a reply."""
        role = http.headers.get("x-referee-role") or self.script.role_of(request.text) or request.role
        prompt_id = http.headers.get("x-referee-prompt", "")
        schema = request.schema if request.schema is not None else schema_in(request.text)
        stream = request.stream and self._streams
        request = replace(request, role=role, prompt_id=prompt_id, schema=schema, stream=stream, seed=self.seed)
        entry = self.log.start(endpoint, request)
        try:
            if refused := self.unauthorized(request.wire, http):
                self.log.finish(entry, "unauthorized", refused.status)
                return refused
            return await self._answer(endpoint, request, entry, connection)
        except ScriptError as error:
            self.problems.append(error)
            self.log.finish(entry, error.outcome, 599)
            return _error_response(WIRES[request.wire].error("script", text=str(error)))
        finally:
            self.log.finish(entry, "server_closed", None)

    async def _answer(
        self, endpoint: str, request: ChatRequest, entry: CallEntry, connection: Connection
    ) -> HttpResponse | None:
        fault = self.faults.choose(request)
        cached = self._cache.look(request) if self._cache and endpoint != "embeddings" else (None, 0)
        text = ""
        if fault is None or not _is_transport(fault):
            text, fault = await self._said(endpoint, request, fault)
        if fault is not None and _is_transport(fault):
            return await self._break(fault, request, entry, connection)
        reply = replace(self._reply(request, text, fault), cached_tokens=cached[0], cache_write_tokens=cached[1])
        await asyncio.sleep(self.latency_s + (fault.seconds if fault and fault.kind == "slow" else 0.0))
        if connection.has_left():
            self.log.finish(entry, "client_left", None)
            return None
        if self._cache and endpoint != "embeddings":
            self._cache.keep(request)
        entry.streamed, entry.cached_tokens, entry.cache_write_tokens = request.stream, cached[0] or 0, cached[1]
        response = _embeddings(request, reply) if endpoint == "embeddings" else self._response(request, reply)
        self.log.finish(entry, fault.kind if fault else OK, 200, reply.output_tokens)
        return replace(response, cut=True) if fault and fault.kind == "partial" else response

    def _response(self, request: ChatRequest, reply: ChatReply) -> HttpResponse:
        wire = WIRES[request.wire]
        if not request.stream:
            return json_response(200, wire.reply(request, reply))
        first, *rest = wire.events(request, reply)
        kind = {"content-type": "application/x-ndjson" if request.wire == "ollama" else "text/event-stream"}
        body = b"".join([first, *rest])
        return HttpResponse(200, body, kind, first_bytes=len(first), pause_s=self.stream_s)

    async def _said(self, endpoint: str, request: ChatRequest, fault: Fault | None) -> tuple[str, Fault | None]:
        """The reply's text before any spoiling, and the fault: the plan's, or one that stands in the script."""
        if endpoint == "embeddings":
            return "", fault
        said = await self.script.answer(request)
        if not isinstance(said, Fault):
            return said, fault
        return ("" if _is_transport(said) else generated(request)), said

    async def _break(
        self, fault: Fault, request: ChatRequest, entry: CallEntry, connection: Connection
    ) -> HttpResponse | None:
        if fault.kind in _HTTP_ERRORS:
            response = _error_response(WIRES[request.wire].error(fault.kind, fault.retry_after_s, fault.message))
            self.log.finish(entry, fault.kind, response.status)
            return response
        if fault.kind == "page":
            self.log.finish(entry, fault.kind, 200)
            return HttpResponse(200, b"<!doctype html><title>Sign in</title>", {"content-type": "text/html"})
        if fault.kind == "timeout":
            entry.outcome = fault.kind
            await connection.wait_until_left(fault.seconds)
        self.log.finish(entry, fault.kind, None)
        return None

    def _reply(self, request: ChatRequest, text: str, fault: Fault | None) -> ChatReply:
        kind = fault.kind if fault else OK
        text = _REFUSAL if kind == "refusal" else spoil(kind, text, request.schema, request.rng())
        finish: Any = kind if kind in ("length", "refusal") else "stop"
        read = count_words(request.text)
        return ChatReply(text, finish, read if self._window is None else min(read, self._window), count_words(text))


def embedding_request(body: dict[str, Any]) -> ChatRequest:
    """A request to ``/v1/embeddings`` in the neutral form, under the role ``embedding``; token lists become words."""
    given = body.get("input", [])
    texts = [given] if isinstance(given, str) or (given and isinstance(given[0], int)) else given
    words = [text if isinstance(text, str) else " ".join(map(str, text)) for text in texts]
    request = openai.parse({"model": body.get("model", ""), "messages": [{"content": word} for word in words]})
    params = {key: body[key] for key in ("dimensions", "encoding_format") if body.get(key) is not None}
    return replace(request, role="embedding", params=params)


def _embeddings(request: ChatRequest, reply: ChatReply) -> HttpResponse:
    dim = int(request.params.get("dimensions", 256))
    vectors = [hash_vector(message.text, dim) for message in request.messages]
    encode = as_base64 if request.params.get("encoding_format") == "base64" else list
    data = [{"object": "embedding", "index": i, "embedding": encode(vector)} for i, vector in enumerate(vectors)]
    usage = {"prompt_tokens": reply.input_tokens, "total_tokens": reply.input_tokens}
    return json_response(200, {"object": "list", "model": request.model, "data": data, "usage": usage})


def error_response(wire: str, kind: str) -> HttpResponse:
    """A provider's own error of this kind."""
    return _error_response(WIRES[wire].error(kind))


def _error_response(error: ErrorReply) -> HttpResponse:
    return json_response(error.status, error.body, error.headers)


def _is_transport(fault: Fault) -> bool:
    return fault.kind in _HTTP_ERRORS or fault.kind in ("timeout", "drop", "page")
