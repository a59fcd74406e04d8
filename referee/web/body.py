"""The body of an answer, read and decompressed piece by piece up to a limit.

The HTTP library decompresses each piece that arrives as a whole, which lets 64 KiB become gigabytes in some
encodings. Here only gzip is taken, and no more than the limit is ever decompressed.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import httpx

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
