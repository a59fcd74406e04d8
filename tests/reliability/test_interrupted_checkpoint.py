"""A run that ends between a node's end and the checkpoint that would hold it goes on, and does not look finished."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from referee import api
from referee.testing import FakeServer
from tests.options import with_options

SAVED = "checkpoint"


@pytest.mark.parametrize("number", [1, 2, 3, 4])
async def test_it_goes_on_where_it_was(folder: Path, paper: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    puts: list[str] = []
    reached = asyncio.Event()
    really = AsyncSqliteSaver.aput

    async def aput(saver: AsyncSqliteSaver, *arguments: object, **named: object) -> object:
        puts.append(SAVED)
        if len(puts) == number:
            reached.set()
            await asyncio.Event().wait()
        return await really(saver, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(AsyncSqliteSaver, "aput", aput)
    with FakeServer(context_tokens=32_000) as server:
        given = {"venue": "iclr-2020", "strategy": "single", "model": "fake", "base_url": server.base_url}
        ended = asyncio.create_task(api.review(paper, **with_options(**given, cache=False, out=folder / "run")))
        await reached.wait()
        ended.cancel()
        with pytest.raises(asyncio.CancelledError):
            await ended
        review = await api.review(paper, **with_options(**given, cache=False, resume=folder / "run"))
        assert len(server.log.calls(endpoint="chat")) == 1
    assert review.fields
