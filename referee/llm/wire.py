"""Sending one request to a provider through LangChain, and reading text and tokens back.

LangChain's and the SDKs' own retries are off: trying again is decided in one place.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx
from pydantic import SecretStr

from referee.llm.dialects import Schema, bounded_schema, strict_schema
from referee.llm.spec import ModelSpec

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage

Messages = tuple[tuple[str, str], ...]
_TOOL = "reply"

# How much runs at once is decided by the model's own limit, not by a connection pool.
_NO_LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=64)


@dataclass(frozen=True)
class WireRequest:
    """One request: messages as (role, text), the reply's schema, parameters.

    ``native`` is whether the provider's own structured output is used; otherwise the schema stands in the prompt.
    """

    messages: Messages
    schema: Schema
    max_output_tokens: int
    temperature: float | None
    native: bool
    role: str
    prompt: str


@dataclass(frozen=True)
class Completion:
    """What came back. Token counts are null where the provider gave none."""

    text: str
    input_tokens: int | None
    output_tokens: int | None
    cut_off: bool


def connections(base_url: str | None, timeout_s: float) -> httpx.AsyncClient:
    """An HTTP client of our own, to be closed by who asked; a proxy of the environment never gets loopback calls."""
    proxied = httpx.URL(base_url or "").host not in ("127.0.0.1", "::1", "localhost")
    return httpx.AsyncClient(timeout=timeout_s, limits=_NO_LIMITS, trust_env=proxied)


def load_sdk(provider: str) -> None:
    """Import what sending to this provider needs, which takes about a second, ahead of the first call."""
    if provider == "anthropic":
        import langchain_anthropic  # noqa: F401
    elif provider == "google_genai":
        import langchain_google_genai  # noqa: F401
    else:
        import langchain_openai  # noqa: F401


class Wire:
    """A chat model of one provider."""

    def __init__(self, spec: ModelSpec, *, key: str | None, timeout_s: float, base_url: str | None = None) -> None:
        self._spec = spec
        self._key = key
        self._timeout_s = timeout_s
        self._base_url = base_url or spec.base_url
        self._chats: dict[tuple[float | None, int], BaseChatModel] = {}
        self._http: httpx.AsyncClient | None = None
        self._closers: list[Callable[[], Awaitable[None]]] = []

    async def send(self, request: WireRequest) -> Completion:
        """Send once. Raises whatever LangChain, the SDK or the transport raises."""
        from langchain_core.messages import AIMessage

        messages = list(request.messages)
        if not request.native:
            messages = _with_schema(messages, request.schema)
        chat = self._chat(request.temperature, request.max_output_tokens)
        message = await chat.ainvoke(messages, **self._arguments(request))
        if not isinstance(message, AIMessage):
            raise TypeError(f"expected an AIMessage, got {type(message).__name__}")
        return _completion(message)

    async def aclose(self) -> None:
        """Close the connections."""
        while self._closers:
            await self._closers.pop()()

    def errors(self) -> tuple[type[Exception], ...]:
        """What a send can raise: the SDK's own tree, the transport's, and those of a body that is no valid answer."""
        transport = (httpx.HTTPError, OSError, TimeoutError)
        malformed = (ValueError, TypeError, AttributeError, KeyError, IndexError)
        if self._spec.provider == "anthropic":
            from anthropic import AnthropicError

            return (AnthropicError, *transport, *malformed)
        if self._spec.provider == "google_genai":
            from google.genai.errors import APIError
            from langchain_google_genai.chat_models import ChatGoogleGenerativeAIError

            return (APIError, ChatGoogleGenerativeAIError, *transport, *malformed)
        from openai import OpenAIError

        return (OpenAIError, *transport, *malformed)

    def _chat(self, temperature: float | None, max_tokens: int) -> BaseChatModel:
        chat = self._chats.get((temperature, max_tokens))
        if chat is None:
            chat = self._build(temperature, max_tokens)
            self._chats[temperature, max_tokens] = chat
        return chat

    def _build(self, temperature: float | None, max_tokens: int) -> BaseChatModel:
        if self._spec.provider == "anthropic":
            return self._anthropic(temperature, max_tokens)
        if self._spec.provider == "google_genai":
            return self._google(temperature, max_tokens)
        return self._openai(temperature, max_tokens)

    def _openai(self, temperature: float | None, max_tokens: int) -> BaseChatModel:
        from langchain_openai import ChatOpenAI

        own_server = self._spec.provider != "openai"
        return ChatOpenAI(
            model=self._spec.name,
            api_key=SecretStr(self._key or "none"),
            base_url=self._base_url,
            temperature=temperature,
            max_completion_tokens=None if own_server else max_tokens,
            extra_body={"max_tokens": max_tokens, **self._sampling()} if own_server else None,
            timeout=self._timeout_s,
            max_retries=0,
            http_async_client=self._connections(),
        )

    def _anthropic(self, temperature: float | None, max_tokens: int) -> BaseChatModel:
        from anthropic import AsyncAnthropic
        from langchain_anthropic import ChatAnthropic

        chat = ChatAnthropic(
            model=self._spec.name,
            api_key=SecretStr(self._key or ""),
            base_url=self._base_url,
            max_tokens=max_tokens,
            temperature=temperature,
            timeout=self._timeout_s,
            max_retries=0,
        )
        # LangChain shares one HTTP client per process, which cannot be closed and dies with the first event loop.
        client = AsyncAnthropic(
            api_key=self._key, base_url=chat.anthropic_api_url, timeout=self._timeout_s, max_retries=0
        )
        chat.__dict__["_async_client"] = client
        self._closers.append(client.close)
        return chat

    def _google(self, temperature: float | None, max_tokens: int) -> BaseChatModel:
        from google.genai import Client
        from google.genai.types import HttpOptions
        from langchain_google_genai import ChatGoogleGenerativeAI

        chat = ChatGoogleGenerativeAI(
            model=self._spec.name,
            api_key=SecretStr(self._key or ""),
            base_url=self._base_url,
            max_tokens=max_tokens,
            temperature=temperature,
            timeout=self._timeout_s,
            max_retries=1,
        )
        options = HttpOptions(base_url=self._base_url, httpx_async_client=self._connections())
        chat.client = Client(api_key=self._key, http_options=options)
        return chat

    def _connections(self) -> httpx.AsyncClient:
        """The HTTP client of this model, closed with the run."""
        if self._http is None:
            self._http = connections(self._base_url, self._timeout_s)
            self._closers.append(self._http.aclose)
        return self._http

    def _sampling(self) -> dict[str, Any]:
        """The embedded model repeats itself and the end of its prompt, unless long copied runs are made unlikely."""
        if not self._spec.is_local:
            return {}
        against_copies = {"dry_multiplier": 0.8, "dry_base": 1.75, "dry_allowed_length": 16, "dry_penalty_last_n": 1024}
        return {"repeat_penalty": 1.1, "cache_prompt": True, **against_copies}

    def _arguments(self, request: WireRequest) -> dict[str, Any]:
        if self._spec.provider == "anthropic":
            if not request.native:
                return {}
            tool = {"name": _TOOL, "description": "Hand in the reply.", "input_schema": bounded_schema(request.schema)}
            return {"tools": [tool], "tool_choice": {"type": "tool", "name": _TOOL}}
        if self._spec.provider == "google_genai":
            if not request.native:
                return {}
            schema = bounded_schema(request.schema)
            return {"response_mime_type": "application/json", "response_json_schema": schema}
        arguments: dict[str, Any] = {}
        if self._spec.provider != "openai":
            arguments["extra_headers"] = {"X-Referee-Role": request.role, "X-Referee-Prompt": request.prompt}
        if request.native:
            dialect = strict_schema if self._spec.provider == "openai" else bounded_schema
            schema = {"name": _TOOL, "strict": True, "schema": dialect(request.schema)}
            arguments["response_format"] = {"type": "json_schema", "json_schema": schema}
        return arguments


def _with_schema(messages: list[tuple[str, str]], schema: Schema) -> list[tuple[str, str]]:
    text = json.dumps(bounded_schema(schema), ensure_ascii=False, separators=(",", ":"))
    (role, system), *rest = messages
    return [(role, f"{system}\n\nReply with one JSON object and nothing else. Its JSON schema:\n{text}"), *rest]


def _completion(message: AIMessage) -> Completion:
    usage = message.usage_metadata
    reason = str(
        message.response_metadata.get("finish_reason") or message.response_metadata.get("stop_reason") or ""
    ).lower()
    return Completion(
        text=_text(message),
        input_tokens=usage["input_tokens"] if usage else None,
        output_tokens=usage["output_tokens"] if usage else None,
        cut_off=reason in ("length", "max_tokens"),
    )


def _text(message: AIMessage) -> str:
    for call in message.tool_calls:
        if call["name"] == _TOOL:
            return json.dumps(call["args"], ensure_ascii=False)
    return str(message.text)


def completion_in(error: Exception) -> Completion | None:
    """The reply inside an error: the openai SDK raises where a structured reply met its token limit."""
    completion = getattr(error, "completion", None)
    if type(error).__name__ != "LengthFinishReasonError" or completion is None:
        return None
    usage = completion.usage
    return Completion(
        text=completion.choices[0].message.content or "",
        input_tokens=usage.prompt_tokens if usage else None,
        output_tokens=usage.completion_tokens if usage else None,
        cut_off=True,
    )
