"""Addresses that are never asked, at first or after a redirect."""

from __future__ import annotations

from collections.abc import Sequence

import httpx
import pytest

from referee.errors import DataError
from referee.web import fetch_page

from .page_server import PageServer

PUBLIC = "93.184.216.34"


async def refused(url: str, *, addresses: Sequence[str] = (PUBLIC,), allow_local: bool = False) -> DataError:
    """The refusal; a transport that is reached fails the test."""

    async def resolver(host: str, port: int) -> Sequence[str]:
        return addresses

    def reached(request: httpx.Request) -> httpx.Response:
        raise AssertionError(f"asked {request.url}")

    with pytest.raises(DataError) as caught:
        await fetch_page(url, resolver=resolver, transport=httpx.MockTransport(reached), allow_local=allow_local)
    assert caught.value.hint
    assert caught.value.ids["cause"] == "refused"
    return caught.value


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://example.org/", "gopher://example.org/", "javascript:1"])
async def test_other_schemes(url: str) -> None:
    assert "scheme" in (await refused(url)).message


@pytest.mark.parametrize("url", ["", "paper.pdf", "//example.org/", "https://", "http:///x", "https://exa mple.org:x/"])
async def test_what_is_no_address(url: str) -> None:
    await refused(url)


@pytest.mark.parametrize("url", ["https://ada:s3cret@example.org/x", "https://ada@example.org", "http://a:b@c:d@e/"])
async def test_credentials_are_refused_and_not_repeated(url: str) -> None:
    error = await refused(url)
    assert "login" in error.message
    assert "s3cret" not in str(error)
    assert "ada" not in str(error) + str(error.ids)


async def test_secrets_in_the_query_are_not_repeated() -> None:
    error = await refused("ftp://example.org/?id=7&access_token=s3cret&X-Amz-Signature=abc#part")
    assert "id=7" in error.message
    assert "s3cret" not in str(error)
    assert "abc" not in str(error)


@pytest.mark.parametrize("port", [22, 25, 6379, 8080, 11211])
async def test_other_ports(port: int) -> None:
    assert str(port) in (await refused(f"http://example.org:{port}/")).message


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://10.1.2.3/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::1]/",
        "http://[::ffff:10.0.0.1]/",
        "http://[fd00:ec2::254]/",
        "http://0.0.0.0/",
    ],
)
async def test_private_literals(url: str) -> None:
    assert "only public addresses" in (await refused(url)).message


@pytest.mark.parametrize("addresses", [["10.0.0.1"], [PUBLIC, "127.0.0.1"], ["::1"], ["100.64.3.4"]])
async def test_names_that_lead_to_private_addresses(addresses: list[str]) -> None:
    error = await refused("https://harmless.example.org/", addresses=addresses)
    assert "harmless.example.org" in error.message


async def test_local_is_allowed_for_loopback_only() -> None:
    await refused("http://192.168.0.1/", allow_local=True)
    await refused("http://example.org:8080/", allow_local=True)


@pytest.mark.parametrize(
    "location",
    [
        "http://10.0.0.1/",
        "http://169.254.169.254/",
        "//192.168.1.1/",
        "file:///etc/passwd",
        "http://user:pass@127.0.0.1/",
        "http://inside.example.org/",
    ],
)
async def test_redirects_to_what_is_refused(pages: PageServer, location: str) -> None:
    async def resolver(host: str, port: int) -> Sequence[str]:
        return ["10.9.8.7"]

    pages.redirect("/start", location)
    with pytest.raises(DataError) as caught:
        await fetch_page(pages.url("/start"), resolver=resolver, allow_local=True)
    assert caught.value.ids["cause"] == "refused"
    assert "/start' redirects: " in caught.value.message
    assert "pass@" not in str(caught.value)
    assert len(pages.seen) == 1


async def test_a_public_page_cannot_redirect_to_this_machine(pages: PageServer) -> None:
    async def resolver(host: str, port: int) -> Sequence[str]:
        return [PUBLIC]

    def moved(request: httpx.Request) -> httpx.Response:
        return httpx.Response(301, headers={"Location": pages.url("/secret")})

    with pytest.raises(DataError, match="only 80 and 443"):
        await fetch_page("https://example.org/", resolver=resolver, transport=httpx.MockTransport(moved))
    assert pages.seen == []


async def test_a_name_that_changes_its_address_is_asked_where_it_was_checked() -> None:
    asked: list[httpx.Request] = []
    answers = iter([[PUBLIC], ["127.0.0.1"]])

    async def resolver(host: str, port: int) -> Sequence[str]:
        return next(answers)

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(302, headers={"Location": "/again"})

    with pytest.raises(DataError) as caught:
        await fetch_page("https://rebind.example.org/", resolver=resolver, transport=httpx.MockTransport(answer))
    assert caught.value.ids["cause"] == "refused"
    (request,) = asked
    assert request.url.host == PUBLIC
    assert request.headers["Host"] == "rebind.example.org"
    assert request.extensions["sni_hostname"] == "rebind.example.org"
