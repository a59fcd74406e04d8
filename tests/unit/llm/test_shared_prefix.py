"""Calls that begin alike, in the providers' own formats: what is sent, who goes first, what it costs."""

import asyncio
import json
from typing import Any

import pytest

from referee.llm.prices import CACHEABLE_TOKENS
from referee.llm.providers.protocol import WireRequest
from referee.llm.requests import request_digest, with_repair
from tests.held import InSteps, happened
from tests.support import FakeServer, Fault

from .shared import GOOD, PREFIX, SPECS, ask, door_to, sharing

PROVIDERS = list(SPECS)
# As replies are named in caches and ledgers that were written before prompts had prefixes.
DIGEST, REPAIRED = "9caf01d8a8f73bd9", "2de5540ec28c776c"


async def asked_by_all(provider: str, server: FakeServer, count: int = 4, **door_args: Any) -> Any:
    """As many tasks behind the same paper, at once; the door's ledger and model."""
    async with door_to(provider, server, **door_args) as door:
        await asyncio.gather(*(ask(door, sharing(f"Task {number}.")) for number in range(count)))
        return door.ledger, door.models["writer"]


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_the_first_call_goes_ahead_until_its_reply_begins(provider: str) -> None:
    with FakeServer(InSteps({"*": GOOD}, 1, 3)) as server:
        ledger, _ = await asked_by_all(provider, server)
        first, *others = server.log.entries
    assert first.finished_s is not None
    assert all(first.finished_s <= other.started_s for other in others)
    assert max(other.in_flight for other in others) == 3, "the others go side by side"
    assert [entry.streamed for entry in server.log] == [True, False, False, False]
    assert first.cached_tokens == 0
    assert all(other.cached_tokens >= CACHEABLE_TOKENS for other in others)
    usage = ledger.usage()
    assert usage.cached_tokens == sum(entry.cached_tokens for entry in server.log)
    assert usage.input_tokens == sum(entry.input_tokens for entry in server.log)
    assert usage.cache_write_tokens == (first.cache_write_tokens if provider == "anthropic" else 0)


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_the_others_do_not_wait_for_its_whole_reply(provider: str) -> None:
    with FakeServer({"*": GOOD}, stream_s=3600) as server:
        async with door_to(provider, server) as door:
            first = asyncio.create_task(ask(door, sharing("First.")))
            await asyncio.gather(*(ask(door, sharing(f"Task {number}.")) for number in range(3)))
            assert [entry.streamed for entry in server.log] == [True, False, False, False]
            assert not first.done()
            first.cancel()
            await asyncio.gather(first, return_exceptions=True)


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_first_call_that_fails_lets_the_next_one_go_ahead(provider: str) -> None:
    faults = [Fault("500", calls=(0,))]
    with FakeServer({"*": GOOD}, faults=faults) as server:
        await asked_by_all(provider, server, count=3)
    assert server.log.outcomes() == {"500": 1, "ok": 3}


async def test_a_cancelled_first_call_lets_the_next_one_go_ahead() -> None:
    with FakeServer({"*": GOOD}, faults=[Fault("timeout", calls=(0,))]) as server:
        async with door_to("anthropic", server) as door:
            first = asyncio.create_task(ask(door, sharing("First.")))
            second = asyncio.create_task(ask(door, sharing("Second.")))
            await happened(lambda: len(server.log))
            assert len(server.log) == 1
            first.cancel()
            assert (await second).value.score == 2


async def test_waiting_for_another_call_takes_no_slot() -> None:
    with FakeServer(InSteps({"*": GOOD}, 2)) as server:
        async with door_to("server", server, concurrency=2) as door:
            alike = [ask(door, sharing(f"Task {number}.")) for number in range(3)]
            await asyncio.gather(*alike, ask(door, sharing("Alone.", prefix="")))
        assert [entry.in_flight for entry in server.log][:2] == [1, 2]
        together = [entry.request for entry in server.log.entries[:2]]
        assert "Alone." in [request.messages[-1].text for request in together if request]


async def test_a_call_without_a_prefix_is_not_streamed_and_waits_for_nobody() -> None:
    with FakeServer(InSteps({"*": GOOD}, 3)) as server:
        async with door_to("openai", server) as door:
            await asyncio.gather(*(ask(door, sharing(f"Task {number}.", prefix="")) for number in range(3)))
    assert not any(entry.streamed for entry in server.log)
    assert server.log.peak_in_flight == 3


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_server_that_does_not_stream_is_asked_for_whole_replies(provider: str) -> None:
    with FakeServer({"*": GOOD}, streams=False) as server:
        async with door_to(provider, server) as door:
            for number in range(3):
                assert (await ask(door, sharing(f"Task {number}."))).value.score == 2
    assert not any(entry.streamed for entry in server.log)
    whole_is_read = provider == "google_genai"  # whose SDK takes a whole reply for a stream of one piece
    assert len(server.log) == (3 if whole_is_read else 4), "only the first question is sent twice"


async def test_a_server_that_refuses_streams_is_asked_for_whole_replies() -> None:
    fault = Fault("400", first=1, message="unknown field stream_options")
    with FakeServer({"*": GOOD}, faults=[fault]) as server:
        async with door_to("server", server) as door:
            answer = await ask(door, sharing("Task."))
    assert [entry.streamed for entry in server.log] == [False, False]
    assert any("does not take stream" in note for note in answer.notes)


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_repair_keeps_the_prefix_in_front(provider: str) -> None:
    with FakeServer({"*": ["no json", GOOD]}) as server:
        async with door_to(provider, server) as door:
            await ask(door, sharing("Task."))
        first, second = (entry.request for entry in server.log)
    assert first is not None
    assert second is not None
    assert second.messages[:2] == first.messages
    assert [message.role for message in second.messages] == ["system", "user", "assistant", "user"]
    assert server.log.entries[1].cached_tokens >= CACHEABLE_TOKENS


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_what_differs_comes_last(provider: str) -> None:
    with FakeServer({"*": GOOD}) as server:
        await asked_by_all(provider, server, count=1)
        request = server.log.entries[0].request
    assert request is not None
    text = request.messages[1].text
    assert text.startswith(PREFIX)
    in_text = "JSON schema" in text
    assert in_text == (provider in ("openai", "anthropic"))
    if in_text:
        assert json.loads(text.rpartition("\n")[2])["properties"]["score"]["enum"] == [1, 2, 3]
        assert request.tool is None
        assert "response_format" not in request.params
    assert request.json_mode == (provider == "openai")
    assert request.messages[0].text == "You judge."
    if provider == "anthropic":
        assert request.marked == f"You judge.\n{PREFIX}"


async def test_a_prompt_without_a_prefix_keeps_its_digest() -> None:
    wire = WireRequest((("system", "S"), ("user", "U")), {"type": "object"}, 200, 0.0, True, "writer", "x@v1")
    assert request_digest("openai:gpt", wire, (0, 0)).startswith(DIGEST)
    with FakeServer({"*": GOOD}) as server:
        async with door_to("openai", server) as door:
            repair = with_repair(wire, "{}", "bad", 1, door.models["writer"])
    assert request_digest("openai:gpt", repair, (0, 0)).startswith(REPAIRED)


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_provider_without_a_cache_is_said_to_bill_the_whole(provider: str) -> None:
    with FakeServer({"*": GOOD}, prompt_cache=False) as server:
        ledger, model = await asked_by_all(provider, server)
    assert ledger.usage().cached_tokens == 0
    assert model.notes == [f"{model.spec.id} reported no cached tokens; its prompts were billed whole"]


async def test_a_short_prefix_is_not_missed_in_the_cache() -> None:
    with FakeServer({"*": GOOD}, prompt_cache=False) as server:
        async with door_to("openai", server) as door:
            for number in range(4):
                await ask(door, sharing(f"Task {number}.", prefix="A short paper.\n\n"))
            assert door.models["writer"].notes == []


@pytest.mark.parametrize(("provider", "share"), [("openai", 0.1), ("anthropic", 0.1), ("google_genai", 0.1)])
async def test_cached_tokens_cost_what_the_price_list_says(provider: str, share: float) -> None:
    with FakeServer({"*": GOOD}) as server:
        ledger, model = await asked_by_all(provider, server, count=2)
        # the second begins when the first reply does, and may be written down before it
        first, second = sorted((record.usage for record in ledger.records), key=lambda usage: usage.cached_tokens or 0)
    price = model.cost(1_000, 0) / 1_000
    whole_in = second.input_tokens - second.cached_tokens + share * second.cached_tokens
    assert second.cost_usd == pytest.approx(price * whole_in + model.cost(0, second.output_tokens), rel=1e-6)
    written = 1.25 if provider == "anthropic" else 1.0
    whole_in = first.input_tokens + (written - 1) * first.cache_write_tokens
    assert first.cost_usd == pytest.approx(price * whole_in + model.cost(0, first.output_tokens), rel=1e-6)
