"""Answers with status 200 that are no replies: a server may give one once, and another server gives nothing else."""

import pytest

from referee.errors import ModelUnavailable
from tests.support import FakeServer, Fault

from .shared import GOOD, SPECS, ask, door_to, sharing
from .test_wire import recorder


@pytest.mark.parametrize("provider", SPECS)
async def test_a_web_page_before_any_answer_is_tried_again(provider: str) -> None:
    with FakeServer({"*": GOOD}, faults=[Fault("page", first=2)]) as server:
        async with door_to(provider, server) as door:
            assert (await ask(door, sharing("Task.", prefix=""))).value.score == 2
    assert server.log.outcomes() == {"page": 2, "ok": 1}


@pytest.mark.parametrize("provider", SPECS)
async def test_an_address_that_gives_only_web_pages_is_given_up_after_three_tries(provider: str) -> None:
    with FakeServer(faults=[Fault("page")]) as server:
        async with door_to(provider, server) as door:
            with pytest.raises(ModelUnavailable, match="but not as a chat server does"):
                await ask(door, sharing("Task.", prefix=""))
    assert len(server.log) == 3


@pytest.mark.parametrize("body", [b"", b'{"choices": [{"mess', b"[]", b"null"], ids=["empty", "cut", "list", "null"])
async def test_bodies_that_are_no_reply_are_tried_again(body: bytes) -> None:
    with recorder(body) as (url, bodies):
        async with door_to("server", FakeServer()) as door:
            door.models["writer"].wire._connection.base_url = f"{url}/v1"
            with pytest.raises(ModelUnavailable):
                await ask(door, sharing("Task.", prefix=""))
    assert len(bodies) == 3


async def test_a_refused_connection_fails_at_once() -> None:
    async with door_to("server", FakeServer()) as door:
        door.models["writer"].wire._connection.base_url = "http://127.0.0.1:9/v1"
        with pytest.raises(ModelUnavailable, match="no connection") as caught:
            await ask(door, sharing("Task."))
    assert caught.value.ids["tries"] == "1"


async def test_a_stream_of_nothing_counts_as_no_reply() -> None:
    with FakeServer({"*": GOOD}, faults=[Fault("page", first=2)]) as server:
        async with door_to("server", server) as door:
            assert (await ask(door, sharing("Task."))).value.score == 2
            assert (await ask(door, sharing("Another task."))).value.score == 2
    assert server.log.outcomes() == {"page": 2, "ok": 2}
    assert [entry.streamed for entry in server.log.calls(outcome="ok")] == [True, False]
