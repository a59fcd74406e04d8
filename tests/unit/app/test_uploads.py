"""Bodies of requests that never end, or are longer than they say."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request

from referee.app import uploads
from referee.app.asking import safe_file_name
from referee.app.uploads import bounded

SCOPE = {"type": "http", "method": "POST", "path": "/", "headers": []}


async def read(messages: list[bytes], most: int, *, pause: float = 0.0) -> bytes:
    async def receive() -> dict[str, Any]:
        if not messages:
            await asyncio.Event().wait()
        await asyncio.sleep(pause)
        return {"type": "http.request", "body": messages.pop(0), "more_body": True}

    body = b""
    async for block in bounded(Request(SCOPE, receive), most).stream():
        body += block
    return body


async def test_an_upload_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "_PAUSE_S", 0.05)
    with pytest.raises(HTTPException) as refused:
        await read([b"a"], 10)
    assert refused.value.status_code == 408


async def test_an_upload_that_drips_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "_WHOLE_S", 0.2)
    with pytest.raises(HTTPException) as refused:
        await read([b"a"] * 1000, 10, pause=0.02)
    assert refused.value.status_code == 408


async def test_an_upload_longer_than_it_may_be_is_refused_before_it_is_read_whole() -> None:
    messages = [b"a" * 2**16] * 1000
    with pytest.raises(HTTPException) as refused:
        await read(messages, 2**20)
    assert refused.value.status_code == 413
    assert len(messages) > 980


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("paper.pdf", "paper.pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\papers\\mine.docx", "mine.docx"),
        ("", "paper"),
        (".pdf", "paper.pdf"),
        ("a b\u202e\x00c.tar.gz", "a-b-c.tar.gz"),
        ("a" * 500 + ".pdf", "a" * 71 + ".pdf"),
        ("übersicht.tex", "übersicht.tex"),
    ],
)
def test_safe_names(given: str, kept: str) -> None:
    assert safe_file_name(given) == kept
