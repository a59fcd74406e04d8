"""One chat request in a neutral form, whatever wire format it came in."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from tests.support import material
from tests.support.instances import instance
from tests.support.validity import Schema

WireFormat = Literal["openai", "anthropic", "google", "ollama"]


@dataclass(frozen=True)
class ChatMessage:
    """One message: ``role`` is system, user or assistant; ``text`` joins its text parts by line breaks.

    ``images`` are the bytes of the pictures in it, decoded, in order.
    """

    role: str
    text: str
    images: tuple[bytes, ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class ChatRequest:
    """What a model was asked.

    Attributes:
        wire: The provider format it arrived in.
        model: The model id the client named.
        messages: All messages in order, system first.
        schema: The JSON schema the reply must fit, from its own field or from the prompt after the words
            ``JSON schema``; null where free text was asked for.
        schema_name: Title of that schema, mostly the reply model's class name, else its or its tool's name; may be
            empty.
        tool: Name of the tool to call with the reply; null where the reply is text.
        role: Who asks (``writer``, ``judge``, ...): header ``x-referee-role``, or a rule of the script; may be empty.
        prompt_id: Header ``x-referee-prompt``; may be empty.
        params: Everything else the client sent: temperature, limits, ...
        stream: Whether the client wants server-sent events.
        json_mode: Whether any JSON object will do.
        marked: The text up to the last mark for the provider's cache, in Anthropic's format; null without a mark.
        seed: The server's seed; with the digest it decides every generated reply.
    """

    wire: WireFormat
    model: str
    messages: tuple[ChatMessage, ...]
    schema: Schema | None = None
    schema_name: str = ""
    tool: str | None = None
    role: str = ""
    prompt_id: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    stream: bool = False
    json_mode: bool = False
    marked: str | None = field(default=None, repr=False)
    seed: int = 0

    @property
    def system(self) -> str:
        """The system messages' text."""
        return "\n".join(message.text for message in self.messages if message.role == "system")

    @property
    def user(self) -> str:
        """The user messages' text."""
        return "\n".join(message.text for message in self.messages if message.role == "user")

    @property
    def text(self) -> str:
        """All messages' text, in order."""
        return "\n".join(message.text for message in self.messages)

    @cached_property
    def digest(self) -> str:
        """sha-256 of model, messages, schema, tool and parameters in canonical JSON; role and headers do not count."""
        messages = [
            [message.role, message.text, *(hashlib.sha256(image).hexdigest() for image in message.images)]
            for message in self.messages
        ]
        return digest([self.model, messages, self.schema, self.tool, dict(self.params)])

    @property
    def images(self) -> tuple[bytes, ...]:
        """The pictures of all messages, in order."""
        return tuple(image for message in self.messages for image in message.images)

    def rng(self) -> random.Random:
        """A random source that depends on the seed and the request alone."""
        return random.Random(f"{self.seed}:{self.digest}")

    def spans(self, tag: str | None = None) -> list[str]:
        """The user message's delimited texts: between ``<tag ...>`` and ``</tag>``; without a tag, all outermost."""
        return material.spans(self.user, tag)

    def sentences(self) -> list[str]:
        """Rough sentences of the longest delimited text, each verbatim."""
        return material.sentences(self.user or self.text)

    def quotation(self, tag: str | None = None, rng: random.Random | None = None) -> str:
        """A verbatim span of 8 to 25 words from the longest delimited text, or from the longest one under ``tag``."""
        source = max(self.spans(tag), key=len, default="") if tag else self.user or self.text
        return material.quotation(source, rng or self.rng())

    def instance(self, **fixed: Any) -> Any:
        """A valid instance of the schema, with some of its top-level properties fixed by you.

        Raises:
            ValueError: The request carries no schema, or no instance was found.
        """
        if self.schema is None:
            raise ValueError("the request asks for free text: it carries no schema.")
        value = instance(self.schema, self.user or self.text, self.rng())
        return {**value, **fixed} if fixed else value


def schema_in(text: str) -> dict[str, Any] | None:
    """The JSON schema that stands in a prompt after the words ``JSON schema``; null if there is none."""
    begin = text.find("{", text.rfind("JSON schema")) if "JSON schema" in text else -1
    if begin < 0:
        return None
    try:
        value, _ = json.JSONDecoder().raw_decode(text, begin)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def digest(value: Any) -> str:
    """sha-256 in hexadecimal of a JSON value in canonical form."""
    canonical = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
