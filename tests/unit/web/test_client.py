"""The one HTTP client: where secrets go, and what an answer may take in bytes, seconds and redirects."""

from __future__ import annotations

import gzip
import time
import tracemalloc
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import httpx
import pytest

from referee.errors import DataError
from referee.web import Answer, WebLimits, ask, carried_by, retry_after_s, server_of

from .page_server import PageServer, serving

LIMITS = WebLimits(max_bytes=100_000, connect_s=1, read_s=1, total_s=2, max_redirects=5)
SECRET = {"Authorization": "Bearer a-secret-of-mine"}


async def get(url: str, limits: WebLimits = LIMITS, **more: Any) -> Answer:
    async with httpx.AsyncClient() as client:
        return await ask(carried_by(client), url, limits, **more)


async def failed(url: str, limits: WebLimits = LIMITS, **more: Any) -> DataError:
    with pytest.raises(DataError) as caught:
        await get(url, limits, **more)
    assert "secret" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("body", [None, {"password": "a-secret-of-mine"}])
async def test_neither_secret_nor_body_goes_to_another_host(
    pages: PageServer, status: int, body: dict[str, str] | None
) -> None:
    with serving() as elsewhere:
        pages.put("/a", b"", status=status, Location=elsewhere.url("/b"))
        error = await failed(pages.url("/a"), headers=SECRET, json=body)
        assert error.ids["cause"] == "refused"
        assert elsewhere.seen == []


@pytest.mark.parametrize("to", ["http://user:pw@{host}/b", "//127.0.0.1:1/b", "https://{host}/b", "ftp://{host}/b"])
async def test_an_address_that_is_like_the_same_host_is_another(pages: PageServer, to: str) -> None:
    host = pages.address.removeprefix("http://")
    pages.put("/a", b"", status=302, Location=to.format(host=host))
    assert (await failed(pages.url("/a"), headers=SECRET)).ids["cause"] == "refused"
    assert len(pages.seen) == 1


async def test_a_redirect_on_the_same_host_is_followed_with_the_key(pages: PageServer) -> None:
    pages.put("/a", b"", status=307, Location="/b?c=d")
    pages.put("/b?c=d", b"here", Content_Type="Text/Plain")
    answer = await get(pages.url("/a"), headers=SECRET)
    assert (answer.content, answer.url, answer.redirects) == (b"here", pages.url("/b?c=d"), (pages.url("/a"),))
    assert answer.content_type == "text/plain"
    assert [headers["Authorization"] for _, headers in pages.seen] == [SECRET["Authorization"]] * 2


async def test_ten_thousand_redirects_are_six_requests(pages: PageServer) -> None:
    count = 0

    def on(handler: BaseHTTPRequestHandler) -> None:
        nonlocal count
        count += 1
        handler.send_response(302)
        handler.send_header("Location", f"/{count}")
        handler.end_headers()

    pages.default = on
    assert "redirects more than 5 times" in (await failed(pages.url("/0"))).message
    assert count == 6


def drip_head(handler: BaseHTTPRequestHandler) -> None:
    for byte in b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 1_000:
        handler.wfile.write(bytes([byte]))
        handler.wfile.flush()
        time.sleep(0.05)


def drip_body(handler: BaseHTTPRequestHandler, status: int = 200) -> None:
    handler.send_response(status)
    handler.end_headers()
    for _ in range(1_000):
        handler.wfile.write(b"x")
        handler.wfile.flush()
        time.sleep(0.05)


DRIPS: dict[str, Callable[[BaseHTTPRequestHandler], None]] = {
    "head": drip_head,
    "body": drip_body,
    "an error's body": lambda handler: drip_body(handler, 500),
}


@pytest.mark.parametrize("drip", DRIPS.values(), ids=DRIPS)
async def test_an_answer_that_drips_ends_in_time(
    pages: PageServer, drip: Callable[[BaseHTTPRequestHandler], None]
) -> None:
    pages.default = drip
    began = time.monotonic()
    error = await failed(pages.url("/a"), WebLimits(read_s=1, total_s=0.5))
    assert error.ids["cause"] == "limit"
    assert time.monotonic() - began < 2


@pytest.mark.parametrize("into_file", [False, True])
async def test_a_bomb_of_gzip_takes_no_more_than_the_limit(pages: PageServer, tmp_path: Path, into_file: bool) -> None:
    bomb = gzip.compress(b"\0" * 200_000_000, 1)
    pages.put("/bomb", bomb, Content_Encoding="gzip")
    tracemalloc.start()
    try:
        into = tmp_path / "into" if into_file else None
        error = await failed(pages.url("/bomb"), WebLimits(max_bytes=2**20), into=into)
        assert tracemalloc.get_traced_memory()[1] < 30 * 2**20
    finally:
        tracemalloc.stop()
    assert error.ids["cause"] == "limit"
    assert not into_file or (tmp_path / "into").stat().st_size <= 2**20


async def test_a_file_holds_a_body_and_no_errors_page(pages: PageServer, tmp_path: Path) -> None:
    pages.put("/a", b"here")
    pages.put("/b", b"<html>gone</html>" * 10_000, status=404)
    answer = await get(pages.url("/a"), into=tmp_path / "a")
    assert (answer.content, (tmp_path / "a").read_bytes()) == (b"", b"here")
    answer = await get(pages.url("/b"), into=tmp_path / "b")
    assert answer.status == 404
    assert 0 < len(answer.content) <= 2**16
    assert not (tmp_path / "b").exists()


PAUSES = [("12", 12.0), ("0", 0.0), ("1e400", 1e9), ("9" * 5_000, None), ("-1", None), ("soon", None), ("", None)]


@pytest.mark.parametrize(("header", "seconds"), PAUSES)
def test_a_pause_is_a_number_or_a_date(header: str, seconds: float | None) -> None:
    assert retry_after_s(header) == seconds
    assert retry_after_s("Wed, 01 Jan 2025 00:00:00 GMT") == 0.0


def test_a_server_is_its_scheme_host_and_port() -> None:
    assert server_of("HTTPS://Example.org/v1") == server_of("https://example.org:443/other")
    assert len({server_of(url) for url in ("http://a", "https://a", "http://a:81", "http://b", "http://[::1")}) == 5
