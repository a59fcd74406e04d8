"""Anthropic's messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.support.request import ChatMessage, ChatRequest
from tests.support.wire.reply import (
    RETRY_TEXT,
    ChatReply,
    ErrorReply,
    event,
    message,
    pieces,
    seconds,
    text_of,
    title,
    without,
)

_ERRORS = {
    "400": (400, "invalid_request_error", "The request is not valid."),
    "401": (401, "authentication_error", "invalid x-api-key"),
    "404": (404, "not_found_error", "There is nothing here."),
    "context": (400, "invalid_request_error", "prompt is too long: 4097 tokens > 4096 maximum"),
    "429": (429, "rate_limit_error", f"This request would exceed your rate limit. {RETRY_TEXT}"),
    "500": (500, "api_error", "Internal server error"),
    "503": (529, "overloaded_error", "Overloaded"),
    "script": (599, "api_error", "The fake server's script failed."),
}


def parse(body: Mapping[str, Any]) -> ChatRequest:
    """A request to ``/v1/messages``."""
    wanted = (body.get("output_config") or {}).get("format") or body.get("output_format") or {}
    schema = wanted.get("schema") if wanted.get("type") == "json_schema" else None
    tool = None if schema is not None else _tool(body)
    if tool is not None:
        schema = tool.get("input_schema", {})
    system = [ChatMessage("system", text_of(body["system"]))] if body.get("system") else []
    return ChatRequest(
        wire="anthropic",
        model=str(body.get("model", "")),
        messages=(*system, *(message(m.get("role", "user"), m.get("content")) for m in body.get("messages", ()))),
        schema=schema,
        schema_name=title(schema) or (tool["name"] if tool else ""),
        tool=tool["name"] if tool else None,
        params=without(body, "model", "messages", "system", "stream", "output_config", "output_format", "tools"),
        stream=bool(body.get("stream")),
        marked=_marked(body),
    )


def _marked(body: Mapping[str, Any]) -> str | None:
    """The text up to the last block that is marked for the cache; null where none is."""
    texts, marked = list[str](), None
    for content in (body.get("system"), *(turn.get("content") for turn in body.get("messages", ()))):
        blocks = content if isinstance(content, list) else [{"text": content or ""}]
        for block in blocks:
            texts.append(str(block.get("text", "")))
            marked = "\n".join(texts) if block.get("cache_control") else marked
    return marked


def _tool(body: Mapping[str, Any]) -> dict[str, Any] | None:
    choice = body.get("tool_choice") or {"type": "auto"}
    tools: list[dict[str, Any]] = [tool for tool in body.get("tools") or () if "input_schema" in tool]
    if choice["type"] == "tool":
        return next((tool for tool in tools if tool["name"] == choice.get("name")), None)
    return tools[0] if tools and choice["type"] != "none" else None


def key(headers: Mapping[str, str]) -> str:
    """The key the client sent."""
    return headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ").strip()


def reply(request: ChatRequest, answer: ChatReply) -> dict[str, Any]:
    """A message: a ``tool_use`` block where a tool was asked for and the reply is an object, else a text block."""
    blocks: list[dict[str, Any]] = [{"type": "text", "text": answer.text}] if answer.text else []
    stop = {"stop": "end_turn", "length": "max_tokens", "refusal": "refusal"}[answer.finish]
    if answer.finish == "refusal":
        blocks = []
    elif request.tool is not None and answer.tool_input is not None:
        block_id = f"toolu_{request.digest[:24]}"
        blocks = [{"type": "tool_use", "id": block_id, "name": request.tool, "input": answer.tool_input}]
        stop = "tool_use"
    return {
        "id": f"msg_{request.digest[:24]}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": blocks,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": _usage(answer),
    }


def _usage(answer: ChatReply) -> dict[str, int]:
    """The ``usage`` object: ``input_tokens`` are those that the cache has nothing to do with."""
    if answer.cached_tokens is None:
        return {"input_tokens": answer.input_tokens, "output_tokens": answer.output_tokens}
    read, written = answer.cached_tokens, answer.cache_write_tokens
    cache = {"cache_read_input_tokens": read, "cache_creation_input_tokens": written}
    return {"input_tokens": answer.input_tokens - read - written, "output_tokens": answer.output_tokens, **cache}


def events(request: ChatRequest, answer: ChatReply) -> list[bytes]:
    """The same message as server-sent events."""
    whole = reply(request, answer)
    begun = {**whole, "content": [], "stop_reason": None, "usage": {**whole["usage"], "output_tokens": 1}}
    sent: list[dict[str, Any]] = [{"type": "message_start", "message": begun}]
    for block in whole["content"]:
        sent.append({"type": "content_block_start", "index": 0, "content_block": block | _EMPTY[block["type"]]})
        sent += [{"type": "content_block_delta", "index": 0, "delta": delta} for delta in _deltas(block, answer)]
        sent.append({"type": "content_block_stop", "index": 0})
    end = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    sent += [{"type": "message_delta", "delta": end, "usage": whole["usage"]}, {"type": "message_stop"}]
    return [event(data, data["type"]) for data in sent]


_EMPTY: dict[str, dict[str, Any]] = {"text": {"text": ""}, "tool_use": {"input": {}}}


def _deltas(block: Mapping[str, Any], answer: ChatReply) -> list[dict[str, str]]:
    if block["type"] == "tool_use":
        return [{"type": "input_json_delta", "partial_json": piece} for piece in pieces(answer.text)]
    return [{"type": "text_delta", "text": piece} for piece in pieces(answer.text)]


def error(kind: str, retry_after_s: float | None = None, text: str = "") -> ErrorReply:
    """The error body and headers for a fault's kind, or for ``404`` and ``script``."""
    status, error_type, default = _ERRORS[kind]
    body = {"type": "error", "error": {"type": error_type, "message": text or default}, "request_id": "req_fake"}
    return ErrorReply(status, body, {} if retry_after_s is None else {"retry-after": seconds(retry_after_s)})
