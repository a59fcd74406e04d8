"""A local server that stands in for model providers."""

from __future__ import annotations

import asyncio
import re
import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.support.answering import WIRES, Answering, Connection, embedding_request, error_response
from tests.support.batches import BatchDesk, BatchPlan, FakeBatch, Wire
from tests.support.faults import Fault, FaultPlan
from tests.support.http1 import MAX_HEAD_BYTES, HttpError, HttpRequest, HttpResponse, json_response, read_request
from tests.support.log import CallLog
from tests.support.prompt_cache import PromptCache
from tests.support.request import ChatRequest
from tests.support.script import Entry, Script, ScriptError
from tests.support.wire import anthropic, google, ollama, openai

_GOOGLE = re.compile(r"/v1(?:beta)?/models/(?P<model>.+):(?P<method>(?:streamG|g)enerateContent)")


class FakeServer:
    """Speaks OpenAI's, Anthropic's, Google's and Ollama's chat formats and OpenAI's embeddings, on 127.0.0.1.

    Every request is answered with a valid instance of the schema it carries, quotations cut from the prompt, unless
    the script or a fault says otherwise. The same request gets the same reply. It runs in a thread of its own, from
    ``with FakeServer() as server`` (or ``async with``, or ``start`` and ``close``), and serves any number of
    concurrent calls.

    Endpoints: ``/v1/chat/completions``, ``/v1/embeddings``, ``/v1/models``, ``/v1/messages``,
    ``/v1beta/models/MODEL:generateContent`` and ``:streamGenerateContent`` (``/v1`` too), ``/api/chat``, ``/health``,
    and ``/log``, the call log as JSON. Replies are streamed to who asks for it, and prompts that begin as an earlier
    one did are served from a cache.

    Args:
        script: Who is answered what: a ``Script``, or its entries.
        faults: What goes wrong: a ``FaultPlan``, or its faults.
        latency_s: Every reply takes at least this long; error replies come at once.
        stream_s: How long after its first event the rest of a stream comes.
        seed: Decides generated replies, together with the request.
        expected_key: Another key gets the provider's own rejection; null accepts all.
        models: Ids under ``/v1/models``. Any model is answered.
        context_tokens: Their ``max_model_len`` there; null leaves it out.
        log_path: Also write the call log there, one JSON line a call.
        port: 0 takes a free one.
        strict: Raise the script's first error when the server closes.
        prompt_cache: Whether there is a cache of prompts; without one, no cached tokens are reported.
        streams: Whether a stream is sent to who asks for one; otherwise the reply comes whole.
        batches: What becomes of batches, in the three providers' protocols; null for a server without them. Their
            calls are answered and logged as others are, with the same script and faults.
        window: As many tokens of a prompt are read, and the rest is cut off in silence; null for no such bound.
        pages: Other paths and the JSON that stands there, whatever is asked: those by which servers on users' own
            machines tell of themselves (``/api/tags``, ``/api/show``, ``/api/v0/models``, ``/props``). A pair is a
            status and a body.

    Attributes:
        log: The call log.
    """

    def __init__(
        self,
        script: Script | Mapping[str, Entry] | None = None,
        *,
        faults: FaultPlan | Iterable[Fault] = (),
        latency_s: float = 0.0,
        stream_s: float = 0.0,
        seed: int = 0,
        expected_key: str | None = None,
        models: Sequence[str] = ("fake",),
        context_tokens: int | None = None,
        log_path: Path | None = None,
        port: int = 0,
        strict: bool = True,
        prompt_cache: bool = True,
        streams: bool = True,
        batches: BatchPlan | None = None,
        window: int | None = None,
        pages: Mapping[str, Any] | None = None,
    ) -> None:
        self.log = CallLog(log_path)
        self.script = script if isinstance(script, Script) else Script(script)
        plan = faults if isinstance(faults, FaultPlan) else FaultPlan(faults, seed=seed)
        self._answering = Answering(
            self.script,
            plan,
            self.log,
            latency_s=latency_s,
            stream_s=stream_s,
            seed=seed,
            expected_key=expected_key,
            cache=PromptCache() if prompt_cache else None,
            streams=streams,
            window=window,
        )
        self._pages = pages or {}
        self._desk = BatchDesk(batches, self._batched, error_response) if batches else None
        self._port, self._strict = port, strict
        context = {} if context_tokens is None else {"max_model_len": context_tokens}
        self._models = [{"id": m, "object": "model", "created": 0, "owned_by": "referee", **context} for m in models]
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._tasks: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    @property
    def url(self) -> str:
        """The root, without a slash at its end: the base URL for Anthropic's and Google's clients."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def base_url(self) -> str:
        """The base URL for OpenAI's client: it ends in ``/v1``."""
        return f"{self.url}/v1"

    @property
    def batches(self) -> list[FakeBatch]:
        """The batches that were accepted, in order."""
        return self._desk.accepted if self._desk else []

    def plan_batches(self, plan: BatchPlan) -> None:
        """From now on this is what becomes of batches, of those that were accepted as well, but for their endings."""
        assert self._desk is not None, "a server without batches has no plan for them"
        self._desk.plan = plan

    @property
    def submitted(self) -> Counter[str]:
        """How often each call was handed in with a batch, by its custom id."""
        return self._desk.submitted if self._desk else Counter()

    @property
    def problems(self) -> list[ScriptError]:
        """The script's errors so far."""
        return list(self._answering.problems)

    def start(self) -> FakeServer:
        """Listen, and return at once.

        Raises:
            OSError: The port is taken.
        """
        ready: Future[int] = Future()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main(ready)), name="fake-server", daemon=True)
        self._thread.start()
        try:
            self._port = ready.result()
        except OSError:
            self._thread.join()
            self.log.close()
            raise
        return self

    def close(self) -> None:
        """Stop listening, drop all connections and end the thread; closing twice does nothing."""
        if self._thread is None or self._loop is None or self._stop is None:
            return
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        self._thread = None
        self.log.close()

    def __enter__(self) -> FakeServer:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        if self._strict and error is None and self.problems:
            raise self.problems[0]

    async def __aenter__(self) -> FakeServer:
        return await asyncio.to_thread(self.start)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.__exit__, kind, error, trace)

    async def _main(self, ready: Future[int]) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        try:
            server = await asyncio.start_server(
                self._connection, "127.0.0.1", self._port, limit=MAX_HEAD_BYTES, backlog=1024
            )
        except OSError as error:
            ready.set_exception(error)
            return
        ready.set_result(server.sockets[0].getsockname()[1])
        await self._stop.wait()
        server.close()
        for task, writer in list(self._tasks.items()):
            writer.transport.abort()
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0)  # lets aborted transports close their sockets

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks[task] = writer
        try:
            await self._serve(reader, writer)
        except (asyncio.CancelledError, ConnectionError):
            writer.transport.abort()  # the server closes, or the client has left
        finally:
            del self._tasks[task]
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = _watch(reader)
        while True:
            try:
                request = await read_request(reader)
                response = await self._respond(request, connection) if request else None
            except HttpError as error:
                request, response = None, json_response(400, {"error": {"message": str(error)}})
            if response is None:
                return
            keep_alive = request is not None and request.keep_alive and not response.cut
            first, rest = response.encode(keep_alive)
            writer.write(first)
            await writer.drain()
            if response.pause_s:
                await asyncio.sleep(response.pause_s)
            writer.write(rest)
            await writer.drain()
            if not keep_alive:
                return

    async def _respond(self, http: HttpRequest, connection: Connection) -> HttpResponse | None:
        if self._desk and self._desk.concerns(http.path):
            open_to_all = http.path.startswith("/upload/file-")  # who was given that address needs no key
            refused = None if open_to_all else self._answering.unauthorized(_wire_of(http), http)
            return refused or await self._desk.respond(http)
        if http.path in self._pages:
            page = self._pages[http.path]
            return json_response(*page) if isinstance(page, tuple) else json_response(200, page)
        if http.method == "GET":
            return self._get(http)
        try:
            endpoint, request = _parse(http)
        except (AttributeError, KeyError, TypeError) as error:
            raise HttpError(f"the body is no request to {http.path}: {error!r}") from error
        if request is None:
            return _nothing_here(http)
        return await self._answering.answer(endpoint, request, http, connection)

    async def _batched(self, wire: Wire, model: str, body: dict[str, Any], http: HttpRequest) -> HttpResponse | None:
        """Answer one call of a batch; nobody waits for it on a connection."""
        endpoint = {"openai": "chat", "anthropic": "messages", "google": "generateContent"}[wire]
        parsed = (
            google.parse(body, model) if wire == "google" else (openai if wire == "openai" else anthropic).parse(body)
        )
        return await self._answering.answer(endpoint, parsed, http, Connection(lambda: False, asyncio.sleep))

    def _get(self, http: HttpRequest) -> HttpResponse:
        if http.path == "/health":
            return json_response(200, {"status": "ok"})
        if http.path == "/log":
            return json_response(200, [entry.as_dict() for entry in self.log])
        if http.path == "/v1/models":
            listed = json_response(200, {"object": "list", "data": self._models})
            return self._answering.unauthorized("openai", http) or listed
        return _nothing_here(http)


def _parse(http: HttpRequest) -> tuple[str, ChatRequest | None]:
    if http.path == "/v1/chat/completions":
        return "chat", openai.parse(http.json())
    if http.path == "/api/chat":
        return "chat", ollama.parse(http.json())
    if http.path == "/v1/embeddings":
        return "embeddings", embedding_request(http.json())
    if http.path == "/v1/messages":
        return "messages", anthropic.parse(http.json())
    if asked := _GOOGLE.fullmatch(http.path):
        streamed = asked["method"] == "streamGenerateContent"
        return "generateContent", google.parse(http.json(), asked["model"], stream=streamed)
    return "", None


def _watch(reader: asyncio.StreamReader) -> Connection:
    def has_left() -> bool:
        return reader.at_eof() or reader.exception() is not None

    async def wait_until_left(seconds: float) -> None:
        try:
            await asyncio.wait_for(reader.read(1), seconds)
        except (TimeoutError, ConnectionError):
            return

    return Connection(has_left, wait_until_left)


def _wire_of(http: HttpRequest) -> Wire:
    google_path = "/v1beta/" in http.path or http.path.startswith("/upload/") or _GOOGLE.fullmatch(http.path)
    return "anthropic" if "anthropic-version" in http.headers else "google" if google_path else "openai"


def _nothing_here(http: HttpRequest) -> HttpResponse:
    wire = WIRES[_wire_of(http)]
    error = wire.error("404", text=f"The fake server has no {http.method} {http.path}.")
    return json_response(error.status, error.body, error.headers)
