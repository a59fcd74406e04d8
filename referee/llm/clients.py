"""LangChain's clients of the providers, as this package sets them up.

LangChain's and the SDKs' own retries are off: trying again is decided in one place.
"""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import httpx
from pydantic import SecretStr

from referee.llm.bounds import bound_response
from referee.llm.google_client import google_client
from referee.llm.spec import OLLAMA, ModelSpec

if TYPE_CHECKING:
    import httpx2
    from langchain_core.language_models import BaseChatModel

# How much runs at once is decided by the model's own limit, not by a connection pool.
_KEPT_CONNECTIONS = 64
# Bodies are bounded as they are counted, packed ones could be of any length.
_UNPACKED = {"accept-encoding": "identity"}


def connections(base_url: str | None, timeout_s: float) -> httpx.AsyncClient:
    """An HTTP client of our own, to be closed by who asked; a proxy of the environment never gets loopback calls."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=_KEPT_CONNECTIONS)
    return httpx.AsyncClient(limits=limits, **_as_ours(base_url, timeout_s))


def openai_connections(base_url: str | None, timeout_s: float) -> httpx2.AsyncClient:
    """The same for OpenAI's SDK, which takes httpx2: its pool does not look at all connections for each of them."""
    import httpx2

    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=_KEPT_CONNECTIONS)
    return httpx2.AsyncClient(limits=limits, **_as_ours(base_url, timeout_s))


def _as_ours(base_url: str | None, timeout_s: float) -> dict[str, Any]:
    proxied = httpx.URL(base_url or "").host not in ("127.0.0.1", "::1", "localhost")
    return {
        "verify": _tls(proxied),
        "timeout": timeout_s,
        "trust_env": proxied,
        "headers": _UNPACKED,
        "event_hooks": {"response": [bound_response]},
    }


class Carrier:
    """What stands in for the network below an SDK: it is given a request's body and returns a status and a body.

    It is a transport for httpx and for httpx2 alike, whose requests and responses go by the same names.
    """

    def __init__(self, carry: Callable[[bytes], Awaitable[tuple[int, bytes]]]) -> None:
        self._carry = carry

    def client(self, library: Any) -> Any:
        """A client of ``httpx`` or ``httpx2`` over it."""
        carry = self._carry

        class Transport(library.AsyncBaseTransport):  # type: ignore[misc]
            async def handle_async_request(self, request: Any) -> Any:
                status, body = await carry(await request.aread())
                return library.Response(status, headers={"content-type": "application/json"}, content=body)

        return library.AsyncClient(transport=Transport(), event_hooks={"response": [bound_response]})


@cache
def _tls(trust_env: bool) -> ssl.SSLContext:
    """One for all clients: to read the certificates of all authorities takes a twentieth of a second."""
    return httpx.create_ssl_context(trust_env=trust_env)


@cache
def _never_used() -> httpx.Client:
    """For LangChain, which otherwise makes one that blocks beside the one that does not, certificates and all."""
    return httpx.Client(verify=_tls(True))


class Clients:
    """The clients of one model: one for each temperature and limit, over the same connections."""

    def __init__(
        self,
        spec: ModelSpec,
        *,
        key: str | None,
        timeout_s: float,
        base_url: str | None,
        carrier: Carrier | None = None,
        context_tokens: int | None = None,
    ) -> None:
        self._spec = spec
        self._context_tokens = context_tokens
        self._carrier = carrier
        self._key = key
        self._timeout_s = timeout_s
        self._base_url = base_url
        self._chats: dict[tuple[float | None, int], BaseChatModel] = {}
        self._http: httpx.AsyncClient | None = None
        self._closers: list[Callable[[], Awaitable[None]]] = []

    def chat(self, temperature: float | None, max_tokens: int) -> BaseChatModel:
        """The client for such calls; OpenAI's and those of servers like it take the limit with each call."""
        own = {"anthropic": self._anthropic, "google_genai": self._google, OLLAMA: self._ollama}
        make = own.get(self._spec.provider)
        kind = temperature, max_tokens if make else 0
        if kind not in self._chats:
            self._chats[kind] = make(temperature, max_tokens) if make else self._openai(temperature)
        return self._chats[kind]

    async def aclose(self) -> None:
        """Close the connections."""
        while self._closers:
            await self._closers.pop()()

    def _openai(self, temperature: float | None) -> BaseChatModel:
        from referee.llm.openai_chat import ChatOpenAIWithReasoning

        http = self._openai_connections()
        self._closers.append(http.aclose)
        return ChatOpenAIWithReasoning(
            model=self._spec.name,
            api_key=SecretStr(self._key or "none"),
            base_url=self._base_url,
            temperature=temperature,
            timeout=self._timeout_s,
            stream_chunk_timeout=self._timeout_s,
            use_responses_api=False,
            max_retries=0,
            http_client=_never_used(),
            http_async_client=http,
        )

    def _anthropic(self, temperature: float | None, max_tokens: int) -> BaseChatModel:
        import httpx2
        from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient
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
            api_key=self._key,
            base_url=chat.anthropic_api_url,
            timeout=self._timeout_s,
            max_retries=0,
            http_client=self._carrier.client(httpx2)
            if self._carrier
            else DefaultAsyncHttpxClient(
                timeout=self._timeout_s, headers=_UNPACKED, event_hooks={"response": [bound_response]}
            ),
        )
        chat.__dict__["_async_client"] = client
        self._closers.append(client.close)
        return chat

    def _google(self, temperature: float | None, max_tokens: int) -> BaseChatModel:
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
        chat.client = google_client(self._key, self._connections(), self._base_url)
        return chat

    def _ollama(self, temperature: float | None, max_tokens: int) -> BaseChatModel:
        """Ollama in its own format: the request says how long the context is, which it cuts prompts to in silence."""
        from referee.llm.ollama_chat import ChatOllamaWithReasoning

        ours = _as_ours(self._base_url, self._timeout_s)
        # Without a header of ours the client would send OLLAMA_API_KEY to any address; a redirect would get the paper.
        ours["headers"] = {**ours["headers"], "authorization": f"Bearer {self._key or 'none'}"}
        ours["follow_redirects"] = False
        chat = ChatOllamaWithReasoning(
            model=self._spec.name,
            reasoning=True,
            base_url=self._base_url,
            num_ctx=self._context_tokens,
            num_predict=max_tokens,
            temperature=temperature,
            sync_client_kwargs={"verify": ours["verify"], "trust_env": False},
            async_client_kwargs=ours,
        )
        chat._client._client.close()  # LangChain makes one that blocks beside the one that does not
        self._closers.append(chat._async_client._client.aclose)
        return chat

    def _openai_connections(self) -> httpx2.AsyncClient:
        import httpx2

        carrier = self._carrier
        return carrier.client(httpx2) if carrier else openai_connections(self._base_url, self._timeout_s)

    def _connections(self) -> httpx.AsyncClient:
        """The HTTP client that Google's chats share, closed with the run."""
        if self._http is None:
            carrier = self._carrier
            self._http = carrier.client(httpx) if carrier else connections(self._base_url, self._timeout_s)
            self._closers.append(self._http.aclose)
        return self._http


def transport_errors() -> tuple[type[Exception], ...]:
    """What a connection can raise under any of the SDKs."""
    import httpx2

    return (httpx.HTTPError, httpx2.HTTPError, OSError, TimeoutError)


def sdk_errors(provider: str) -> tuple[type[Exception], ...]:
    """What a provider's SDK, and LangChain for it, can raise."""
    if provider == "anthropic":
        from anthropic import AnthropicError

        return (AnthropicError,)
    if provider == "google_genai":
        from google.genai.errors import APIError
        from langchain_google_genai.chat_models import ChatGoogleGenerativeAIError

        return APIError, ChatGoogleGenerativeAIError
    if provider == OLLAMA:
        from ollama import RequestError, ResponseError

        return RequestError, ResponseError
    from openai import OpenAIError

    return (OpenAIError,)


def sampling(spec: ModelSpec) -> dict[str, Any]:
    """The embedded model repeats itself and the end of its prompt, unless long copied runs are made unlikely."""
    if not spec.is_local:
        return {}
    against_copies = {"dry_multiplier": 0.8, "dry_base": 1.75, "dry_allowed_length": 16, "dry_penalty_last_n": 1024}
    return {"repeat_penalty": 1.1, "cache_prompt": True, **against_copies}
