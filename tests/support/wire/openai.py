"""OpenAI's chat completions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.support.request import ChatRequest
from tests.support.wire.reply import RETRY_TEXT, ChatReply, ErrorReply, event, message, pieces, seconds, title, without

_ERRORS: dict[str, tuple[int, str, str | None, str]] = {
    "400": (400, "invalid_request_error", None, "The request is not valid."),
    "401": (401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    "404": (404, "invalid_request_error", "model_not_found", "There is nothing here."),
    "context": (
        400,
        "invalid_request_error",
        "context_length_exceeded",
        "This model's maximum context length is 4096 tokens. Please reduce the length of the messages.",
    ),
    "429": (429, "requests", "rate_limit_exceeded", f"Rate limit reached. {RETRY_TEXT}"),
    "500": (500, "server_error", None, "The server had an error while processing your request."),
    "503": (503, "server_error", None, f"The engine is currently overloaded. {RETRY_TEXT}"),
    "script": (599, "script_error", "script_error", "The fake server's script failed."),
}


def parse(body: Mapping[str, Any]) -> ChatRequest:
    """A request to ``/v1/chat/completions``."""
    wanted = body.get("response_format") or {}
    schema = wanted.get("json_schema", {}).get("schema") if wanted.get("type") == "json_schema" else None
    name = wanted.get("json_schema", {}).get("name", "")
    tool = None if schema is not None else _tool(body)
    if tool is not None:
        schema, name = tool.get("parameters", {}), tool["name"]
    return ChatRequest(
        wire="openai",
        model=str(body.get("model", "")),
        messages=tuple(message(m.get("role", "user"), m.get("content")) for m in body.get("messages", ())),
        schema=schema,
        schema_name=title(schema) or name,
        tool=tool["name"] if tool else None,
        params=without(body, "model", "messages", "stream", "stream_options", "response_format", "tools"),
        stream=bool(body.get("stream")),
        json_mode=wanted.get("type") == "json_object",
    )


def _tool(body: Mapping[str, Any]) -> dict[str, Any] | None:
    choice = body.get("tool_choice", "auto")
    functions: list[dict[str, Any]] = [tool["function"] for tool in body.get("tools") or () if "function" in tool]
    if isinstance(choice, dict):
        named = choice.get("function", {}).get("name")
        return next((function for function in functions if function["name"] == named), None)
    return functions[0] if functions and choice != "none" else None


def key(headers: Mapping[str, str]) -> str:
    """The key the client sent."""
    return headers.get("authorization", "").removeprefix("Bearer ").strip()


def reply(request: ChatRequest, answer: ChatReply) -> dict[str, Any]:
    """A chat completion."""
    return {
        "id": f"chatcmpl-{request.digest[:24]}",
        "object": "chat.completion",
        "created": 0,
        "model": request.model,
        "choices": [{"index": 0, "message": _message(request, answer), "finish_reason": _finish(request, answer)}],
        "usage": usage(answer),
    }


def usage(answer: ChatReply) -> dict[str, Any]:
    """The ``usage`` object."""
    total = answer.input_tokens + answer.output_tokens
    counts = {"prompt_tokens": answer.input_tokens, "completion_tokens": answer.output_tokens, "total_tokens": total}
    if answer.cached_tokens is None:
        return counts
    return {**counts, "prompt_tokens_details": {"cached_tokens": answer.cached_tokens}}


def _message(request: ChatRequest, answer: ChatReply) -> dict[str, Any]:
    said: dict[str, Any] = {"role": "assistant", "content": answer.text, "refusal": None}
    if answer.finish == "refusal":
        return {**said, "content": None, "refusal": answer.text}
    if _calls_tool(request, answer):
        function = {"name": request.tool, "arguments": answer.text}
        call = {"id": f"call_{request.digest[:24]}", "type": "function", "function": function}
        return {**said, "content": None, "tool_calls": [call]}
    return said


def _calls_tool(request: ChatRequest, answer: ChatReply) -> bool:
    return request.tool is not None and answer.text.startswith("{")


def _finish(request: ChatRequest, answer: ChatReply) -> str:
    if answer.finish == "length":
        return "length"
    return "tool_calls" if _calls_tool(request, answer) and answer.finish == "stop" else "stop"


def events(request: ChatRequest, answer: ChatReply) -> list[bytes]:
    """The same completion as server-sent events, words in pieces of about 20 characters."""
    said = _message(request, answer)
    first = {"role": "assistant", "content": ""}
    deltas: list[dict[str, Any]] = [first]
    if tool_calls := said.get("tool_calls"):
        deltas.append({"tool_calls": [{"index": 0, **tool_calls[0]}]})
    elif said["refusal"]:
        deltas.append({"refusal": said["refusal"]})
    else:
        deltas += [{"content": piece} for piece in pieces(answer.text)]
    base = {**reply(request, answer), "object": "chat.completion.chunk", "usage": None}
    chunks: list[dict[str, Any]] = [
        {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
    ]
    chunks.append({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": _finish(request, answer)}]})
    chunks.append({**base, "choices": [], "usage": usage(answer)})
    return [*(event(chunk) for chunk in chunks), b"data: [DONE]\n\n"]


def error(kind: str, retry_after_s: float | None = None, text: str = "") -> ErrorReply:
    """The error body and headers for a fault's kind, or for ``404`` and ``script``."""
    status, error_type, code, default = _ERRORS[kind]
    body = {"error": {"message": text or default, "type": error_type, "param": None, "code": code}}
    return ErrorReply(status, body, {} if retry_after_s is None else {"retry-after": seconds(retry_after_s)})
