"""What a server in OpenReview's place may do: redirects elsewhere, bodies and lists without end, text that is none."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from referee.collecting import client, collector
from referee.errors import CollectionError
from referee.settings import CollectSettings
from tests.unit.web.page_server import PageServer, serving

from .forums import PDF, V1, collect, forum, on_disk

Handler = BaseHTTPRequestHandler
PASSWORD = "orpass-secret-4455"


@pytest.fixture(autouse=True)
def _anonymous(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENREVIEW_USERNAME", "OPENREVIEW_PASSWORD"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def here() -> Iterator[PageServer]:
    with serving() as running:
        yield running


@pytest.fixture
def elsewhere() -> Iterator[PageServer]:
    with serving() as running:
        running.put("/notes", b"{}")
        running.put("/login", b"{}")
        yield running


async def refused(server: PageServer, folder: Path, **more: Any) -> CollectionError:
    with pytest.raises(CollectionError) as caught:
        await collect(server.address, folder / "c", **more)
    return caught.value


def send(handler: Handler, body: bytes, status: int = 200, **headers: str) -> None:
    handler.send_response(status)
    for name, value in {"Content_Type": "application/json", **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)


def moved(server: PageServer, path: str, to: str, status: int) -> None:
    server.pages[path] = lambda handler: send(handler, b"", status, Location=to)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_password_goes_to_no_other_host(
    here: PageServer, elsewhere: PageServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setenv("OPENREVIEW_USERNAME", "me@x.org")
    monkeypatch.setenv("OPENREVIEW_PASSWORD", PASSWORD)
    moved(here, "/login", elsewhere.url("/login"), status)
    error = await refused(here, tmp_path)
    assert "another host" in error.message
    assert elsewhere.seen == []
    assert PASSWORD not in str(error)


@pytest.mark.parametrize("path", ["/notes", "/attachment"])
async def test_nothing_is_asked_of_another_host(
    here: PageServer, elsewhere: PageServer, tmp_path: Path, path: str
) -> None:
    here.default = listed(2, told=2)
    here.prefixes[path] = lambda handler: send(handler, b"", 302, Location=elsewhere.url(path))
    error = await refused(here, tmp_path, kinds=("pdf",))
    assert "another host" in error.message
    assert elsewhere.seen == []


def listed(count: int, *, told: int | None = None, more: int = 0) -> Callable[[Handler], None]:
    """A list without end: each page holds new forums; ``told`` is its announced count."""
    made = 0

    def answer(handler: Handler) -> None:
        nonlocal made
        query = parse_qs(urlsplit(handler.path).query)
        notes = [forum(n) for n in range(made, made + count + more)]
        made += count
        total = {"count": told} if told is not None and "count" in query else {}
        send(handler, json.dumps({"notes": notes, **total}).encode())

    return answer


async def test_a_list_without_end_ends_at_its_announced_count(here: PageServer, tmp_path: Path) -> None:
    here.default = listed(50, told=75)
    done = await collect(here.address, tmp_path / "c")
    assert len([path for path, _ in here.seen if "-%2FSubmission" in path]) <= 2
    assert len(on_disk(done)) >= 75


async def test_a_list_without_end_and_count_ends_at_our_limit(
    here: PageServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collector, "_MOST_LISTED", 125)
    here.default = listed(50, told=10**12)
    error = await refused(here, tmp_path)
    assert "lists more than 125" in error.message
    assert len(here.seen) == 3


async def test_notes_beyond_those_asked_for_are_left_out(here: PageServer, tmp_path: Path) -> None:
    here.default = listed(50, told=50, more=200)
    done = await collect(here.address, tmp_path / "c")
    assert [note["id"] for note in on_disk(done)][:50] == [f"forum{n:03}" for n in range(50)]
    assert len(here.seen) <= 5


@pytest.mark.parametrize("packed", [False, True])
async def test_a_page_has_a_limit_in_bytes_also_unpacked(
    here: PageServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: bool
) -> None:
    monkeypatch.setattr(client, "_LONGEST_PAGE", 100_000)
    body = b'{"notes": [' + b" " * 10_000_000
    encoding = {"Content_Encoding": "gzip"} if packed else {}
    here.default = lambda handler: send(handler, gzip.compress(body) if packed else body, **encoding)
    error = await refused(here, tmp_path)
    assert "MiB" in error.message
    assert len(here.seen) == 1, "it would be as large the next time"


async def test_a_file_has_a_limit_and_its_reason_is_kept(here: PageServer, tmp_path: Path) -> None:
    here.default = lambda handler: send(handler, json.dumps({"notes": [forum(1, api=1)], "count": 1}).encode())
    here.prefixes["/attachment"] = lambda handler: send(handler, PDF + b"x" * 200_000, Content_Type="application/pdf")
    done = await collect(here.address, tmp_path / "c", venue=V1, kinds=("pdf",), max_bytes=100_000)
    assert "MiB" in done.collected.no_pdf["forum001"]
    assert not list((tmp_path / "c" / "papers").iterdir())


BODIES = {
    "deep": b"[" * 300_000,
    "digits": b'{"notes": [], "count": ' + b"1" * 5_000 + b"}",
    "constant": b'{"notes": [], "count": NaN}',
    "a byte": b'{"notes": [], "\xff": 1}',
    "many values": b'{"notes": [' + b"[]," * 1_000_001 + b"1]}",
    "no JSON": b"nothing",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
async def test_a_body_that_is_no_sound_json_is_named(here: PageServer, tmp_path: Path, body: bytes) -> None:
    here.default = lambda handler: send(handler, body)
    assert "OpenReview's answer" in (await refused(here, tmp_path)).message


async def test_half_characters_are_replaced(here: PageServer, tmp_path: Path) -> None:
    note = json.dumps({"notes": [forum(1)], "count": 1}).replace("Paper 1", "Half \\ud800")
    here.default = lambda handler: send(handler, note.encode())
    done = await collect(here.address, tmp_path / "c")
    assert on_disk(done)[0]["content"]["title"]["value"] == "Half \ufffd"


async def test_redirects_on_the_same_host_have_an_end(here: PageServer, tmp_path: Path) -> None:
    count = 0

    def on(handler: Handler) -> None:
        nonlocal count
        count += 1
        send(handler, b"", 302, Location=f"/notes?{count}")

    here.default = on
    error = await refused(here, tmp_path)
    assert "redirects more than 3 times" in error.message
    assert count == 4


async def test_an_answer_that_drips_ends_in_time(here: PageServer, tmp_path: Path) -> None:
    def drip(handler: Handler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while True:
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.05)

    here.default = drip
    began = time.monotonic()
    error = await refused(here, tmp_path, timeout_s=0.2, max_tries=1)
    assert "no answer came in time" in error.message
    assert time.monotonic() - began < 4


def test_a_pause_of_thousands_of_digits_is_none() -> None:
    assert client._named_pause_s("", f"try again in {'9' * 5_000} minutes") is None
    assert client._named_pause_s("9" * 200, "") == 1e9
    assert CollectSettings().longest_wait_s < 1e9
