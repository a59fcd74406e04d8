"""Ollama, LM Studio, llama.cpp and vLLM on this machine: their documented pages, their formats, their bad days."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from referee.errors import ModelRefused, ModelUnavailable, PromptCut, ReplyInvalid, SettingsError
from referee.llm.door import Door
from referee.llm.models import open_models
from referee.llm.nearby import servers_nearby
from referee.llm.prices import cost_usd
from referee.llm.providers import parse_model, require_key
from referee.llm.providers.ollama import MOST_CONTEXT
from referee.llm.spec import ModelSpec
from referee.prompts import RenderedPrompt
from referee.runs.progress import silent
from referee.settings import Settings, load_settings
from tests.support import FakeServer, Fault

TAGS = {
    "models": [
        {"name": "qwen3:8b", "model": "qwen3:8b", "size": 5_200_000_000, "details": {"family": "qwen3"}},
        {"name": "tiny:latest", "model": "tiny:latest", "size": 1, "details": {}},
    ]
}
SHOW = {
    "modelfile": "# a file",
    "parameters": 'stop                           "<|im_end|>"\ntemperature                    0.6',
    "details": {"family": "qwen3", "parameter_size": "8.2B"},
    "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 131_072, "qwen3.block_count": 36},
    "capabilities": ["completion", "tools"],
}
STUDIO = {
    "object": "list",
    "data": [
        {"id": "embed", "type": "embeddings", "state": "loaded", "max_context_length": 2_048},
        {"id": "big", "type": "llm", "state": "not-loaded", "max_context_length": 131_072},
        {"id": "own", "type": "llm", "state": "loaded", "max_context_length": 65_536, "loaded_context_length": 12_288},
    ],
}


class Reply(BaseModel):
    """A small reply."""

    claim: str = Field(max_length=50)
    score: Literal[1, 2, 3]


ANSWER = {"claim": "sound", "score": 3}


def prompt(text: str = "Judge this.") -> RenderedPrompt:
    return RenderedPrompt(id="test/verdict", version="v1", digest="d", system="You judge.", user=text)


def settings(model: str, server: FakeServer, **more: Any) -> Settings:
    given = {"models.default": model, "models.base_url": server.url, "calls.retry_wait_s": 0.01, "calls.cache": False}
    return load_settings({**given, **more})


async def asked(model: str, server: FakeServer, text: str = "Judge this.", **more: Any) -> Any:
    chosen = settings(model, server, **more)
    models = await open_models(chosen, silent)
    try:
        answer = await Door(models, calls=chosen.calls).ask(prompt(text), Reply, role="writer", max_output_tokens=200)
    finally:
        await models.aclose()
    return answer, models["writer"]


def ollama(script: Any = None, *, show: Any = SHOW, tags: Any = TAGS, **more: Any) -> FakeServer:
    return FakeServer(script or {"*": ANSWER}, pages={"/api/tags": tags, "/api/show": show}, **more)


def test_short_names_are_addresses_on_this_machine() -> None:
    assert parse_model("ollama:qwen3:8b") == ModelSpec("ollama", "qwen3:8b", "http://127.0.0.1:11434")
    assert parse_model("lmstudio:own") == ModelSpec("server", "own", "http://127.0.0.1:1234/v1")
    assert parse_model("ollama:a", "http://host:1/v1") == ModelSpec("ollama", "a", "http://host:1")
    assert parse_model("lmstudio:a", "http://host:1/v1/") == ModelSpec("server", "a", "http://host:1/v1")
    assert parse_model("qwen2.5:7b", "http://host:1/v1").provider == "server", "a server's own name, as before"
    assert require_key(parse_model("ollama:a"), {}) is None
    assert require_key(parse_model("ollama:a"), {"REFEREE_API_KEY": "k", "OPENAI_API_KEY": "secret"}) == "k"
    for bad in ("ollama:", "olama:qwen3", "lmstudio"):
        with pytest.raises(SettingsError, match="no known provider"):
            parse_model(bad)


async def test_ollama_is_told_how_long_the_context_is_and_gets_the_schema() -> None:
    with ollama() as server:
        answer, model = await asked("ollama:qwen3:8b", server)
        (call,) = server.log.calls(endpoint="chat")
    assert (answer.value.claim, answer.value.score) == ("sound", 3)
    assert call.request is not None
    assert call.request.wire == "ollama"
    assert call.request.params["num_ctx"] == MOST_CONTEXT == model.context_tokens
    assert call.request.params["num_predict"] == 200
    assert call.request.schema is not None
    assert call.request.schema["properties"]["score"]["enum"] == [1, 2, 3]
    assert answer.usage.input_tokens
    assert answer.usage.output_tokens
    assert any("is asked for a context of 49,152 tokens" in note for note in answer.notes)


@pytest.mark.parametrize(
    ("show", "more", "context"),
    [
        ({**SHOW, "parameters": "num_ctx                        8192\nstop x"}, {}, 8_192),
        ({**SHOW, "model_info": {"a.context_length": 4_096}}, {}, 4_096),
        (SHOW, {"models.context_tokens": 100_000}, 100_000),
        ({}, {}, 32_768),
        ((404, {"error": "no such model"}), {}, 32_768),
        ({"model_info": {"a.context_length": "many"}, "parameters": 7}, {}, 32_768),
    ],
)
async def test_the_context_is_that_of_the_file_or_the_model_or_the_setting(show: Any, more: Any, context: int) -> None:
    with ollama(show=show) as server:
        _, model = await asked("ollama:qwen3:8b", server, **more)
        (call,) = server.log.calls(endpoint="chat")
    assert model.context_tokens == context
    assert call.request is not None
    assert call.request.params["num_ctx"] == context


async def test_a_model_that_is_not_there_is_named_with_those_that_are() -> None:
    with ollama() as server, pytest.raises(ModelRefused, match="has no model 'qwen3:70b'") as caught:
        await asked("ollama:qwen3:70b", server)
    assert "qwen3:8b" in caught.value.hint
    assert "ollama pull qwen3:70b" in caught.value.hint
    with ollama(tags={"models": []}) as server, pytest.raises(ModelRefused, match="has no model") as caught:
        await asked("ollama:a", server)
    assert "It has: none." in caught.value.hint
    with ollama() as server:
        await asked("ollama:tiny", server)


@pytest.mark.parametrize("model", ["ollama:qwen3:8b", "own"])
async def test_a_prompt_that_a_known_window_cannot_hold_is_an_error_and_no_reply(model: str) -> None:
    long = " ".join(f"Sentence {n} speaks of lanterns in harbours." for n in range(1_000))
    with ollama(window=1_024) as server:
        more = {"models.base_url": server.base_url, "models.context_tokens": 8_000}
        with pytest.raises(PromptCut, match=r"read 1,024 of about [\d,]+ tokens") as caught:
            await asked(model, server, long, **more)
        assert "OLLAMA_CONTEXT_LENGTH" in caught.value.hint
    with ollama() as server:
        await asked(model, server, long, **{"models.base_url": server.base_url, "models.context_tokens": 60_000})


async def test_a_server_that_ignores_the_schema_is_repaired_or_named() -> None:
    said = iter(["Sure! Here is my view.", json.dumps(ANSWER)])
    with ollama({"*": lambda request: next(said)}) as server:
        answer, _ = await asked("ollama:qwen3:8b", server)
        assert answer.value.score == 3
        assert len(server.log.calls(endpoint="chat")) == 2


async def test_a_server_that_is_busy_loading_is_tried_again() -> None:
    with ollama(faults=[Fault("503", first_tries=2)]) as server:
        answer, _ = await asked("ollama:qwen3:8b", server)
        assert answer.value.score == 3
    loading = "Loading model"
    with FakeServer({"*": ANSWER}, models=("own",), faults=[Fault("503", first_tries=1, message=loading)]) as server:
        answer, _ = await asked("own", server, **{"models.base_url": server.base_url})
        assert answer.value.score == 3
    with ollama(faults=[Fault("503")]) as server, pytest.raises(ModelUnavailable, match="server busy"):
        await asked("ollama:qwen3:8b", server, **{"calls.max_tries": 2})


async def test_a_reply_that_is_cut_off_is_seen() -> None:
    with ollama(faults=[Fault("length")]) as server, pytest.raises(ReplyInvalid, match="cut off"):
        await asked("ollama:qwen3:8b", server)


def test_a_model_of_this_machine_costs_nothing_and_one_that_is_passed_on_is_unknown() -> None:
    for name, cost in (("ollama:a", 0.0), ("ollama:gpt-oss:120b-cloud", None)):
        assert cost_usd(parse_model(name), 1_000, 1_000, {}) == cost
    assert cost_usd(parse_model("ollama:a", "http://10.0.0.7:11434"), 1_000, 1_000, {}) is None
    assert cost_usd(parse_model("ollama:a"), 10**6, 0, {"a": (2.0, 3.0)}) == 2.0


async def test_nobody_listens() -> None:
    with ollama() as server:
        pass
    with pytest.raises(ModelUnavailable, match="no connection") as caught:
        await asked("ollama:qwen3:8b", server)
    assert "referee doctor" in caught.value.hint


@pytest.mark.parametrize(
    ("pages", "name", "context"),
    [
        ({"/api/v0/models": STUDIO}, "own", 12_288),
        ({"/props": {"default_generation_settings": {"n_ctx": 24_576}}}, "own", 24_576),
        ({"/props": {"default_generation_settings": []}}, "own", 32_768),
        ({"/api/v0/models": {"data": 3}}, "own", 32_768),
    ],
)
async def test_what_other_servers_say_of_their_context(pages: Any, name: str, context: int) -> None:
    with FakeServer({"*": ANSWER}, models=("own", "big"), pages=pages) as server:
        _, model = await asked(name, server, **{"models.base_url": server.base_url})
    assert model.context_tokens == context


async def test_a_model_that_is_not_loaded_is_refused_with_the_way_to_load_it() -> None:
    with FakeServer({"*": ANSWER}, models=("own", "big"), pages={"/api/v0/models": STUDIO}) as server:
        with pytest.raises(ModelRefused, match="not loaded") as caught:
            await asked("big", server, **{"models.base_url": server.base_url})
        assert "lms load big --context-length" in caught.value.hint
        await asked("big", server, **{"models.base_url": server.base_url, "models.context_tokens": 8_000})


async def test_a_server_that_loads_its_model_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("referee.llm.models.LOADING_PAUSE_S", 1)
    monkeypatch.setattr("referee.llm.models.LOADING_S", 1)
    loading = (503, {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}})
    with FakeServer({"*": ANSWER}, pages={"/v1/models": loading}) as server:
        with pytest.raises(ModelUnavailable, match="still loading"):
            await asked("own", server, **{"models.base_url": server.base_url})
        (found,) = await servers_nearby({"llama.cpp": int(server.url.rpartition(":")[2])})
        assert found.is_loading


async def test_no_key_of_somebody_else_goes_to_an_ollama(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_API_KEY", "secret-of-the-cloud")
    with ollama(expected_key="none") as server:
        await asked("ollama:qwen3:8b", server)


async def test_a_model_too_large_for_the_machine_is_not_tried_again() -> None:
    message = "model requires more system memory (21.0 GiB) than is available (11.2 GiB)"
    with ollama(faults=[Fault("500", message=message)]) as server:
        with pytest.raises(ModelRefused, match="does not fit this machine"):
            await asked("ollama:qwen3:8b", server)
        assert len(server.log.calls(endpoint="chat")) == 1


async def test_servers_are_found_at_their_ports_and_strangers_are_not() -> None:
    with (
        ollama() as first,
        FakeServer(models=("own",), pages={"/api/v0/models": STUDIO}) as second,
        FakeServer(models=("served",), context_tokens=40_960) as third,
        FakeServer(pages={"/v1/models": {"hello": "world"}}) as stranger,
    ):
        urls = {"ollama": first.url, "lmstudio": second.url, "llama.cpp": third.url, "vllm": stranger.url}
        found = await servers_nearby({kind: int(url.rpartition(":")[2]) for kind, url in urls.items()})
    by_kind = {server.kind: server for server in found}
    assert set(by_kind) == {"ollama", "lmstudio", "llama.cpp"}
    assert [(model.name, model.context) for model in by_kind["ollama"].models] == [
        ("qwen3:8b", 131_072),
        ("tiny:latest", 131_072),
    ]
    assert by_kind["ollama"].command(by_kind["ollama"].models[0]) == f"--model ollama:qwen3:8b --base-url {first.url}"
    assert [model.name for model in by_kind["lmstudio"].models] == ["own", "big"], "embedders are no chat models"
    (served,) = by_kind["llama.cpp"].models
    assert (served.context, by_kind["llama.cpp"].command(served)) == (
        40_960,
        f"--model served --base-url {third.url}/v1",
    )
