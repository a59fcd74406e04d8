"""Embeddings of a server that fails for a while: sent again as chats are, and given up by name."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from typing import Any

import numpy as np
import pytest

from referee.errors import ModelRefused, ModelUnavailable
from referee.llm.embeddings import Embedder, make_embedder
from referee.runs.stopping import Stop, stoppable
from referee.settings import CallSettings
from tests.held import PATIENCE_S
from tests.support import FakeServer, Fault

KEY = "a-planted-key-0451"


_made: list[Embedder] = []


def on(server: FakeServer, **calls: Any) -> Embedder:
    settings = CallSettings.model_validate({"retry_wait_s": 0.001, "retry_max_wait_s": 0.5, **calls})
    _made.append(make_embedder("embed", base_url=server.base_url, calls=settings))
    return _made[-1]


@pytest.fixture(autouse=True)
async def _closed() -> AsyncIterator[None]:
    yield
    while _made:
        await _made.pop().aclose()


@pytest.mark.parametrize("kind", ["429", "500", "503", "partial", "drop"])
async def test_passing_troubles_are_tried_again(kind: Any) -> None:
    with FakeServer(faults=[Fault(kind, first=2)]) as server:
        vectors = await on(server).embed(["the loss diverges", "a table"])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1)
    assert [entry.outcome for entry in server.log.entries] == [kind, kind, "ok"]


async def test_a_call_that_is_never_answered_is_tried_again() -> None:
    with FakeServer(faults=[Fault("timeout", first=1, seconds=3600)]) as server:
        async with asyncio.timeout(PATIENCE_S):
            assert len(await on(server, timeout_s=1).embed(["a"])) == 1
    assert [entry.outcome for entry in server.log.entries][:: len(server.log.entries) - 1] == ["timeout", "ok"]


async def test_a_lasting_trouble_ends_after_the_tries_and_a_key_is_in_none_of_its_words(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("REFEREE_API_KEY", KEY)
    with (
        caplog.at_level(logging.DEBUG, "referee"),
        FakeServer(faults=[Fault("500", message=f"the key {KEY} broke it")]) as server,
    ):
        embedder = on(server, max_tries=3)
        with pytest.raises(ModelUnavailable, match="HTTP 500") as caught:
            await embedder.embed(["a"])
    assert len(server.log.entries) == 3
    assert "[key removed]" in str(caught.value)
    assert caplog.text.count("failed: ") == 2
    assert KEY not in str(caught.value) + caplog.text


@pytest.mark.parametrize("kind", ["400", "401"])
async def test_our_own_mistakes_are_not_tried_again(kind: Any) -> None:
    with FakeServer(faults=[Fault(kind)]) as server:
        with pytest.raises(ModelRefused):
            await on(server).embed(["a"])
        assert len(server.log.entries) == 1


async def test_the_servers_own_pause_is_kept() -> None:
    with FakeServer(faults=[Fault("429", first=1, retry_after_s=0.3)]) as server:
        await on(server).embed(["a"])
    first, second = server.log.entries
    assert second.started_s - first.started_s >= 0.3


async def test_a_server_that_goes_away_is_looked_for_again_and_one_that_never_was_is_not(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with FakeServer() as server:
        known, unknown = on(server, max_tries=3), on(server, max_tries=3)
        await known.embed(["a"])
    for embedder, retries in ((known, 2), (unknown, 0)):
        caplog.clear()
        with pytest.raises(ModelUnavailable, match="no connection"):
            await embedder.embed(["a"])
        assert caplog.text.count("failed: ") == retries


class _Told(Stop):
    """A stop that tells when a call waits for its next try."""

    def __init__(self, end: Callable[[], object]) -> None:
        super().__init__(end)
        self.waits = asyncio.Event()

    async def pause(self, seconds: float) -> None:
        self.waits.set()
        await super().pause(seconds)


async def test_no_call_is_sent_after_a_stop_was_asked_for() -> None:
    ended = asyncio.Event()
    stop = _Told(ended.set)
    with FakeServer(faults=[Fault("500")]) as server, stoppable(stop):
        work = asyncio.create_task(on(server, retry_wait_s=0.2).embed(["a"]))
        await stop.waits.wait()
        stop.request()
        assert ended.is_set(), "nothing is under way while a call waits to be tried again"
        await asyncio.sleep(0.5)
        assert not work.done()
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
    assert len(server.log.entries) == 1
