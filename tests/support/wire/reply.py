"""A reply before it is put into a provider's format, and what all formats share."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.support.request import ChatMessage

RETRY_TEXT = "Please try again later."
PIECE_CHARACTERS = 20


@dataclass(frozen=True)
class ChatReply:
    """A model's reply: its text (JSON where a schema was asked for) and why it stopped.

    Of its input tokens, ``cached_tokens`` came from the provider's cache and ``cache_write_tokens`` were written to it;
    null where the provider has none.
    """

    text: str
    finish: Literal["stop", "length", "refusal"] = "stop"
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int | None = None
    cache_write_tokens: int = 0

    @property
    def tool_input(self) -> dict[str, Any] | None:
        """The text as a JSON object, for formats that send tool arguments as one; null if it is none."""
        try:
            value = json.loads(self.text)
        except ValueError:
            return None
        return value if isinstance(value, dict) else None


@dataclass(frozen=True)
class ErrorReply:
    """An error in a provider's format."""

    status: int
    body: dict[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


def text_of(content: Any) -> str:
    """The text of a message: a string, or the text parts of a list."""
    if isinstance(content, list):
        texts = (part if isinstance(part, str) else part.get("text") for part in content)
        return "\n".join(str(text) for text in texts if text is not None)
    return content if isinstance(content, str) else ""


def message(role: str, content: Any) -> ChatMessage:
    """A neutral message."""
    name = "system" if role == "developer" else "assistant" if role == "model" else role
    return ChatMessage(name, text_of(content), images_of(content))


def images_of(content: Any) -> tuple[bytes, ...]:
    """The pictures of a message, decoded: OpenAI's ``image_url``, Anthropic's ``source``, Google's ``inlineData``.

    Raises:
        ValueError: A picture is not given as base64.
    """
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    coded = [code for part in parts if (code := _coded(part)) is not None]
    return tuple(base64.b64decode(code.replace("-", "+").replace("_", "/"), validate=True) for code in coded)


def _coded(part: Mapping[str, Any]) -> str | None:
    if part.get("type") == "image_url":
        head, _, code = str(part["image_url"]["url"]).partition(";base64,")
        if not head.startswith("data:image/"):
            raise ValueError(f"a picture is not given as base64: {head[:60]!r}.")
        return code
    if part.get("type") == "image":
        return str(part["source"]["data"])
    inline = part.get("inlineData") or part.get("inline_data")
    return str(inline["data"]) if inline else None


def title(schema: Any) -> str:
    """A schema's title, or nothing."""
    return str(schema.get("title", "")) if isinstance(schema, Mapping) else ""


def without(body: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """What is left of a request's body: the parameters."""
    return {key: value for key, value in body.items() if key not in keys}


def seconds(value: float) -> str:
    """Seconds as headers write them: 2, not 2.0."""
    return str(int(value)) if value == int(value) else str(value)


def event(data: Any, name: str = "") -> bytes:
    """One server-sent event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data, ensure_ascii=False)}\n\n".encode("utf-8", "replace")


def pieces(text: str) -> Iterator[str]:
    """A text as it comes in a stream, some 20 characters at a time."""
    for start in range(0, len(text), PIECE_CHARACTERS):
        yield text[start : start + PIECE_CHARACTERS]
