"""Servers with one odd habit each: what they refuse is replaced, once, and what they say is understood."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from referee.errors import ContextTooLong, ModelRefused, ModelUnavailable, ReplyInvalid
from referee.llm.completions import Completion
from referee.llm.dialects import reply_schema
from referee.llm.door import Answer, Door
from referee.llm.embeddings import make_embedder
from referee.llm.models import open_models
from referee.llm.requests import first_request, refuse_cut_prompt
from referee.prompts import RenderedPrompt
from referee.runs.progress import silent
from referee.settings import CallSettings, load_settings

from .shared import GOOD, PREFIX, Verdict

Answered = tuple[int, Any]
Habit = Callable[[dict[str, Any], int], Answered | None]
"""What a server answers to a body, the how many-th it is; None for a reply."""


class Odd:
    """An OpenAI-compatible server with a habit. ``bodies`` are what it was sent, ``statuses`` what it answered."""

    def __init__(self, habit: Habit) -> None:
        self.habit = habit
        self.bodies: list[dict[str, Any]] = []
        self.statuses: list[int] = []

    @property
    def answered(self) -> int:
        """Completions that are paid."""
        return self.statuses.count(0)

    def answer(self, body: dict[str, Any]) -> Answered:
        self.bodies.append(body)
        given = self.habit(body, len(self.bodies))
        self.statuses.append(given[0] if given else 0)
        if given is not None:
            return given
        message = {"role": "assistant", "content": json.dumps(GOOD)}
        usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
        choice = {"index": 0, "message": message, "delta": message, "finish_reason": "stop"}
        kind = "chat.completion.chunk" if body.get("stream") else "chat.completion"
        return 200, {"id": "x", "object": kind, "created": 1, "model": "m", "choices": [choice], "usage": usage}


@asynccontextmanager
async def served(odd: Odd) -> AsyncIterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            models = {"object": "list", "data": [{"id": "m", "object": "model"}]}
            self._send(200 if self.path == "/v1/models" else 404, models if self.path == "/v1/models" else {})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            status, said = odd.answer(body)
            self._send(status, said, stream=bool(body.get("stream")) and isinstance(said, dict) and "choices" in said)

        def _send(self, status: int, said: Any, *, stream: bool = False) -> None:
            text = said if isinstance(said, str) else json.dumps(said)
            data = (f"data: {text}\n\ndata: [DONE]\n\n" if stream else text).encode()
            kind = "text/html" if isinstance(said, str) else "text/event-stream" if stream else "application/json"
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Nothing is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def prompt(task: str = "Judge.", prefix: str = "") -> RenderedPrompt:
    return RenderedPrompt(id="test/verdict", version="v1", digest="d", system="You judge.", user=task, prefix=prefix)


@asynccontextmanager
async def door_to(odd: Odd) -> AsyncIterator[Door]:
    async with served(odd) as url:
        more = {"models.default": "m", "models.base_url": url, "calls.retry_wait_s": 0, "calls.cache": False}
        settings = load_settings(more, env={})
        models = await open_models(settings, silent)
        try:
            yield Door(models, calls=settings.calls)
        finally:
            await models.aclose()


async def ask(door: Door, asked: RenderedPrompt | None = None, most: int = 500) -> Answer[Verdict]:
    return await door.ask(asked or prompt(), Verdict, role="writer", max_output_tokens=most)


def refusal(message: str, status: int = 400) -> Answered:
    return status, {"object": "error", "message": message, "type": "BadRequestError", "param": None, "code": status}


def openai_refusal(message: str, **more: Any) -> Answered:
    return 400, {"error": {"message": message, "type": "invalid_request_error", **more}}


def roles(body: dict[str, Any]) -> list[str]:
    return [message["role"] for message in body["messages"]]


def has_schema(body: dict[str, Any]) -> bool:
    return (body.get("response_format") or {}).get("type") == "json_schema"


def no_system(body: dict[str, Any], number: int) -> Answered | None:
    return refusal("System role not supported") if "system" in roles(body) else None


def no_system_in_other_words(body: dict[str, Any], number: int) -> Answered | None:
    return refusal("Bad Request", 422) if "system" in roles(body) else None


def xgrammar(body: dict[str, Any], number: int) -> Answered | None:
    said = "The provided JSON schema contains features not supported by xgrammar."
    return refusal(said) if has_schema(body) else None


def not_implemented(body: dict[str, Any], number: int) -> Answered | None:
    return refusal("Not implemented", 501) if has_schema(body) else None


def other_name(body: dict[str, Any], number: int) -> Answered | None:
    said = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    return openai_refusal(said, param="max_tokens", code="unsupported_parameter") if "max_tokens" in body else None


def lower_limit(body: dict[str, Any], number: int) -> Answered | None:
    said = f"max_tokens is too large: {body['max_tokens']}. This model supports at most 256 completion tokens."
    return openai_refusal(said) if body["max_tokens"] > 256 else None


def no_temperature(body: dict[str, Any], number: int) -> Answered | None:
    said = "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) is supported."
    return openai_refusal(said) if "temperature" in body else None


def two_refusals(body: dict[str, Any], number: int) -> Answered | None:
    return no_system(body, number) or xgrammar(body, number)


def no_stream(body: dict[str, Any], number: int) -> Answered | None:
    return refusal("streaming is not supported") if body.get("stream") else None


@pytest.mark.parametrize(
    ("habit", "refused", "note"),
    [
        (no_system, 1, "a system message"),
        (no_system_in_other_words, 2, "a system message"),
        (xgrammar, 1, "response_format"),
        (not_implemented, 1, "response_format"),
        (other_name, 1, "the limit of tokens by its usual name"),
        (lower_limit, 1, "replies are limited to 256 tokens"),
        (no_temperature, 1, "temperature"),
        (two_refusals, 2, "a system message"),
        (no_stream, 1, "stream"),
    ],
)
async def test_what_a_server_refuses_is_replaced_once_and_remembered(habit: Habit, refused: int, note: str) -> None:
    odd = Odd(habit)
    async with door_to(odd) as door:
        answer = await ask(door, prompt(prefix=PREFIX))
        assert answer.value.score == 2
        told = [line for line in answer.notes if "does not take" in line]
        assert len(told) == 1
        assert note in told[0]
        assert (odd.answered, len(odd.statuses)) == (1, 1 + refused)
        await ask(door, prompt("Judge another.", prefix=PREFIX))
        assert (odd.answered, len(odd.statuses)) == (2, 2 + refused), "the second call needs no refusal"
    shown = "\n".join(str(message["content"]) for message in odd.bodies[-1]["messages"])
    assert "You judge." in shown
    assert has_schema(odd.bodies[-1]) != ("Its JSON schema:" in shown)


async def test_the_system_text_stands_at_the_head_of_the_users_turn() -> None:
    odd = Odd(no_system)
    async with door_to(odd) as door:
        await ask(door)
    assert odd.bodies[-1]["messages"] == [{"role": "user", "content": "You judge.\n\nJudge."}]


@pytest.mark.parametrize("status", [400, 422, 501])
async def test_a_server_that_refuses_everything_ends_with_its_own_words(status: int) -> None:
    odd = Odd(lambda body, number: refusal("I will not.", status))
    async with door_to(odd) as door:
        with pytest.raises(ModelRefused, match="I will not") as caught:
            await ask(door)
        assert caught.value.ids["tries"] == "1"
        assert door.models["writer"].refused == {}, "nothing is remembered that did not help"
    assert odd.answered == 0
    assert len(odd.statuses) <= 6


async def test_a_server_that_changes_its_mind_is_given_up() -> None:
    def contrary(body: dict[str, Any], number: int) -> Answered | None:
        wants_system = number > 3
        return refusal("no, the other way round") if ("system" in roles(body)) != wants_system else None

    odd = Odd(contrary)
    async with door_to(odd) as door:
        await ask(door)
        with pytest.raises(ModelRefused, match="the other way round"):
            await ask(door, prompt("Another."))
    assert odd.answered == 1
    assert len(odd.statuses) <= 9


async def test_a_limit_that_sinks_with_each_answer_is_lowered_once() -> None:
    def sinking(body: dict[str, Any], number: int) -> Answered | None:
        most = body.get("max_tokens") or body["max_completion_tokens"]
        return openai_refusal(f"max_tokens must be at most {most - 1}")

    odd = Odd(sinking)
    async with door_to(odd) as door:
        with pytest.raises(ModelRefused, match="at most"):
            await ask(door)
    assert len(odd.statuses) <= 7


async def test_what_began_with_a_guess_ends_with_the_words_before_it() -> None:
    def strict(body: dict[str, Any], number: int) -> Answered | None:
        return no_system(body, number) or refusal("content policy" if has_schema(body) else "schema wanted")

    odd = Odd(strict)
    async with door_to(odd) as door:
        with pytest.raises(ModelRefused, match="content policy"):
            await ask(door)


@pytest.mark.parametrize(
    "said",
    [
        "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
        "The decoder prompt (length 9000) is longer than the maximum model length of 8192. Make sure that "
        "`max_model_len` is no smaller than the number of text tokens plus multimodal tokens.",
        "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 512 `max_new_tokens`",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "Range of input length should be [1, 30720]",
        "The input token count (1,200,000) exceeds the maximum number of tokens allowed (1,048,576).",
    ],
)
async def test_a_prompt_that_is_too_long_is_known_by_its_numbers(said: str) -> None:
    odd = Odd(lambda body, number: refusal(said))
    async with door_to(odd) as door:
        with pytest.raises(ContextTooLong) as caught:
            await ask(door)
    assert "models.context_tokens" in caught.value.hint
    assert odd.statuses == [400]


@pytest.mark.parametrize(
    "said",
    [
        "max_tokens: 16000 > 8192, which is the maximum allowed number of output tokens",
        "Invalid value for parameter top_p in request 1234 of organisation 5678",
    ],
)
async def test_other_numbers_are_no_prompt_that_is_too_long(said: str) -> None:
    async with door_to(Odd(lambda body, number: refusal(said))) as door:
        with pytest.raises(ModelRefused) as caught:
            await ask(door)
    assert type(caught.value) is not ContextTooLong


def in_body(code: Any, message: str) -> Answered:
    return 200, {"error": {"message": message, "code": code}}


@pytest.mark.parametrize("prefix", ["", PREFIX], ids=["at once", "streamed"])
async def test_a_rate_limit_in_the_body_of_a_200_is_waited_for(prefix: str) -> None:
    odd = Odd(lambda body, number: in_body(429, "free-models-per-min") if number <= 3 else None)
    async with door_to(odd) as door:
        assert (await ask(door, prompt(prefix=prefix))).value.score == 2
    assert odd.answered == 1


@pytest.mark.parametrize("code", [402, "402"])
async def test_no_credit_in_the_body_of_a_200_ends_the_call(code: Any) -> None:
    odd = Odd(lambda body, number: in_body(code, "Insufficient credits. Add more credits and try again"))
    async with door_to(odd) as door:
        with pytest.raises(ModelRefused, match=r"no credit left: Insufficient credits\. Add more"):
            await ask(door)
    assert odd.statuses == [200]


async def test_a_quota_that_is_used_up_ends_the_call() -> None:
    body = {"error": {"message": "You exceeded your quota", "type": "insufficient_quota", "code": "insufficient_quota"}}
    odd = Odd(lambda _, number: (429, body))
    async with door_to(odd) as door:
        with pytest.raises(ModelRefused, match="no credit left: You exceeded your quota"):
            await ask(door)
    assert odd.statuses == [429]


async def test_the_words_of_the_provider_behind_a_router_are_shown() -> None:
    raw = {"message": "Provider returned error", "code": 502, "metadata": {"raw": "the cluster is down"}}
    async with door_to(Odd(lambda _, number: (200, {"error": raw}))) as door:
        with pytest.raises(ModelUnavailable, match="HTTP 502: Provider returned error: the cluster is down"):
            await ask(door)


async def test_a_web_page_with_status_200_is_named() -> None:
    odd = Odd(lambda body, number: (200, "<!DOCTYPE html><html><title>Log in</title></html>"))
    async with door_to(odd) as door:
        with pytest.raises(ModelUnavailable, match="a web page came") as caught:
            await ask(door)
    assert "--base-url" in caught.value.hint
    assert len(odd.statuses) == 3


@pytest.mark.parametrize("read", [20, 36_190])
@pytest.mark.parametrize(("window", "known"), [(32_768, False), (60_000, True)])
async def test_a_reply_is_used_unless_a_known_window_is_too_short(read: int, window: int, known: bool) -> None:
    async with door_to(Odd(lambda body, number: None)) as door:
        model = door.models["writer"]
        wire = first_request(
            prompt("word " * 20_000), reply_schema(Verdict), model, role="writer", max_output_tokens=500
        )
        model.context_tokens, model.context_known = window, known
        refuse_cut_prompt(model, Completion("x", read, 10), wire)
        assert any(f"read {read:,} of about" in note for note in model.notes) == (read < 1_000 or read > window)


def vectors(*places: Any, value: float = 1.0) -> Habit:
    """A server that answers with vectors ``[place, value]`` under these indices."""
    data = [{"object": "embedding", "index": place, "embedding": [float(place or 0), value]} for place in places]
    return lambda body, number: (200, {"object": "list", "data": data, "model": "m", "usage": {}})


async def embedded(habit: Habit) -> Any:
    async with served(Odd(habit)) as url:
        embedder = make_embedder("m", base_url=url, calls=CallSettings(retry_wait_s=0))
        try:
            return await embedder.embed(["a", "b", "c"])
        finally:
            await embedder.aclose()


async def test_vectors_are_matched_by_their_index() -> None:
    swapped, plain = await embedded(vectors(2, 1, 0)), await embedded(vectors(0, 1, 2))
    assert np.array_equal(swapped, plain)
    assert np.array_equal(await embedded(vectors(None, None, None)), [[0, 1]] * 3), "as they came, without any index"


@pytest.mark.parametrize(
    ("habit", "said"),
    [
        (vectors(0, 0, 1), "3 vectors for 3 texts, 2 with index 0"),
        (vectors(0, 2), "2 vectors for 3 texts, 0 with index 1"),
        (vectors(0, 1, 2, 3), "4 vectors for 3 texts, 1 with index 3"),
        (vectors(0, 1, 2, value=float("nan")), "not finite"),
        (vectors(0, 1, 2, value=float("inf")), "not finite"),
    ],
)
async def test_vectors_that_do_not_fit_the_texts_are_refused_by_name(habit: Habit, said: str) -> None:
    with pytest.raises(ReplyInvalid, match=said):
        await embedded(habit)
