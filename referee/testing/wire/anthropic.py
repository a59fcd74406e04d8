"""Anthropic's messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from referee.testing.request import ChatMessage, ChatRequest
from referee.testing.wire.reply import RETRY_TEXT, ChatReply, ErrorReply, message, seconds, text_of, title, without

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
    )


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
        "usage": {"input_tokens": answer.input_tokens, "output_tokens": answer.output_tokens},
    }


def error(kind: str, retry_after_s: float | None = None, text: str = "") -> ErrorReply:
    """The error body and headers for a fault's kind, or for ``404`` and ``script``."""
    status, error_type, default = _ERRORS[kind]
    body = {"type": "error", "error": {"type": error_type, "message": text or default}, "request_id": "req_fake"}
    return ErrorReply(status, body, {} if retry_after_s is None else {"retry-after": seconds(retry_after_s)})
