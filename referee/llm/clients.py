"""HTTP clients of our own for the providers' SDKs: bounded, closed with the run, without retries of their own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, cast

import httpx

from referee.llm.bounds import bound_response
from referee.llm.spec import ModelSpec
from referee.web import tls

# How much runs at once is decided by the model's own limit, not by a connection pool.
_KEPT_CONNECTIONS = 64
# Bodies are bounded as they are counted, packed ones could be of any length.
UNPACKED = {"accept-encoding": "identity"}


def connections(base_url: str | None, timeout_s: float, library: Any = httpx) -> Any:
    """An HTTP client of our own, to be closed by who asked; a proxy of the environment never gets loopback calls.

    ``library`` is ``httpx`` or ``httpx2``, which OpenAI's SDK takes: its pool does not look at all of them each time.
    """
    limits = library.Limits(max_connections=None, max_keepalive_connections=_KEPT_CONNECTIONS)
    return library.AsyncClient(limits=limits, **as_ours(base_url, timeout_s))


def as_ours(base_url: str | None, timeout_s: float) -> dict[str, Any]:
    """What all our HTTP clients for SDKs are made with."""
    hooks = {"response": [bound_response]}
    return {**_way(base_url), "timeout": timeout_s, "headers": UNPACKED, "event_hooks": hooks}


def _way(base_url: str | None) -> dict[str, Any]:
    proxied = httpx.URL(base_url or "").host not in ("127.0.0.1", "::1", "localhost")
    return {"verify": tls(proxied), "trust_env": proxied}


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
def never_used() -> httpx.Client:
    """For LangChain, which otherwise makes one that blocks beside the one that does not, certificates and all."""
    return httpx.Client(verify=tls(True))


@dataclass
class Connection:
    """How a model is reached, and what was opened for that. ``base_url`` is null at a provider's own address."""

    spec: ModelSpec
    key: str | None
    timeout_s: float
    base_url: str | None = None
    carrier: Carrier | None = None
    context_tokens: int | None = None
    closers: list[Callable[[], Awaitable[None]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.base_url = self.base_url or self.spec.base_url

    def new_http(self, library: Any) -> Any:
        """An HTTP client of ``httpx`` or ``httpx2``, closed with the rest."""
        ours = self.carrier.client(library) if self.carrier else connections(self.base_url, self.timeout_s, library)
        self.closers.append(ours.aclose)
        return ours

    @cached_property
    def http(self) -> httpx.AsyncClient:
        """One HTTP client for all that this model's provider is asked."""
        return cast("httpx.AsyncClient", self.new_http(httpx))

    @cached_property
    def downloads(self) -> httpx.AsyncClient:
        """An HTTP client for files, whose size is bounded where they are asked for."""
        client = httpx.AsyncClient(**_way(self.base_url))
        self.closers.append(client.aclose)
        return client

    async def aclose(self) -> None:
        """Close the connections."""
        while self.closers:
            await self.closers.pop()()


def transport_errors() -> tuple[type[Exception], ...]:
    """What a connection can raise under any of the SDKs."""
    import httpx2

    return (httpx.HTTPError, httpx2.HTTPError, OSError, TimeoutError)
