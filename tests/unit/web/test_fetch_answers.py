"""What comes back from a server: pages, sizes, slowness, and answers that are none."""

from __future__ import annotations

import gzip
import socket
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler

import httpx
import pytest

from referee.errors import DataError
from referee.web import Answer, WebLimits, fetch_page

from .page_server import PageServer

SMALL = WebLimits(max_bytes=100_000, connect_s=1, read_s=0.2, total_s=5)
MIB = 2**20


async def get(url: str, limits: WebLimits = SMALL) -> Answer:
    return await fetch_page(url, limits=limits, allow_local=True)


async def failed(url: str, limits: WebLimits = SMALL) -> DataError:
    with pytest.raises(DataError) as caught:
        await get(url, limits)
    assert url in caught.value.message
    assert caught.value.hint
    return caught.value


async def test_a_page(pages: PageServer) -> None:
    pages.put("/a?b=c", b"<html>words</html>", Content_Type="Text/HTML; charset=utf-8", Set_Cookie="id=7")
    page = await get(pages.url("/a?b=c#part"))

    assert (page.url, page.status, page.content) == (pages.url("/a?b=c"), 200, b"<html>words</html>")
    assert page.content_type == "text/html; charset=utf-8"
    ((_, headers),) = pages.seen
    assert headers["User-Agent"] == "referee"
    assert headers.keys() == {"Host", "User-Agent", "Accept", "Accept-Encoding", "Connection"}


async def test_redirects_are_followed_without_cookies(pages: PageServer) -> None:
    pages.put("/old", b"", status=301, Location="../new", Set_Cookie="id=7; Path=/")
    pages.redirect("/new", pages.url("/page"), status=307)
    pages.put("/page", b"here")
    page = await get(pages.url("/old"))

    assert (page.url, page.content) == (pages.url("/page"), b"here")
    assert page.redirects == (pages.url("/old"), pages.url("/new"))
    assert not any("Cookie" in headers for _, headers in pages.seen)


async def test_proxies_of_the_environment_are_not_used(pages: PageServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    pages.put("/a", b"here")
    assert (await get(pages.url("/a"))).content == b"here"


async def test_a_circle_of_redirects(pages: PageServer) -> None:
    pages.redirect("/a", "/b")
    pages.redirect("/b", "/a")
    assert "circle" in (await failed(pages.url("/a"))).message
    assert len(pages.seen) == 2


async def test_too_many_redirects(pages: PageServer) -> None:
    for n in range(10):
        pages.redirect(f"/{n}", f"/{n + 1}")
    assert (await failed(pages.url("/0"))).ids["cause"] == "limit"
    assert len(pages.seen) == 6


async def test_a_body_of_50_mib_is_refused_by_its_announced_length(pages: PageServer) -> None:
    pages.put("/big", b"x", Content_Length=str(50 * MIB))
    assert "MiB" in (await failed(pages.url("/big"), WebLimits())).message


async def test_an_endless_body_without_a_length_ends_at_the_limit(pages: PageServer) -> None:
    sent = 0

    def endless(handler: BaseHTTPRequestHandler) -> None:
        nonlocal sent
        handler.send_response(200)
        handler.end_headers()
        for _ in range(50):
            handler.wfile.write(b"x" * MIB)
            sent += 1

    pages.pages["/big"] = endless
    error = await failed(pages.url("/big"))
    assert error.ids["cause"] == "limit"
    assert sent < 50


async def test_a_length_that_is_too_small_cuts_the_page_there(pages: PageServer) -> None:
    pages.put("/lie", b"short" + b"x" * 500_000, Content_Length="5")
    assert (await get(pages.url("/lie"))).content == b"short"


async def test_a_length_that_is_too_large_is_a_broken_answer(pages: PageServer) -> None:
    pages.put("/lie", b"short", Content_Length="5000")
    assert (await failed(pages.url("/lie"))).ids["cause"] == "answer"


async def test_gzip_is_decompressed(pages: PageServer) -> None:
    text = b"".join(b"line %d\n" % n for n in range(9000))
    pages.put("/z", gzip.compress(text), Content_Encoding="gzip")
    assert (await get(pages.url("/z"))).content == text


async def test_a_gzip_bomb_ends_at_the_limit(pages: PageServer) -> None:
    pages.put("/bomb", gzip.compress(bytes(60 * MIB)), Content_Encoding="gzip")
    assert (await failed(pages.url("/bomb"))).ids["cause"] == "limit"


@pytest.mark.parametrize(
    ("encoding", "body"),
    [("br", b"abc"), ("gzip, gzip", b"abc"), ("gzip", b"no gzip"), ("x-gzip", gzip.compress(b"words" * 99)[:-9])],
)
async def test_other_or_damaged_compression(pages: PageServer, encoding: str, body: bytes) -> None:
    pages.put("/z", body, Content_Encoding=encoding)
    assert (await failed(pages.url("/z"))).ids["cause"] == "answer"


@pytest.mark.parametrize("status", [204, 206, 304, 401, 403, 404, 429, 500, 503])
async def test_any_other_status_is_an_error_that_names_it(pages: PageServer, status: int) -> None:
    pages.put("/x", b"", status=status)
    error = await failed(pages.url("/x"))
    assert str(status) in error.message
    assert error.ids["status"] == str(status)
    assert len(pages.seen) == 1


async def test_a_server_that_says_nothing(pages: PageServer) -> None:
    released = threading.Event()
    pages.pages["/slow"] = lambda handler: released.wait(60) and None
    try:
        assert "sent nothing" in (await failed(pages.url("/slow"))).message
    finally:
        released.set()


async def test_a_server_that_drips_is_ended_by_the_overall_limit(pages: PageServer) -> None:
    released = threading.Event()

    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while not released.wait(0.05):
            handler.wfile.write(b"x")
            handler.wfile.flush()

    pages.pages["/drip"] = drip
    try:
        error = await failed(pages.url("/drip"), WebLimits(read_s=1, total_s=0.4))
        assert "0.4 seconds" in error.message
    finally:
        released.set()


async def test_a_slow_name_server_counts_too() -> None:
    import asyncio

    async def resolver(host: str, port: int) -> Sequence[str]:
        await asyncio.sleep(5)
        return []

    with pytest.raises(DataError, match=r"0\.1 seconds"):
        await fetch_page("https://example.org/", limits=WebLimits(total_s=0.1), resolver=resolver)


async def test_a_name_without_address() -> None:
    async def resolver(host: str, port: int) -> Sequence[str]:
        raise socket.gaierror(-2, "Name or service not known")

    with pytest.raises(DataError, match="no address was found") as caught:
        await fetch_page("https://no.such.example/", resolver=resolver)
    assert caught.value.ids["cause"] == "network"


async def test_nobody_listens() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    error = await failed(f"http://127.0.0.1:{port}/")
    assert error.ids["cause"] == "network"


async def test_the_next_address_is_tried_where_one_takes_no_connection() -> None:
    asked = []

    async def resolver(host: str, port: int) -> Sequence[str]:
        return ["2606:4700::1", "93.184.216.34"]

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        if len(asked) == 1:
            raise httpx.ConnectError("no route")
        return httpx.Response(200, content=b"here")

    page = await fetch_page("https://example.org/", resolver=resolver, transport=httpx.MockTransport(answer))
    assert page.content == b"here"
    assert page.url == "https://example.org/"
    assert asked == ["2606:4700::1", "93.184.216.34"]


@pytest.fixture
def babbler() -> Iterator[str]:
    """A server that speaks another protocol."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()

        def babble() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(b"220 mail.example.org ESMTP ready\r\n" * 3)

        thread = threading.Thread(target=babble)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        thread.join()


async def test_an_answer_that_is_not_http(babbler: str) -> None:
    error = await failed(babbler)
    assert error.ids["cause"] == "answer"
    assert "HTTP" in error.message
