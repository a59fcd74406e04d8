"""One page over HTTP, within limits of size, time and redirects, and only from public addresses.

The HTTP library decompresses each piece that arrives as a whole, which lets 64 KiB become gigabytes in some
encodings. Here only gzip is taken, and no more than the limit is ever decompressed.

The host's name is resolved here, every address is checked, and the connection goes to a checked address with the
name only in ``Host`` and in the TLS handshake: a name that changes its address between check and connection gains
nothing. Each redirect goes through the same checks. The transport is used without a client around it, so there are no
cookies, no logins from files, no proxies from the environment, and no redirects but ours.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import dataclass, replace

import httpx

from referee.errors import DataError
from referee.web.targets import Resolver, checked_addresses, checked_url, failure, resolve, scrubbed

_GZIP = ("gzip", "x-gzip")
_PLAIN = ("", "identity")
_WINDOW = 16 + zlib.MAX_WBITS
_CHUNK = 2**16


class BodyTooLarge(Exception):
    """The body passes the limit, or says that it will."""


class NotDecodable(Exception):
    """The body's compression is another one than asked for, or damaged; the text says what, without its bytes."""


async def read_body(response: httpx.Response, max_bytes: int) -> bytes:
    """The decompressed body.

    Raises:
        BodyTooLarge: More than ``max_bytes`` bytes come, before or after decompression.
        NotDecodable: It is not plain or gzip, or its gzip is damaged or cut off.
        httpx.HTTPError: The connection failed while it was read.
    """
    encoding = response.headers.get("Content-Encoding", "").strip().lower()
    if encoding not in (*_PLAIN, *_GZIP):
        raise NotDecodable(f"its encoding is {encoding[:40]!r}")
    if _announced(response) > max_bytes:
        raise BodyTooLarge
    gunzip = _Gunzip() if encoding in _GZIP else None
    body = bytearray()
    received = 0
    assert isinstance(response.stream, httpx.AsyncByteStream)
    async for chunk in response.stream:
        received += len(chunk)
        if received > max_bytes:
            raise BodyTooLarge
        for piece in gunzip.pieces(chunk) if gunzip else (chunk,):
            body += piece
            if len(body) > max_bytes:
                raise BodyTooLarge
    if gunzip is not None and received:
        body += gunzip.rest()
    return bytes(body)


def _announced(response: httpx.Response) -> int:
    length = response.headers.get("Content-Length", "")
    return int(length) if len(length) < 20 and length.isascii() and length.isdigit() else 0


class _Gunzip:
    """A gzip stream, decompressed in pieces of bounded size."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(_WINDOW)

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        """What a piece of the stream becomes; bytes after the stream's end are left out."""
        try:
            while chunk and not self._stream.eof:
                yield self._stream.decompress(chunk, _CHUNK)
                chunk = self._stream.unconsumed_tail
        except zlib.error as error:
            raise NotDecodable("its gzip compression is damaged") from error

    def rest(self) -> bytes:
        """The last bytes, which no further piece pushed out; a stream that was cut off is refused."""
        rest = self._stream.flush()
        if not self._stream.eof:
            raise NotDecodable("its gzip compression is cut off")
        return rest


USER_AGENT = "referee"
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_ADDRESSES_TRIED = 3


@dataclass(frozen=True)
class WebLimits:
    """What one fetch may take: bytes after decompression, seconds, redirects."""

    max_bytes: int = 20 * 2**20
    connect_s: float = 10.0
    read_s: float = 20.0
    total_s: float = 60.0
    max_redirects: int = 5


@dataclass(frozen=True)
class Fetched:
    """A page that came.

    ``url`` is where it was in the end and ``redirects`` the addresses that led there, in order. ``content_type`` is
    lower case with its parameters, or empty.
    """

    url: str
    content: bytes
    content_type: str
    status: int
    redirects: tuple[str, ...] = ()


async def fetch_page(
    url: str,
    *,
    limits: WebLimits = WebLimits(),
    resolver: Resolver = resolve,
    transport: httpx.AsyncBaseTransport | None = None,
    allow_local: bool = False,
) -> Fetched:
    """Fetch a page; any answer but 200 is an error, and nothing is tried twice.

    Args:
        url: An http or https address without credentials, on port 80 or 443.
        limits: What the fetch may take.
        resolver: Finds a host's addresses; the system's by default.
        transport: What carries the request; stays open. A new one for this fetch by default.
        allow_local: Lets this machine's loopback addresses pass, on any port: for tests, and never from a setting.

    Returns:
        The page's bytes, decompressed.

    Raises:
        DataError: The address or one it redirects to is refused, nobody answers, a limit is passed, or the answer is
            not a page. ``ids["cause"]`` is ``refused``, ``network``, ``limit``, ``status`` or ``answer``.
    """
    own = transport is None
    carrier = httpx.AsyncHTTPTransport() if transport is None else transport
    fetch = _Fetch(limits, resolver, carrier, allow_local)
    try:
        async with asyncio.timeout(limits.total_s):
            return await fetch.follow(url)
    except TimeoutError as error:
        raise failure(url, "limit", f"was not here after {limits.total_s:g} seconds") from error
    finally:
        if own:
            await carrier.aclose()


@dataclass(frozen=True)
class _Fetch:
    limits: WebLimits
    resolver: Resolver
    transport: httpx.AsyncBaseTransport
    allow_local: bool

    async def follow(self, url: str) -> Fetched:
        """Go from address to address until a page comes."""
        target = checked_url(url, allow_local=self.allow_local)
        passed: list[str] = []
        while True:
            try:
                answer = await self._ask(target)
            except DataError as error:
                if not passed:
                    raise
                raise _after_redirect(url, error) from error
            if isinstance(answer, Fetched):
                return replace(answer, redirects=tuple(passed))
            passed.append(str(target))
            if len(passed) > self.limits.max_redirects:
                raise failure(url, "limit", f"redirects more than {self.limits.max_redirects} times")
            target = self._next(url, target, answer)
            if str(target) in passed:
                raise failure(url, "answer", f"redirects in a circle (again to {scrubbed(str(target))!r})")

    def _next(self, url: str, target: httpx.URL, location: str) -> httpx.URL:
        try:
            joined = str(target.join(location))
        except (httpx.InvalidURL, ValueError) as error:
            raise failure(url, "answer", "redirects to what is no address") from error
        try:
            return checked_url(joined, allow_local=self.allow_local)
        except DataError as error:
            raise _after_redirect(url, error) from error

    async def _ask(self, target: httpx.URL) -> Fetched | str:
        """The page, or the address it redirects to; another of the host's addresses where one takes no connection."""
        addresses = await checked_addresses(target, self.resolver, allow_local=self.allow_local)
        *others, last = addresses[:_ADDRESSES_TRIED]
        for address in others:
            try:
                return await self._ask_at(target, address)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                continue
            except httpx.HTTPError as error:
                raise self._explained(target, error) from error
        try:
            return await self._ask_at(target, last)
        except httpx.HTTPError as error:
            raise self._explained(target, error) from error

    async def _ask_at(self, target: httpx.URL, address: str) -> Fetched | str:
        response = await self.transport.handle_async_request(_request(target, address, self.limits))
        async with aclosing(response):
            location: str = response.headers.get("Location", "")
            if response.status_code in _REDIRECTS and location:
                return location
            if response.status_code != 200:
                raise _unwanted(target, response)
            try:
                content = await read_body(response, self.limits.max_bytes)
            except BodyTooLarge as error:
                hint = "Give a smaller file, or save it yourself and give its path."
                what = f"has more than the {self.limits.max_bytes / 2**20:g} MiB that are fetched"
                raise failure(str(target), "limit", what, hint=hint) from error
            except NotDecodable as error:
                raise failure(str(target), "answer", f"came in a form that cannot be read: {error}") from error
            content_type = response.headers.get("Content-Type", "").lower()
            return Fetched(str(target), content, content_type, response.status_code)

    def _explained(self, target: httpx.URL, error: httpx.HTTPError) -> DataError:
        """The transport's error in words: what it said may hold addresses, so it is not repeated."""
        if isinstance(error, httpx.ConnectTimeout):
            return failure(str(target), "network", f"took no connection within {self.limits.connect_s:g} seconds")
        if isinstance(error, httpx.TimeoutException):
            return failure(str(target), "limit", f"sent nothing for {self.limits.read_s:g} seconds")
        if isinstance(error, httpx.ConnectError):
            certificate = "CERTIFICATE_VERIFY_FAILED" in str(error)
            cause = "its certificate is not valid for it" if certificate else "it takes no connection"
            return failure(str(target), "network", f"cannot be reached: {cause}")
        if isinstance(error, httpx.RemoteProtocolError):
            return failure(str(target), "answer", "did not answer in HTTP, or broke off in the middle")
        return failure(str(target), "network", f"broke off ({type(error).__name__})")


def _after_redirect(url: str, error: DataError) -> DataError:
    """The same error, which also names the address that was asked for."""
    return DataError(f"{scrubbed(url)!r} redirects: {error.message}", hint=error.hint, ids=error.ids)


def _request(target: httpx.URL, address: str, limits: WebLimits) -> httpx.Request:
    """A request to the address, in the name of the host."""
    headers = {
        "Host": target.netloc.decode("ascii"),
        "User-Agent": USER_AGENT,
        "Accept": "*/*",
        "Accept-Encoding": "gzip",
        "Connection": "close",
    }
    timeouts = {"connect": limits.connect_s, "read": limits.read_s, "write": limits.read_s, "pool": limits.connect_s}
    name = target.raw_host.decode("ascii").strip("[]")
    extensions = {"timeout": timeouts, "sni_hostname": name}
    return httpx.Request("GET", target.copy_with(host=address), headers=headers, extensions=extensions)


def _unwanted(target: httpx.URL, response: httpx.Response) -> DataError:
    status = response.status_code
    hints = {
        401: "It asks for a login: save the page from your browser and give the file.",
        403: "It does not serve programs, or wants a login: save the page from your browser and give the file.",
        404: "Check the address.",
        410: "Check the address.",
        429: "Too many requests came from your network: wait some minutes.",
        503: "The server is overloaded or in maintenance: wait some minutes.",
    }
    hint = hints.get(status, "Try again later, or save the page from your browser and give the file.")
    return failure(str(target), "status", f"was answered with status {status}", hint=hint, status=status)
