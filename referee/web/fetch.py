"""One page over HTTP, only from public addresses.

The host's name is resolved here, every address is checked, and the connection goes to a checked address with the
name only in ``Host`` and in the TLS handshake: a name that changes its address between check and connection gains
nothing. Each redirect goes through the same checks. The transport is used without a client around it, so there are no
cookies, no logins from files and no proxies from the environment.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass

import httpx

from referee.errors import DataError
from referee.web.client import Answer, WebLimits, ask, tls
from referee.web.targets import Resolver, checked_addresses, checked_url, failure, resolve

_ADDRESSES_TRIED = 3
_LIMITS = WebLimits()


async def fetch_page(
    url: str,
    *,
    limits: WebLimits = _LIMITS,
    resolver: Resolver = resolve,
    transport: httpx.AsyncBaseTransport | None = None,
    allow_local: bool = False,
) -> Answer:
    """Fetch a page; any answer but 200 is an error, and nothing is tried twice.

    Args:
        url: An http or https address without credentials, on port 80 or 443.
        limits: What the fetch may take.
        resolver: Finds a host's addresses; the system's by default.
        transport: What carries the request; stays open. A new one for this fetch by default.
        allow_local: Lets this machine's loopback addresses pass, on any port: for tests, and never from a setting.

    Returns:
        The page's bytes, unpacked.

    Raises:
        DataError: The address or one it redirects to is refused, nobody answers, a limit is passed, or the answer is
            not a page. ``ids["cause"]`` is ``refused``, ``network``, ``limit``, ``status`` or ``answer``.
    """
    target = checked_url(url, allow_local=allow_local)
    carrier = httpx.AsyncHTTPTransport(verify=tls(False)) if transport is None else transport
    carry = _Checked(carrier, resolver, allow_local).carry
    try:
        page = await ask(carry, str(target), limits, headers={"Connection": "close"}, any_host=True)
    finally:
        if transport is None:
            await carrier.aclose()
    if page.status != 200:
        raise _unwanted(page)
    return page


@dataclass(frozen=True)
class _Checked:
    """Carries requests to public addresses alone."""

    transport: httpx.AsyncBaseTransport
    resolver: Resolver
    allow_local: bool

    @asynccontextmanager
    async def carry(self, request: httpx.Request) -> AsyncIterator[httpx.Response]:
        """Check the address, and try another of the host's where one takes no connection."""
        target = checked_url(str(request.url), allow_local=self.allow_local)
        addresses = await checked_addresses(target, self.resolver, allow_local=self.allow_local)
        response = await self._answered(request, target, addresses[:_ADDRESSES_TRIED])
        async with aclosing(response):
            yield response

    async def _answered(self, request: httpx.Request, target: httpx.URL, addresses: Sequence[str]) -> httpx.Response:
        *others, last = addresses
        for address in others:
            try:
                return await self.transport.handle_async_request(_pinned(request, target, address))
            except (httpx.ConnectError, httpx.ConnectTimeout):
                continue
        return await self.transport.handle_async_request(_pinned(request, target, last))


def _pinned(request: httpx.Request, target: httpx.URL, address: str) -> httpx.Request:
    """The request to an address, in the name of the host."""
    name = target.raw_host.decode("ascii").strip("[]")
    headers = [
        (b"Host", target.netloc),
        *((key, value) for key, value in request.headers.raw if key.lower() != b"host"),
    ]
    extensions = {**request.extensions, "sni_hostname": name}
    return httpx.Request("GET", target.copy_with(host=address), headers=headers, extensions=extensions)


def _unwanted(page: Answer) -> DataError:
    status = page.status
    hints = {
        401: "It asks for a login: save the page from your browser and give the file.",
        403: "It does not serve programs, or wants a login: save the page from your browser and give the file.",
        404: "Check the address.",
        410: "Check the address.",
        429: "Too many requests came from your network: wait some minutes.",
        503: "The server is overloaded or in maintenance: wait some minutes.",
    }
    hint = hints.get(status, "Try again later, or save the page from your browser and give the file.")
    return failure(page.url, "status", f"was answered with status {status}", hint=hint, status=status)
