"""The one HTTP client: services, OpenReview, web pages and results of batches are asked through it.

Redirects are followed here, hop by hop: only to the same host, or, for a page without secrets, to any host that may be
asked. So no secret and no body goes to a host that nobody chose. A body is read piece by piece and bounded in bytes, as
it comes and as it unpacks; the HTTP library unpacks each piece as a whole, which lets 64 KiB become gigabytes in some
encodings, so only gzip is asked for and unpacked here. An answer is bounded in seconds from its first word to its last.
"""

from __future__ import annotations

import asyncio
import ssl
import time
import zlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import cache
from pathlib import Path
from typing import Any

import httpx

from referee.errors import DataError
from referee.schemas.foreign import Unreadable, number
from referee.web.targets import checked_url, failure, scrubbed

USER_AGENT = "referee"
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_GZIP = ("gzip", "x-gzip")
_PLAIN = ("", "identity")
_WINDOW = 16 + zlib.MAX_WBITS
_CHUNK = 2**16
_LONGEST_WAIT_S = 1e9


@dataclass(frozen=True)
class WebLimits:
    """What one answer may take: bytes before and after unpacking, seconds, redirects."""

    max_bytes: int = 20 * 2**20
    connect_s: float = 10.0
    read_s: float = 20.0
    total_s: float = 60.0
    max_redirects: int = 5


@dataclass(frozen=True)
class Answer:
    """What a server answered, whatever its status.

    ``url`` is where it was in the end and ``redirects`` the addresses that led there, in order. ``content`` is empty
    where the body went into a file.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    content: bytes = field(repr=False)
    redirects: tuple[str, ...] = ()

    @property
    def content_type(self) -> str:
        """Lower case, with its parameters; empty where it is not told."""
        return self.headers.get("Content-Type", "").lower()


Carry = Callable[[httpx.Request], AbstractAsyncContextManager[httpx.Response]]
"""Sends one request, without redirects, and gives the response with its body unread."""


@cache
def tls(trust_env: bool) -> ssl.SSLContext:
    """One for all clients: to read the certificates of all authorities takes a twentieth of a second."""
    return httpx.create_ssl_context(trust_env=trust_env)


def carried_by(client: httpx.AsyncClient) -> Carry:
    """Carry requests by a client, with its proxies."""

    @asynccontextmanager
    async def carry(request: httpx.Request) -> AsyncIterator[httpx.Response]:
        response = await client.send(request, stream=True, follow_redirects=False)
        try:
            yield response
        finally:
            await response.aclose()

    return carry


async def ask(
    carry: Carry,
    url: str,
    limits: WebLimits,
    *,
    headers: Mapping[str, str] | None = None,
    json: Any = None,
    into: Path | None = None,
    any_host: bool = False,
) -> Answer:
    """Send a request and read its answer.

    Args:
        carry: Who carries it.
        url: The address of a host that was chosen, on any port; of any host with ``any_host``.
        limits: What the answer may take.
        headers: What goes to the host of this address alone, secrets and all.
        json: The body of a POST; without one the request is a GET.
        into: A file that the body is written to, only where the status is 200.
        any_host: Follow redirects to other hosts, as ``carry`` lets them pass; the request must hold no secret.

    Raises:
        DataError: There is no answer: ``ids["cause"]`` is ``refused`` (a redirect to another host), ``network``,
            ``limit`` or ``answer``. The message holds no secret.
        OSError: The file cannot be written.
    """
    try:
        async with asyncio.timeout(limits.total_s):
            return await _followed(carry, httpx.URL(url), limits, dict(headers or {}), json, into, any_host)
    except TimeoutError as error:
        raise failure(url, "limit", f"was not here after {limits.total_s:g} seconds") from error


async def _followed(
    carry: Carry,
    target: httpx.URL,
    limits: WebLimits,
    headers: dict[str, str],
    json: Any,
    into: Path | None,
    any_host: bool,
) -> Answer:
    first, passed = target, list[str]()
    while True:
        try:
            async with carry(_request(target, limits, headers, json)) as response:
                location: str = response.headers.get("Location", "")
                status = response.status_code
                if status not in _REDIRECTS or not location:
                    took = _content(target, response, limits.max_bytes, into) if status == 200 else _said(response)
                    content = await took
                    return Answer(str(target), status, response.headers, content, tuple(passed))
        except httpx.HTTPError as error:
            raise _explained(target, limits, error) from error
        except DataError as error:
            if not passed:
                raise
            raise _after_redirect(str(first), error) from error
        passed.append(str(target))
        if len(passed) > limits.max_redirects:
            raise failure(str(first), "limit", f"redirects more than {limits.max_redirects} times")
        target = _next(str(first), target, location, any_host=any_host)
        if str(target) in passed:
            raise failure(str(first), "answer", f"redirects in a circle (again to {scrubbed(str(target))!r})")
        if status == 303 or (json is not None and status in (301, 302)):
            json = None


def _next(url: str, here: httpx.URL, location: str, *, any_host: bool) -> httpx.URL:
    """Where a redirect leads: to the same host, or to where a page may be fetched from."""
    try:
        there = here.join(location).copy_with(fragment=None)
    except (httpx.InvalidURL, ValueError) as error:
        raise failure(url, "answer", "redirects to what is no address") from error
    if any_host:
        try:
            return checked_url(str(there), allow_local=True)
        except DataError as error:
            raise _after_redirect(url, error) from error
    if (there.scheme, there.netloc, there.userinfo) != (here.scheme, here.netloc, b""):
        raise failure(
            url, "refused", f"redirects to another host ({scrubbed(str(there))!r}), which is not asked", hint=""
        )
    return there


def _after_redirect(url: str, error: DataError) -> DataError:
    """The same error, which also names the address that was asked for."""
    return DataError(f"{scrubbed(url)!r} redirects: {error.message}", hint=error.hint, ids=error.ids)


def _request(target: httpx.URL, limits: WebLimits, headers: Mapping[str, str], json: Any) -> httpx.Request:
    usual = {"User-Agent": USER_AGENT, "Accept": "*/*", "Accept-Encoding": "gzip"}
    timeouts = {"connect": limits.connect_s, "read": limits.read_s, "write": limits.read_s, "pool": limits.connect_s}
    method = "GET" if json is None else "POST"
    return httpx.Request(method, target, headers={**usual, **headers}, json=json, extensions={"timeout": timeouts})


def _explained(target: httpx.URL, limits: WebLimits, error: httpx.HTTPError) -> DataError:
    """The transport's error in words: what it said may hold addresses, so it is not repeated."""
    if isinstance(error, httpx.ConnectTimeout):
        return failure(str(target), "network", f"took no connection within {limits.connect_s:g} seconds")
    if isinstance(error, httpx.TimeoutException):
        return failure(str(target), "limit", f"sent nothing for {limits.read_s:g} seconds")
    if isinstance(error, httpx.ConnectError):
        certificate = "CERTIFICATE_VERIFY_FAILED" in str(error)
        cause = "its certificate is not valid for it" if certificate else "it takes no connection"
        return failure(str(target), "network", f"cannot be reached: {cause}")
    if isinstance(error, httpx.RemoteProtocolError):
        return failure(str(target), "answer", "did not answer in HTTP, or broke off in the middle")
    return failure(str(target), "network", f"broke off ({type(error).__name__})")


async def _content(target: httpx.URL, response: httpx.Response, most: int, into: Path | None) -> bytes:
    """The unpacked body; empty where it is written to a file."""
    try:
        if into is None and _announced(response) > most:
            raise _BodyTooLarge
        if into is None:
            return b"".join([piece async for piece in _pieces(response, most)])
        with into.open("wb") as file:
            async for piece in _pieces(response, most):
                file.write(piece)
        return b""
    except _BodyTooLarge as error:
        hint = "Give a smaller file, or save it yourself and give its path."
        what = f"has more than the {most / 2**20:g} MiB that are fetched"
        raise failure(str(target), "limit", what, hint=hint) from error
    except _NotDecodable as error:
        raise failure(str(target), "answer", f"came in a form that cannot be read: {error}") from error


async def _said(response: httpx.Response) -> bytes:
    """The beginning of what stands beside an error's status; it is only for a message."""
    said = bytearray()
    with suppress(_BodyTooLarge, _NotDecodable, httpx.HTTPError):
        async for piece in _pieces(response, _CHUNK):
            said += piece
    return bytes(said)


def retry_after_s(header: str) -> float | None:
    """Seconds to wait by a ``Retry-After``: a number, or until a date; None where it says neither."""
    try:
        return number(header, "the header", most=_LONGEST_WAIT_S)
    except Unreadable as error:
        if error.problem == "digits":
            return _LONGEST_WAIT_S
    try:
        return min(max(0.0, parsedate_to_datetime(header).timestamp() - time.time()), _LONGEST_WAIT_S)
    except (TypeError, ValueError, OverflowError):
        return None


class _BodyTooLarge(Exception):
    """The body passes the limit, or says that it will."""


class _NotDecodable(Exception):
    """The body's compression is another one than asked for, or damaged; the text says what, without its bytes."""


async def _pieces(response: httpx.Response, most: int) -> AsyncIterator[bytes]:
    """The body, unpacked, in pieces of bounded size; no more than ``most`` bytes are read or given."""
    encoding = response.headers.get("Content-Encoding", "").strip().lower()
    if encoding not in (*_PLAIN, *_GZIP):
        raise _NotDecodable(f"its encoding is {encoding[:40]!r}")
    gunzip = _Gunzip() if encoding in _GZIP else None
    received = given = 0
    assert isinstance(response.stream, httpx.AsyncByteStream)
    async for chunk in response.stream:
        received += len(chunk)
        for piece in gunzip.pieces(chunk) if gunzip else (chunk,):
            given += len(piece)
            if max(received, given) > most:
                raise _BodyTooLarge
            yield piece
    if gunzip is not None and received:
        yield gunzip.rest()


def _announced(response: httpx.Response) -> int:
    length = response.headers.get("Content-Length", "")
    return int(length) if len(length) < 20 and length.isascii() and length.isdigit() else 0


class _Gunzip:
    """A gzip stream, unpacked in pieces of bounded size."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(_WINDOW)

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        """What a piece of the stream becomes; bytes after the stream's end are left out."""
        try:
            while chunk and not self._stream.eof:
                yield self._stream.decompress(chunk, _CHUNK)
                chunk = self._stream.unconsumed_tail
        except zlib.error as error:
            raise _NotDecodable("its gzip compression is damaged") from error

    def rest(self) -> bytes:
        """The last bytes, which no further piece pushed out; a stream that was cut off is refused."""
        rest = self._stream.flush()
        if not self._stream.eof:
            raise _NotDecodable("its gzip compression is cut off")
        return rest
