"""What is settled before the first call: a key that can be sent, and how long a server's context is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

import referee.llm.models as models_module
from referee.errors import SettingsError
from referee.llm.embeddings import make_embedder
from referee.llm.models import check_models, open_models
from referee.llm.providers import parse_model, require_key
from referee.runs import silent
from referee.settings import Settings, load_settings
from tests.held import PATIENCE_S
from tests.support import FakeServer

UNSENDABLE = ["sk-first\nsecond", "sk-quoted-\u2019", "sk-\u00e9t\u00e9", "sk-\x1b[31mred", "sk-half-\udc80"]


@pytest.mark.parametrize("key", UNSENDABLE, ids=ascii)
@pytest.mark.parametrize(("model", "name"), [("openai:m", "OPENAI_API_KEY"), ("google_genai:m", "GOOGLE_API_KEY")])
def test_a_key_that_no_header_carries_is_refused_by_its_variables_name(model: str, name: str, key: str) -> None:
    with pytest.raises(SettingsError) as caught:
        require_key(parse_model(model), {name: key})
    assert name in caught.value.message
    assert name in caught.value.hint
    assert key not in str(caught.value)
    assert key[:6] not in str(caught.value)


@pytest.mark.parametrize("key", UNSENDABLE[:3], ids=ascii)
def test_it_is_refused_before_anything_is_sent(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFEREE_API_KEY", key)
    with FakeServer() as server:
        with pytest.raises(SettingsError, match="REFEREE_API_KEY"):
            check_models(on(server.base_url))
        with pytest.raises(SettingsError, match="REFEREE_API_KEY"):
            make_embedder("embed", base_url=server.base_url)
        with pytest.raises(SettingsError, match="api_key"):
            make_embedder("embed", base_url=server.base_url, api_key=key)
    assert server.log.entries == []


def test_blanks_and_line_ends_around_a_key_are_not_part_of_it() -> None:
    server = parse_model("m", "http://127.0.0.1:1/v1")
    assert require_key(server, {"REFEREE_API_KEY": " key-with-a-line-end\r\n"}) == "key-with-a-line-end"
    assert require_key(server, {"REFEREE_API_KEY": " \n"}) is None
    assert require_key(parse_model("openai:m"), {"OPENAI_API_KEY": "sk-1\n"}) == "sk-1"


def on(base_url: str, **overrides: object) -> Settings:
    return load_settings({"models.default": "m", "models.base_url": base_url, **overrides}, env={})


@asynccontextmanager
async def unanswering(*, drip: bool) -> AsyncIterator[str]:
    """A server that takes every request and says nothing, or a byte at a time and never all."""
    serving: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        serving.add(task)
        try:
            if drip:
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n")
            while not reader.at_eof():
                if drip:
                    writer.write(b" ")
                await asyncio.sleep(0.02)
        except (ConnectionError, asyncio.CancelledError):
            writer.transport.abort()
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)


@pytest.mark.parametrize("drip", [False, True])
async def test_a_server_that_does_not_name_its_context_in_time_costs_a_note(
    drip: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models_module, "CONTEXT_QUESTION_S", 0.3)
    async with unanswering(drip=drip) as base_url:
        async with asyncio.timeout(PATIENCE_S):
            models = await open_models(on(base_url), silent)
        told = await open_models(on(base_url, **{"models.context_tokens": 4096}), silent)
        await models.aclose()
        await told.aclose()
    writer = models["writer"]
    (note,) = writer.notes
    assert note.endswith("did not name its context within 0.3 s; 32,768 tokens are assumed")
    assert writer.spec.id in note
    assert writer.context_tokens == 32_768
    assert (told["writer"].context_tokens, told["writer"].notes) == (4096, [])


def test_the_question_is_bounded_by_seconds() -> None:
    assert models_module.CONTEXT_QUESTION_S == 5.0
