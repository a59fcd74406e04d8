"""A reply that comes byte by byte and never ends: the time a call may take is for the whole of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
from pydantic import BaseModel

from referee.errors import ModelUnavailable
from referee.llm.door import Door
from referee.llm.models import open_models
from referee.prompts import RenderedPrompt
from referee.runs import silent
from tests.held import PATIENCE_S

from .disturbance import benchmark

_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
_MODELS = b'{"data": []}'


class Note(BaseModel):
    """A note."""

    text: str


@asynccontextmanager
async def _dripping() -> AsyncIterator[str]:
    """A server that lists its models well, and drips every chat reply."""

    serving: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        serving.add(task)
        try:
            await talk(reader, writer)
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if head.startswith(b"GET"):
            writer.write(_HEAD + b"content-length: %d\r\nconnection: close\r\n\r\n" % len(_MODELS) + _MODELS)
        else:
            writer.write(_HEAD + b"content-length: 1000000\r\n\r\n{")
            while not writer.is_closing():
                writer.write(b" ")
                await asyncio.sleep(0.02)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)


async def test_a_reply_that_never_ends_is_given_up_in_time() -> None:
    async with _dripping() as base_url:
        settings = benchmark("runs").quick(base_url, **{"calls.timeout_s": 0.3, "calls.max_tries": 2})
        models = await open_models(settings, silent)
        door = Door(models, calls=settings.calls)
        asked = RenderedPrompt(id="test/note", version="v1", digest="d", system="You note.", user="Note.")
        with pytest.raises(ModelUnavailable, match="did not answer in time"):
            async with asyncio.timeout(PATIENCE_S):
                await door.ask(asked, Note, role="writer", max_output_tokens=100)
        await models.aclose()
    assert [(call.status, call.attempt) for call in door.ledger.records] == [("failed", 2)]
