"""What each provider is sent and how its answer is read, against servers that speak its own format on this machine."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from referee.errors import ContextTooLong, ModelRefused, ModelUnavailable
from referee.llm.completions import CUT_OFF
from referee.llm.dialects import reply_schema
from referee.llm.failures import classified
from referee.llm.providers.protocol import WireRequest
from referee.llm.spec import ModelSpec
from referee.llm.wire import Completion, Wire
from tests.support import FakeServer, Fault

KEY = "test-key-1234567890"


class Item(BaseModel):
    claim: str = Field(max_length=50)


class Reply(BaseModel):
    """A small reply."""

    items: list[Item] = Field(max_length=2)
    score: Literal[1, 2, 3]


ANSWER = {"items": [{"claim": "sound"}], "score": 3}
SPECS = {
    "openai": ModelSpec("openai", "gpt-test"),
    "anthropic": ModelSpec("anthropic", "claude-test"),
    "google_genai": ModelSpec("google_genai", "gemini-test"),
    "server": ModelSpec("server", "own"),
    "ollama": ModelSpec("ollama", "qwen3:8b"),
}


def request(**changes: Any) -> WireRequest:
    given: dict[str, Any] = {
        "messages": (("system", "You judge."), ("user", "Judge <x>this</x>.")),
        "schema": reply_schema(Reply),
        "max_output_tokens": 300,
        "temperature": 0.0,
        "native": True,
        "role": "writer",
        "prompt": "review/single@v1",
    }
    return WireRequest(**(given | changes))


async def send(provider: str, server: FakeServer, **changes: Any) -> Completion:
    base = server.base_url if provider in ("openai", "server") else server.url
    wire = Wire(SPECS[provider], key=KEY, timeout_s=10, base_url=base)
    try:
        with classified(SPECS[provider]):
            return await wire.send(request(**changes))
    finally:
        await wire.aclose()


@pytest.mark.parametrize("provider", SPECS)
async def test_each_provider_returns_the_reply_and_its_tokens(provider: str) -> None:
    with FakeServer({"*": ANSWER}, expected_key=KEY) as server:
        completion = await send(provider, server)
        sent = server.log.entries[0].request
    assert json.loads(completion.text) == ANSWER
    assert completion.input_tokens
    assert completion.output_tokens
    assert not completion.ended
    assert sent is not None
    assert sent.schema is not None
    assert sent.schema["properties"]["score"]["enum"] == [1, 2, 3]
    assert [m.role for m in sent.messages] == ["system", "user"]
    assert sent.model == SPECS[provider].name


@pytest.mark.parametrize("provider", SPECS)
async def test_a_server_gets_our_headers_and_a_provider_does_not(provider: str) -> None:
    with FakeServer({"*": ANSWER}) as server:
        await send(provider, server)
        entry = server.log.entries[0]
    assert entry.role == ("writer" if provider == "server" else "")


@pytest.mark.parametrize("provider", SPECS)
async def test_a_repair_conversation_is_sent_in_order(provider: str) -> None:
    talk = (*request().messages, ("assistant", "{}"), ("user", "Again."))
    with FakeServer({"*": ANSWER}) as server:
        await send(provider, server, messages=talk)
        sent = server.log.entries[0].request
    assert sent is not None
    texts = [m.text.partition("\n\nReply with one JSON object")[0] for m in sent.messages]  # Ollama shows no schema
    assert texts == [text for _, text in talk]


@pytest.mark.parametrize("provider", SPECS)
@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault("429", retry_after_s=7), ModelUnavailable),
        (Fault("500"), ModelUnavailable),
        (Fault("503"), ModelUnavailable),
        (Fault("drop"), ModelUnavailable),
        (Fault("401"), ModelRefused),
        (Fault("400"), ModelRefused),
        (Fault("context"), ContextTooLong),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
async def test_each_providers_errors_are_told_apart(provider: str, fault: Fault, error: type[Exception]) -> None:
    with FakeServer(faults=[fault]) as server, pytest.raises(error) as caught:
        await send(provider, server)
    assert len(server.log.entries) == 1, "no SDK tries again on its own"
    assert KEY not in str(caught.value)
    if fault.kind == "429" and provider != "ollama":  # which names no pause
        assert caught.value.ids.get("retry_after_s") == "7.0"  # type: ignore[attr-defined]


@pytest.mark.parametrize("provider", SPECS)
async def test_a_wrong_key_names_the_variable(provider: str) -> None:
    own = {"openai": "OPENAI", "anthropic": "ANTHROPIC", "google_genai": "GOOGLE"}
    variable = own.get(provider, "REFEREE")
    with FakeServer(expected_key="another") as server, pytest.raises(ModelRefused, match=f"{variable}_API_KEY"):
        await send(provider, server)


@pytest.mark.parametrize("provider", SPECS)
async def test_a_reply_at_the_token_limit_is_marked(provider: str) -> None:
    with FakeServer({"*": ANSWER}, faults=[Fault("length")]) as server:
        wire = Wire(
            SPECS[provider],
            key=KEY,
            timeout_s=10,
            base_url=server.base_url if provider in ("openai", "server") else server.url,
        )
        try:
            completion = await wire.send(request())
        finally:
            await wire.aclose()
    assert completion.ended.startswith(CUT_OFF)


class _Recorder(BaseHTTPRequestHandler):
    bodies: list[dict[str, Any]]
    answer: bytes
    kind: str

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["content-length"]))
        self.bodies.append(json.loads(raw))
        data = self.answer
        self.send_response(200)
        self.send_header("content-type", self.kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: Any) -> None:
        """Stay silent."""


@contextmanager
def recorder(
    answer: dict[str, Any] | bytes, kind: str = "application/json"
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    handler = type("Handler", (_Recorder,), {"bodies": [], "answer": data, "kind": kind})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", handler.bodies
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


OPENAI_ANSWER = {
    "id": "x",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": json.dumps(ANSWER)}}],
    "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
}
ANTHROPIC_ANSWER = {
    "id": "x",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [{"type": "tool_use", "id": "t", "name": "reply", "input": ANSWER}],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {"input_tokens": 11, "output_tokens": 7},
}
GOOGLE_ANSWER = {
    "candidates": [
        {"content": {"role": "model", "parts": [{"text": json.dumps(ANSWER)}]}, "finishReason": "STOP", "index": 0}
    ],
    "usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18},
}


async def recorded(provider: str, answer: dict[str, Any]) -> dict[str, Any]:
    with recorder(answer) as (url, bodies):
        base = f"{url}/v1" if provider in ("openai", "server") else url
        wire = Wire(SPECS[provider], key=KEY, timeout_s=10, base_url=base)
        completion = await wire.send(request())
        await wire.aclose()
    assert json.loads(completion.text) == ANSWER
    assert (completion.input_tokens, completion.output_tokens) == (11, 7)
    return bodies[0]


async def test_openai_is_sent_a_strict_schema_without_the_bounds_it_refuses() -> None:
    body = await recorded("openai", OPENAI_ANSWER)
    form = body["response_format"]["json_schema"]
    assert form["strict"] is True
    assert form["schema"]["additionalProperties"] is False
    assert form["schema"]["required"] == ["items", "score"]
    assert "maxLength" not in json.dumps(form)
    assert "$ref" not in json.dumps(form)
    assert body["max_completion_tokens"] == 300
    assert "max_tokens" not in body


async def test_an_own_server_is_sent_the_bounds_and_the_older_limit() -> None:
    body = await recorded("server", OPENAI_ANSWER)
    schema = body["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["items"]["maxItems"] == 2
    assert schema["properties"]["items"]["items"]["properties"]["claim"]["maxLength"] == 50
    assert body["max_tokens"] == 300


async def test_anthropic_is_sent_one_tool_that_it_must_use() -> None:
    body = await recorded("anthropic", ANTHROPIC_ANSWER)
    assert body["tool_choice"] == {"type": "tool", "name": "reply"}
    assert body["tools"][0]["input_schema"]["properties"]["score"]["enum"] == [1, 2, 3]
    assert body["max_tokens"] == 300
    assert body["system"] == "You judge."


async def test_google_is_sent_the_schema_and_asked_for_json() -> None:
    body = await recorded("google_genai", GOOGLE_ANSWER)
    config = body["generationConfig"]
    assert config["responseMimeType"] == "application/json"
    assert config["responseJsonSchema"]["properties"]["score"]["enum"] == [1, 2, 3]
    assert config["maxOutputTokens"] == 300
    assert body["systemInstruction"]["parts"][0]["text"] == "You judge."
