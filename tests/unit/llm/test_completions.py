"""Where each provider's message holds its text, and how it says that there is none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk

from referee.llm.completions import Completion, collected, whole
from referee.llm.replies import read_reply
from referee.llm.wire import Wire

from .test_wire import ANSWER, ANTHROPIC_ANSWER, GOOGLE_ANSWER, OPENAI_ANSWER, SPECS, Reply, recorder, request

TEXT = json.dumps(ANSWER)
FENCES = f"First.\n```json\n{TEXT}\n```\nOnce more:\n```json\n{TEXT}\n```"
WRAPPED = json.dumps({"reply": ANSWER})
OLLAMA_ANSWER = {"model": "m", "done": True, "done_reason": "stop", "prompt_eval_count": 11, "eval_count": 7}
CALL = {"id": "c", "type": "function", "function": {"name": "json_tool_call", "arguments": TEXT}}


def anthropic(*blocks: dict[str, Any], stop: str = "end_turn") -> dict[str, Any]:
    return ANTHROPIC_ANSWER | {"content": list(blocks), "stop_reason": stop}


def google(*parts: dict[str, Any], stop: str = "STOP") -> dict[str, Any]:
    content = {"content": {"role": "model", "parts": list(parts)}} if parts else {}
    return GOOGLE_ANSWER | {"candidates": [{**content, "finishReason": stop, "index": 0}]}


def ollama(content: str, *, stop: str = "stop", **more: Any) -> dict[str, Any]:
    return OLLAMA_ANSWER | {"message": {"role": "assistant", "content": content, **more}, "done_reason": stop}


def openai(message: dict[str, Any], *, stop: str = "stop") -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": stop, "message": {"role": "assistant", "content": None, **message}}
    return OPENAI_ANSWER | {"choices": [choice]}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


THINKING = {"type": "thinking", "thinking": "Let me see {}.", "signature": "s"}
OTHER_TOOL = {"type": "tool_use", "id": "t", "name": "submit", "input": ANSWER}
THOUGHT = {"text": "Let me see {}.", "thought": True}
FUNCTION = {"functionCall": {"name": "submit", "args": ANSWER}}

READ: dict[str, tuple[str, dict[str, Any], str]] = {
    "anthropic: thinking": ("anthropic", anthropic(THINKING, text(TEXT)), ""),
    "anthropic: two fences": ("anthropic", anthropic(text(FENCES)), ""),
    "anthropic: wrapper": ("anthropic", anthropic(THINKING, text(WRAPPED)), ""),
    "anthropic: other tool": ("anthropic", anthropic(THINKING, OTHER_TOOL, stop="tool_use"), "of the tool 'submit'"),
    "anthropic: other tool and prose": ("anthropic", anthropic(text("So."), OTHER_TOOL), "of the tool 'submit'"),
    "google: thought": ("google_genai", google(THOUGHT, {"text": TEXT}), ""),
    "google: two fences": ("google_genai", google({"text": FENCES}), ""),
    "google: wrapper": ("google_genai", google({"text": WRAPPED}), ""),
    "google: other tool": ("google_genai", google(THOUGHT, FUNCTION), "of the tool 'submit'"),
    "ollama: thinking": ("ollama", ollama(TEXT, thinking="Let me see {}."), ""),
    "ollama: only thinking": ("ollama", ollama("", thinking=TEXT), "in its reasoning"),
    "ollama: two fences": ("ollama", ollama(FENCES), ""),
    "ollama: wrapper": ("ollama", ollama(f"<think>Let me see {{}}.</think>{WRAPPED}"), ""),
    "ollama: other tool": (
        "ollama",
        ollama("", tool_calls=[{"function": {"name": "submit", "arguments": ANSWER}}]),
        "of the tool 'submit'",
    ),
    "server: other tool": ("server", openai({"tool_calls": [CALL]}, stop="tool_calls"), "'json_tool_call'"),
    "server: older call": ("server", openai({"function_call": CALL["function"]}), "'json_tool_call'"),
    "server: reasoning": ("server", openai({"reasoning_content": f"So: {TEXT}"}), "in its reasoning"),
    "server: reasoning by another name": ("server", openai({"reasoning": TEXT}), "in its reasoning"),
    "server: parts": ("server", openai({"content": [{"type": "thinking", "thinking": [text("{}")]}, text(TEXT)]}), ""),
}


async def sent(provider: str, answer: dict[str, Any]) -> Completion:
    with recorder(answer) as (url, _):
        base = f"{url}/v1" if provider in ("openai", "server") else url
        wire = Wire(SPECS[provider], key="k", timeout_s=10, base_url=base)
        completion = await wire.send(request())
        await wire.aclose()
    return completion


@pytest.mark.parametrize("kind", READ)
async def test_the_reply_is_found_where_it_stands(kind: str) -> None:
    provider, answer, place = READ[kind]
    completion = await sent(provider, answer)
    assert read_reply(completion.text, Reply)[0].model_dump() == ANSWER
    assert completion.place.endswith(place)
    assert bool(completion.place) == bool(place)
    assert completion.ended == ""


LIMIT = "the reply was cut off at the token limit"
DETAILS = {"type": "refusal", "category": "bio", "explanation": "It asks for\na virus."}
BLOCKED = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 11}}

ENDED: dict[str, tuple[str, dict[str, Any], str]] = {
    "anthropic: refusal": (
        "anthropic",
        anthropic(stop="refusal") | {"stop_details": DETAILS},
        "the provider stopped the reply (refusal): It asks for a virus.",
    ),
    "anthropic: limit": ("anthropic", anthropic(text(TEXT[:9]), stop="max_tokens"), f"{LIMIT} (max_tokens)"),
    "anthropic: all thinking": (
        "anthropic",
        anthropic(THINKING, stop="max_tokens"),
        f"{LIMIT} (max_tokens); all that came was reasoning",
    ),
    "google: safety": ("google_genai", google(stop="SAFETY"), "the provider stopped the reply (SAFETY)"),
    "google: recitation": ("google_genai", google(stop="RECITATION"), "the provider stopped the reply (RECITATION)"),
    "google: blocked": ("google_genai", BLOCKED, "the provider blocked the prompt (PROHIBITED_CONTENT)"),
    "google: limit": ("google_genai", google({"text": TEXT[:9]}, stop="MAX_TOKENS"), f"{LIMIT} (MAX_TOKENS)"),
    "google: all thought": (
        "google_genai",
        google(THOUGHT, stop="MAX_TOKENS"),
        f"{LIMIT} (MAX_TOKENS); all that came was reasoning",
    ),
    "ollama: all thinking": (
        "ollama",
        ollama("<think>Let me see", stop="length"),
        f"{LIMIT} (length); all that came was reasoning",
    ),
    "openai: refusal": ("openai", openai({"refusal": "I can't  do that."}), "the model declined: I can't do that."),
    "openai: filter": ("openai", openai({}, stop="content_filter"), "the provider stopped the reply (content_filter)"),
    "server: all reasoning": (
        "server",
        openai({"reasoning_content": "Let me see"}, stop="length"),
        f"{LIMIT} (length); all that came was reasoning",
    ),
    "server: aborted": ("server", openai({}, stop="abort"), "the reply was empty (it ended with 'abort')"),
}


@pytest.mark.parametrize("kind", ENDED)
async def test_why_there_is_no_reply_is_said_in_the_providers_words(kind: str) -> None:
    provider, answer, ended = ENDED[kind]
    completion = await sent(provider, answer)
    assert completion.ended == ended


def events(*deltas: dict[str, Any], stop: str = "stop") -> bytes:
    base = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    choices = [*({"index": 0, "delta": delta, "finish_reason": None} for delta in deltas)]
    choices.append({"index": 0, "delta": {}, "finish_reason": stop})
    lines = [f"data: {json.dumps(base | {'choices': [choice]})}\n\n" for choice in choices]
    return ("".join(lines) + "data: [DONE]\n\n").encode()


STREAMED: dict[str, tuple[bytes, str, str]] = {
    "reasoning before the reply": (
        events(
            {"reasoning_content": "Let {"}, {"reasoning_content": "me"}, {"content": TEXT[:9]}, {"content": TEXT[9:]}
        ),
        "",
        "",
    ),
    "only reasoning": (
        events({"reasoning_content": TEXT[:9]}, {"reasoning_content": TEXT[9:]}),
        "in its reasoning",
        "",
    ),
    "other tool": (
        events(
            {"tool_calls": [{"index": 0, **CALL, "function": {"name": "submit", "arguments": TEXT[:9]}}]},
            {"tool_calls": [{"index": 0, "function": {"arguments": TEXT[9:]}}]},
        ),
        "in a call of the tool 'submit'",
        "",
    ),
    "refusal": (events({"refusal": "I can't"}, {"refusal": " do that."}), "", "the model declined: I can't do that."),
    "filter": (events({"content": ""}, stop="content_filter"), "", "the provider stopped the reply (content_filter)"),
}


@pytest.mark.parametrize("kind", STREAMED)
async def test_a_stream_is_read_alike(kind: str) -> None:
    body, place, ended = STREAMED[kind]
    with recorder(body, kind="text/event-stream") as (url, _):
        wire = Wire(SPECS["server"], key="k", timeout_s=10, base_url=f"{url}/v1")
        completion = await wire.stream(request(prefix_chars=5), lambda: None)
        await wire.aclose()
    assert completion.streamed
    assert (completion.place, completion.ended) == (place, ended)
    if not ended:
        assert json.loads(completion.text) == ANSWER


async def test_pieces_of_a_message_make_what_the_message_makes() -> None:
    content: list[Any] = [{"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": TEXT}]
    metadata = {"stop_reason": "max_tokens"}

    async def pieces() -> Any:
        yield AIMessageChunk(content=[{**content[0], "index": 0}])
        yield AIMessageChunk(content=[{**content[1], "index": 1}])
        yield AIMessageChunk(content=[], response_metadata=metadata)

    at_once = whole(AIMessage(content=content, response_metadata=metadata), 300)
    in_pieces = await collected(pieces(), 300, lambda: None, ())
    assert in_pieces is not None
    assert (in_pieces.text, in_pieces.ended) == (at_once.text, at_once.ended) == (TEXT, f"{LIMIT} (max_tokens)")
