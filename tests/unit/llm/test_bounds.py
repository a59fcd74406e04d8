"""Replies and numbers of a server that is broken or means harm."""

import json
from typing import Any

import pytest

from referee.errors import ReplyCut
from referee.llm.bounds import most_characters, shown_again
from referee.llm.wire import Wire
from tests.support import FakeServer

from .shared import GOOD, SPECS, ask, door_to, sharing
from .test_wire import ANTHROPIC_ANSWER, GOOGLE_ANSWER, OPENAI_ANSWER, recorder, request
from .test_wire import SPECS as WIRE_SPECS

HUGE = "x" * 400_000


@pytest.mark.parametrize("prefix", ["", "The paper.\n\n"], ids=["whole", "streamed"])
@pytest.mark.parametrize("provider", SPECS)
async def test_a_huge_reply_is_cut_off_and_not_asked_for_again(provider: str, prefix: str) -> None:
    with FakeServer({"*": [HUGE, GOOD]}) as server:
        async with door_to(provider, server) as door:
            with pytest.raises(ReplyCut, match="cut off at the token limit"):
                await ask(door, sharing("Task.", prefix))
            first = door.ledger.records[0]
    assert len(server.log.entries) == 1
    assert "cut off" in first.error
    assert len(first.reply or "") <= most_characters(200)


def test_a_long_reply_is_shown_by_its_head_and_tail() -> None:
    assert shown_again("short", 100) == "short"
    shown = shown_again("a" * 10_000 + "b" * 10_000, 100)
    assert shown.startswith("aaa")
    assert shown.endswith("bbb")
    assert "16,000 characters are left out" in shown


def usages(provider: str, count: Any) -> dict[str, Any]:
    """A good answer whose numbers of tokens are none."""
    if provider == "anthropic":
        return ANTHROPIC_ANSWER | {"usage": {"input_tokens": count, "output_tokens": count}}
    if provider == "google_genai":
        return GOOGLE_ANSWER | {"usageMetadata": {"promptTokenCount": count, "candidatesTokenCount": count}}
    return OPENAI_ANSWER | {"usage": {"prompt_tokens": count, "completion_tokens": count, "total_tokens": count}}


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")  # LangChain writes what it was sent
@pytest.mark.parametrize("provider", ["openai", "server", "anthropic"])
@pytest.mark.parametrize("count", [float("inf"), float("nan"), -5, 1.5, 1e300, 10**12], ids=str)
async def test_numbers_of_tokens_that_cannot_be_true_are_not_believed(provider: str, count: Any) -> None:
    with recorder(usages(provider, count)) as (url, _):
        base = f"{url}/v1" if provider in ("openai", "server") else url
        wire = Wire(WIRE_SPECS[provider], key="k", timeout_s=10, base_url=base)
        completion = await wire.send(request())
        await wire.aclose()
    assert json.loads(completion.text)["score"] == 3
    assert (completion.input_tokens, completion.output_tokens) == (None, None)


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")  # LangChain writes what it was sent
@pytest.mark.parametrize("count", [float("inf"), float("nan"), -5, 1.5, 1e300], ids=str)
async def test_nor_are_those_of_a_stream(count: Any) -> None:
    def chunk(**more: Any) -> bytes:
        return f"data: {json.dumps(base | more)}\n\n".encode()

    base = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    text = json.dumps({"items": [], "score": 3})
    events = [
        chunk(choices=[{"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}]),
        chunk(choices=[{"index": 0, "delta": {}, "finish_reason": "stop"}]),
        chunk(choices=[], usage={"prompt_tokens": count, "completion_tokens": count, "total_tokens": count}),
        b"data: [DONE]\n\n",
    ]
    with recorder(b"".join(events), kind="text/event-stream") as (url, _):
        wire = Wire(WIRE_SPECS["server"], key="k", timeout_s=10, base_url=f"{url}/v1")
        completion = await wire.stream(request(prefix_chars=5), lambda: None)
        await wire.aclose()
    assert completion.text == text
    assert (completion.input_tokens, completion.output_tokens) == (None, None)
    assert not completion.ended


async def test_more_cached_tokens_than_there_are_tokens_are_not_believed() -> None:
    usage = OPENAI_ANSWER["usage"] | {"prompt_tokens_details": {"cached_tokens": 500}}  # type: ignore[operator]
    with recorder(OPENAI_ANSWER | {"usage": usage}) as (url, _):
        wire = Wire(WIRE_SPECS["openai"], key="k", timeout_s=10, base_url=f"{url}/v1")
        completion = await wire.send(request())
        await wire.aclose()
    assert (completion.input_tokens, completion.cached_tokens) == (11, 0)
