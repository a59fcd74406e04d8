"""Sending one request to a provider through LangChain, and reading text and tokens back."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from referee.llm.bounds import body_too_long, bounded_body
from referee.llm.clients import Carrier, Clients, sampling, sdk_errors, transport_errors
from referee.llm.completions import TOO_LONG, TOOL, Completion, collected, whole
from referee.llm.dialects import Schema, bounded_schema, strict_schema
from referee.llm.images import PromptImage
from referee.llm.spec import OLLAMA, ModelSpec

if TYPE_CHECKING:
    from langchain_core.messages import AIMessageChunk

Messages = tuple[tuple[str, str], ...]

# These providers put the schema of a structured reply before the messages, where it would end what calls share.
_SCHEMA_FIRST = ("openai", "anthropic")
_MALFORMED = (ValueError, TypeError, AttributeError, KeyError, IndexError)


@dataclass(frozen=True, slots=True)
class WireRequest:
    """One request: messages as (role, text), system and user first, the reply's schema, parameters.

    ``native`` is whether the provider's own structured output is used; otherwise the schema stands in the prompt.
    ``prefix_chars`` is how much of the first user message the calls of a run share. ``digest`` names the call.
    ``images`` stand in the first user message, behind what is shared.
    """

    messages: Messages
    schema: Schema
    max_output_tokens: int
    temperature: float | None
    native: bool
    role: str
    prompt: str
    prefix_chars: int = 0
    digest: str = ""
    images: tuple[PromptImage, ...] = ()


def load_sdk(provider: str) -> None:
    """Import what sending to this provider needs, which takes about a second, ahead of the first call."""
    if provider == "anthropic":
        import langchain_anthropic  # noqa: F401
    elif provider == "google_genai":
        import langchain_google_genai  # noqa: F401
    elif provider == OLLAMA:
        import langchain_ollama  # noqa: F401
    else:
        import langchain_openai  # noqa: F401


class Wire:
    """A chat model of one provider."""

    def __init__(
        self,
        spec: ModelSpec,
        *,
        key: str | None,
        timeout_s: float,
        base_url: str | None = None,
        carrier: Carrier | None = None,
        context_tokens: int | None = None,
    ) -> None:
        self._spec = spec
        base_url = base_url or spec.base_url
        self._clients = Clients(
            spec, key=key, timeout_s=timeout_s, base_url=base_url, carrier=carrier, context_tokens=context_tokens
        )

    async def send(self, request: WireRequest) -> Completion:
        """Send once. Raises whatever LangChain, the SDK or the transport raises.

        A body that is longer than a reply can be is not kept: an empty reply that was cut off stands for it.
        """
        from langchain_core.messages import AIMessage

        chat = self._clients.chat(request.temperature, request.max_output_tokens)
        with bounded_body(request.max_output_tokens):
            try:
                message = await chat.ainvoke(self._messages(request), **self._arguments(request))
            except Exception as error:
                if body_too_long(error):
                    return TOO_LONG
                raise
        if not isinstance(message, AIMessage):
            raise TypeError(f"expected an AIMessage, got {type(message).__name__}")
        return whole(message, request.max_output_tokens)

    async def stream(self, request: WireRequest, begun: Callable[[], None]) -> Completion:
        """Send once and have the reply in pieces; ``begun`` is told of each. Raises as ``send`` does.

        A server that answers without a piece is sent the request again, for a reply as a whole; the completion says
        whether it was streamed.
        """
        chat = self._clients.chat(request.temperature, request.max_output_tokens)
        arguments = self._arguments(request)
        if self._spec.provider not in ("anthropic", "google_genai", OLLAMA):
            arguments["stream_usage"] = True
        came = False

        def seen() -> None:
            nonlocal came
            came = True
            begun()

        with bounded_body(request.max_output_tokens):
            chunks = cast("AsyncGenerator[AIMessageChunk]", chat.astream(self._messages(request), **arguments))
            try:
                completion = await collected(chunks, request.max_output_tokens, seen)
            except ValueError as error:
                if came or isinstance(error, self._own_errors()):
                    raise
                completion = None
        return completion if completion is not None else await self.send(request)

    def listed_for_images(self) -> bool | None:
        """Whether LangChain's list of models says that this one takes pictures; null where it does not know it."""
        profile = self._clients.chat(None, 1).profile or {}
        return bool(profile["image_inputs"]) if "image_inputs" in profile else None

    async def aclose(self) -> None:
        """Close the connections."""
        await self._clients.aclose()

    def errors(self) -> tuple[type[Exception], ...]:
        """What a send can raise: the SDK's own tree, the transport's, and those of a body that is no valid answer."""
        return (*self._own_errors(), *_MALFORMED)

    def _own_errors(self) -> tuple[type[Exception], ...]:
        return (*sdk_errors(self._spec.provider), *transport_errors())

    def _messages(self, request: WireRequest) -> list[tuple[str, Any]]:
        """The messages as LangChain takes them, the schema among them where it goes no other way."""
        (_, system), (_, user), *rest = request.messages
        if not request.native and not request.prefix_chars:
            system = f"{system}\n\n{_schema_text(request.schema)}"
        elif not request.native or self._schema_in_text(request):
            user = f"{user}\n\n{_schema_text(request.schema)}"
        content: Any = user
        marked = bool(request.prefix_chars) and self._spec.provider == "anthropic"
        if marked or request.images:
            shared: dict[str, Any] = {"type": "text", "text": user[: request.prefix_chars]}
            if marked:
                shared["cache_control"] = {"type": "ephemeral"}
            pictures = [{"type": "image", "base64": one.base64, "mime_type": one.media} for one in request.images]
            own = {"type": "text", "text": user[request.prefix_chars :]}
            content = [*([shared] if request.prefix_chars else []), *pictures, own]
        return [("system", system), ("user", content), *rest]

    def _schema_in_text(self, request: WireRequest) -> bool:
        if self._spec.provider == OLLAMA:  # which holds a reply to the schema, and shows the model nothing of it
            return True
        return bool(request.prefix_chars) and self._spec.provider in _SCHEMA_FIRST

    def _arguments(self, request: WireRequest) -> dict[str, Any]:
        if self._spec.provider == "anthropic":
            if not request.native or self._schema_in_text(request):
                return {}
            tool = {"name": TOOL, "description": "Hand in the reply.", "input_schema": bounded_schema(request.schema)}
            return {"tools": [tool], "tool_choice": {"type": "tool", "name": TOOL}}
        if self._spec.provider == "google_genai":
            if not request.native:
                return {}
            schema = bounded_schema(request.schema)
            return {"response_mime_type": "application/json", "response_json_schema": schema}
        if self._spec.provider == OLLAMA:
            return {"format": bounded_schema(request.schema)} if request.native else {}
        return self._openai_arguments(request)

    def _openai_arguments(self, request: WireRequest) -> dict[str, Any]:
        """Parameters for OpenAI and all servers like it.

        The format of the reply goes in as part of the body: as a parameter of LangChain's, it would have the SDK parse
        the reply, and keep every state of one that comes in pieces.
        """
        body: dict[str, Any] = {}
        arguments: dict[str, Any] = {"extra_body": body}
        if self._spec.provider == "openai":
            body["max_completion_tokens"] = request.max_output_tokens
        else:
            body.update({"max_tokens": request.max_output_tokens, **sampling(self._spec)})
            arguments["extra_headers"] = {"X-Referee-Role": request.role, "X-Referee-Prompt": request.prompt}
        if request.native and self._schema_in_text(request):
            body["response_format"] = {"type": "json_object"}
        elif request.native:
            dialect = strict_schema if self._spec.provider == "openai" else bounded_schema
            schema = {"name": TOOL, "strict": True, "schema": dialect(request.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return arguments


def _schema_text(schema: Schema) -> str:
    text = json.dumps(bounded_schema(schema), ensure_ascii=False, separators=(",", ":"))
    return f"Reply with one JSON object and nothing else. Its JSON schema:\n{text}"
