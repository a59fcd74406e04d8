"""Ollama's own ``/api/chat``: options with ``num_ctx``, the schema as ``format``, streams as lines of JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.support.request import ChatRequest
from tests.support.wire.reply import ChatReply, ErrorReply, message, pieces, title, without

_ERRORS = {
    "400": (400, "invalid options"),
    "401": (401, "unauthorized"),
    "404": (404, "model 'none' not found"),
    "context": (400, "the input length exceeds the context length"),
    "429": (429, "too many requests"),
    "500": (500, "llama runner process has terminated: signal: killed"),
    "503": (503, "server busy, please try again.  maximum pending requests exceeded"),
    "script": (599, "The fake server's script failed."),
}
_MADE = "2026-01-01T00:00:00.000000Z"


def parse(body: Mapping[str, Any]) -> ChatRequest:
    """A request to ``/api/chat``; it is streamed unless it says otherwise."""
    schema = body.get("format")
    options = dict(body.get("options") or {})
    return ChatRequest(
        wire="ollama",
        model=str(body.get("model", "")),
        messages=tuple(message(turn["role"], turn.get("content", "")) for turn in body.get("messages", ())),
        schema=schema if isinstance(schema, dict) else None,
        schema_name=title(schema),
        params=without(body, "messages", "format", "options", "stream", "model") | options,
        stream=body.get("stream", True) is not False,
        json_mode=schema == "json",
    )


def key(headers: Mapping[str, str]) -> str:
    """The key the client sent; Ollama itself asks for none."""
    return headers.get("authorization", "").removeprefix("Bearer ")


def reply(request: ChatRequest, answer: ChatReply) -> dict[str, Any]:
    """The reply in one piece, with why it ended and what it took."""
    return _line(request, answer.text) | _ending(answer)


def events(request: ChatRequest, answer: ChatReply) -> list[bytes]:
    """The same as lines of JSON: pieces of the text, then the ending."""
    lines = [_line(request, piece) | {"done": False} for piece in pieces(answer.text)]
    lines.append(_line(request, "") | _ending(answer))
    return [f"{json.dumps(line, ensure_ascii=False)}\n".encode("utf-8", "replace") for line in lines]


def error(kind: str, retry_after_s: float | None = None, text: str = "") -> ErrorReply:
    """The error body for a fault's kind; it names no pause."""
    status, default = _ERRORS[kind]
    return ErrorReply(status, {"error": text or default})


def _line(request: ChatRequest, text: str) -> dict[str, Any]:
    return {"model": request.model, "created_at": _MADE, "message": {"role": "assistant", "content": text}}


def _ending(answer: ChatReply) -> dict[str, Any]:
    return {
        "done": True,
        "done_reason": "length" if answer.finish == "length" else "stop",
        "total_duration": 5_000_000,
        "load_duration": 1_000_000,
        "prompt_eval_count": answer.input_tokens,
        "prompt_eval_duration": 1_000_000,
        "eval_count": answer.output_tokens,
        "eval_duration": 1_000_000,
    }
