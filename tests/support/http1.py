"""Just enough HTTP/1.1 for a local server: read a request, write a response, keep the connection."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

MAX_HEAD_BYTES = 1 << 18


class HttpError(ValueError):
    """What arrived is no HTTP request that this server understands."""


@dataclass(frozen=True)
class HttpRequest:
    """One request; header names are lower case, ``path`` is decoded and without its query."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    keep_alive: bool

    def json(self) -> dict[str, Any]:
        """The body as a JSON object.

        Raises:
            HttpError: It is none.
        """
        try:
            data = json.loads(self.body)
        except ValueError as error:
            raise HttpError(f"the body is no JSON: {error}") from error
        if not isinstance(data, dict):
            raise HttpError("the body is no JSON object.")
        return data


@dataclass(frozen=True)
class HttpResponse:
    """One response.

    ``cut`` sends only half of the body and closes the connection; ``pause_s`` is how long after its first
    ``first_bytes`` the rest of the body comes.
    """

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: bool = False
    first_bytes: int = 0
    pause_s: float = 0.0

    def encode(self, keep_alive: bool) -> tuple[bytes, bytes]:
        """The bytes on the wire, before the pause and after it."""
        reason = HTTPStatus(self.status).phrase if self.status in HTTPStatus.__members__.values() else "Unknown"
        headers = {
            "content-type": "application/json",
            "content-length": str(len(self.body)),
            "connection": "keep-alive" if keep_alive else "close",
            **self.headers,
        }
        head = f"HTTP/1.1 {self.status} {reason}\r\n" + "".join(f"{k}: {v}\r\n" for k, v in headers.items()) + "\r\n"
        body = self.body[: len(self.body) // 2] if self.cut else self.body
        return head.encode("latin-1") + body[: self.first_bytes], body[self.first_bytes :]


def json_response(status: int, data: Any, headers: Mapping[str, str] | None = None) -> HttpResponse:
    """A JSON response; NaN goes out as ``NaN``, as some servers do."""
    return HttpResponse(status, json.dumps(data, ensure_ascii=False).encode("utf-8", "replace"), headers or {})


async def read_request(reader: asyncio.StreamReader) -> HttpRequest | None:
    """The next request on a connection, or null when the client has closed it.

    Raises:
        HttpError: The head is malformed or too long.
    """
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    except asyncio.LimitOverrunError as error:
        raise HttpError("the head of the request is too long.") from error
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    try:
        method, target, version = first.split(" ")
        headers = {name.strip().lower(): value.strip() for name, value in (line.split(":", 1) for line in lines)}
        body = await _read_body(reader, headers)
    except asyncio.IncompleteReadError:
        return None
    except ValueError as error:
        raise HttpError(f"the request begins with {first[:80]!r}, or has a malformed header.") from error
    url = urlsplit(target)
    query = {name: values[-1] for name, values in parse_qs(url.query).items()}
    keep = version == "HTTP/1.1" and headers.get("connection", "").lower() != "close"
    return HttpRequest(method, unquote(url.path), query, headers, body, keep)


async def _read_body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() != "chunked":
        return await reader.readexactly(int(headers.get("content-length", "0")))
    body = b""
    while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        body += (await reader.readexactly(size + 2))[:-2]
    while await reader.readuntil(b"\r\n") != b"\r\n":
        pass
    return body
