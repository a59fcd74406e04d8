"""Google's ``generateContent``."""

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
    "400": (400, "INVALID_ARGUMENT", "Request contains an invalid argument."),
    "401": (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
    "404": (404, "NOT_FOUND", "There is nothing here."),
    "context": (
        400,
        "INVALID_ARGUMENT",
        "The input token count (4097) exceeds the maximum number of tokens allowed (4096).",
    ),
    "429": (429, "RESOURCE_EXHAUSTED", f"You exceeded your current quota. {RETRY_TEXT}"),
    "500": (500, "INTERNAL", "An internal error has occurred."),
    "503": (503, "UNAVAILABLE", f"The model is overloaded. {RETRY_TEXT}"),
    "script": (599, "INTERNAL", "The fake server's script failed."),
}


def parse(body: Mapping[str, Any], model: str = "", *, stream: bool = False) -> ChatRequest:
    """A request to ``/v1beta/models/{model}:generateContent``, or to ``:streamGenerateContent``."""
    config = dict(body.get("generationConfig") or {})
    schema = _schema(config)
    tool = None if schema is not None else _tool(body)
    if tool is not None:
        schema = tool.get("parametersJsonSchema") or json_schema(tool.get("parameters") or {"type": "OBJECT"})
    system = text_of((body.get("systemInstruction") or {}).get("parts", ""))
    turns = (message(turn.get("role", "user"), turn.get("parts")) for turn in body.get("contents", ()))
    params = without(body, "contents", "systemInstruction", "generationConfig", "tools")
    params |= without(config, "responseJsonSchema", "responseSchema", "responseMimeType")
    return ChatRequest(
        wire="google",
        model=model,
        messages=(*([ChatMessage("system", system)] if system else []), *turns),
        schema=schema,
        schema_name=title(schema) or (tool["name"] if tool else ""),
        tool=tool["name"] if tool else None,
        params=params,
        stream=stream,
        json_mode=schema is None and config.get("responseMimeType") == "application/json",
    )


def _schema(config: Mapping[str, Any]) -> dict[str, Any] | None:
    if "responseJsonSchema" in config:
        schema: dict[str, Any] = config["responseJsonSchema"]
        return schema
    return json_schema(config["responseSchema"]) if "responseSchema" in config else None


def _tool(body: Mapping[str, Any]) -> dict[str, Any] | None:
    calling = (body.get("toolConfig") or {}).get("functionCallingConfig") or {}
    allowed = calling.get("allowedFunctionNames")
    declared: list[dict[str, Any]] = [
        d for tool in body.get("tools") or () for d in tool.get("functionDeclarations", ())
    ]
    usable = [d for d in declared if not allowed or d["name"] in allowed]
    return usable[0] if usable and calling.get("mode") != "NONE" else None


def json_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Google's own schema dialect (upper-case types, ``nullable``, counts as strings) as JSON Schema."""
    made: dict[str, Any] = {}
    for name, value in schema.items():
        if name == "properties":
            made[name] = {key: json_schema(part) for key, part in value.items()}
        elif name == "items":
            made[name] = json_schema(value)
        elif name == "anyOf":
            made[name] = [json_schema(part) for part in value]
        elif name == "type":
            made[name] = value.lower()
        elif name in ("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"):
            made[name] = int(value)
        elif name not in ("nullable", "propertyOrdering") and (name, value) != ("format", "enum"):
            made[name] = value
    return {"anyOf": [made, {"type": "null"}]} if schema.get("nullable") else made


def key(headers: Mapping[str, str]) -> str:
    """The key the client sent; a ``key`` in the query is handled by the caller."""
    return headers.get("x-goog-api-key", "")


def reply(request: ChatRequest, answer: ChatReply) -> dict[str, Any]:
    """A response with one candidate: a ``functionCall`` part, a text part, or none."""
    parts: list[dict[str, Any]] = [{"text": answer.text}]
    if request.tool is not None and answer.tool_input is not None:
        parts = [{"functionCall": {"name": request.tool, "args": answer.tool_input}}]
    candidate: dict[str, Any] = {
        "content": {"role": "model", "parts": parts},
        "finishReason": {"stop": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}[answer.finish],
        "index": 0,
    }
    if answer.finish == "refusal":
        del candidate["content"]
    return {
        "candidates": [candidate],
        "usageMetadata": _usage(answer),
        "modelVersion": request.model,
        "responseId": request.digest[:24],
    }


def _usage(answer: ChatReply) -> dict[str, int]:
    counts = {"promptTokenCount": answer.input_tokens, "candidatesTokenCount": answer.output_tokens}
    cached = {"cachedContentTokenCount": answer.cached_tokens} if answer.cached_tokens else {}
    return {**counts, **cached, "totalTokenCount": answer.input_tokens + answer.output_tokens}


def events(request: ChatRequest, answer: ChatReply) -> list[bytes]:
    """The same response as server-sent events: pieces of the text, then why it ended and the tokens."""
    last = reply(request, answer)
    [candidate] = last["candidates"]
    rest = {key: last[key] for key in ("modelVersion", "responseId")}
    if request.tool is not None or "content" not in candidate:
        return [event(last)]
    parts = [{"role": "model", "parts": [{"text": piece}]} for piece in pieces(answer.text)]
    candidate["content"] = {"role": "model", "parts": [{"text": ""}]}
    return [*(event({"candidates": [{"content": part, "index": 0}], **rest}) for part in parts), event(last)]


def error(kind: str, retry_after_s: float | None = None, text: str = "") -> ErrorReply:
    """The error body for a fault's kind, or for ``404`` and ``script``.

    Google puts the advice when to retry into the body, and answers a wrong key with status 400.
    """
    status, name, default = _ERRORS[kind]
    details: list[dict[str, Any]] = []
    if kind == "401":
        info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
        details.append({**info, "domain": "googleapis.com"})
    if retry_after_s is not None:
        delay = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{seconds(retry_after_s)}s"}
        details.append(delay)
    body: dict[str, Any] = {"code": status, "message": text or default, "status": name}
    return ErrorReply(status, {"error": {**body, "details": details} if details else body})
