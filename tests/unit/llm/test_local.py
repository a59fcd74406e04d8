from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest

from referee import machine
from referee.errors import DataError, MissingExtra, ModelUnavailable, SettingsError
from referee.llm import local
from referee.llm.catalogue import catalogue_entry, fetched_path
from referee.llm.local import LocalServer, close_local_servers, get_local_server
from referee.llm.models import LOCAL_READING, open_models
from referee.runs import silent
from referee.settings import Settings
from tests.needs import needs_model
from tests.needs import smallest_chat as smallest_chat

SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["points"],
    "properties": {
        "points": {
            "type": "array",
            "minItems": 1,
            "maxItems": 2,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["claim", "kind"],
                "properties": {"claim": {"type": "string", "maxLength": 30}, "kind": {"enum": ["K1", "K2"]}},
            },
        }
    },
}

needs_qwen = needs_model("qwen-0.5b")


@pytest.fixture
async def server(smallest_chat: str) -> AsyncIterator[LocalServer]:
    yield await get_local_server(smallest_chat, n_ctx=2048)
    close_local_servers()


def headers(server: LocalServer) -> dict[str, str]:
    return {"Authorization": f"Bearer {server.api_key}"}


def ask(text: str, **more: object) -> dict[str, object]:
    return {"messages": [{"role": "user", "content": text}], "max_tokens": 16, **more}


async def test_model_that_was_not_fetched(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"'qwen-1\.5b' is not on this machine") as caught:
        await get_local_server(cache_dir=tmp_path)
    assert "referee models fetch qwen-1.5b" in caught.value.hint


@pytest.mark.parametrize("n_ctx", [0, 32_769])
async def test_context_must_suit_the_model(n_ctx: int) -> None:
    with pytest.raises(SettingsError, match=f"context of {n_ctx:,} tokens"):
        await get_local_server(n_ctx=n_ctx)


async def test_unknown_model() -> None:
    with pytest.raises(SettingsError, match="'qwen-72b' is not known"):
        await get_local_server("qwen-72b")


def test_missing_runtime_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(MissingExtra) as caught:
        LocalServer("qwen-0.5b", tmp_path / "x.gguf")
    assert "pip install 'referee[local]'" in caught.value.hint


@pytest.mark.parametrize("error", [RuntimeError("no GGUF"), ValueError("no GGUF")])
def test_a_file_the_runtime_refuses_is_named(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def refused(parameters: object) -> None:
        raise error

    monkeypatch.setattr(local, "import_runtime", lambda: SimpleNamespace(Server=refused))
    monkeypatch.setattr(local, "_parameters", lambda *given: None)
    with pytest.raises(DataError, match=r"'qwen-0\.5b' cannot be loaded from 'x\.gguf': no GGUF") as caught:
        LocalServer("qwen-0.5b", Path("x.gguf"))
    assert "referee models remove qwen-0.5b" in caught.value.hint


def test_a_loaded_model_is_shared_until_it_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Loaded:
        def __init__(self, key: str, path: Path, n_ctx: int) -> None:
            self.is_open = True

    monkeypatch.setattr(local, "_SERVERS", {})
    monkeypatch.setattr(local, "LocalServer", Loaded)
    monkeypatch.setattr(local, "fetched_path", lambda key, cache_dir: Path("x.gguf"))
    entry = catalogue_entry("qwen-0.5b")
    first, other = (local._open_shared(entry, n_ctx, None) for n_ctx in (2048, 4096))
    assert first is not other
    assert local._open_shared(entry, 2048, None) is first
    first.is_open = False
    assert local._open_shared(entry, 2048, None) is not first
    assert local._open_shared(entry, 4096, None) is other


async def test_the_embedded_model_answers_one_call_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    class Loaded:
        base_url, api_key, context_tokens = "http://127.0.0.1:9/v1", "k", 2048

        def count_tokens(self, text: str) -> int:
            return len(text)

    asked: list[object] = []

    async def answer(*given: object, **more: object) -> Loaded:
        asked.append(given[0])
        return Loaded()

    monkeypatch.setattr("referee.llm.fetch.fetch_model", answer)
    monkeypatch.setattr(local, "get_local_server", answer)
    models = await open_models(Settings(), silent)
    model = models["writer"]
    assert asked == ["qwen-1.5b", "qwen-1.5b"]
    assert (model.spec.id, model.context_tokens, model.count("four")) == ("local:qwen-1.5b", 2048, 4)
    assert model.reading_tokens == LOCAL_READING
    async with asyncio.timeout(120), model.limits.slot(1):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01), model.limits.slot(1):
                pass
    await models.aclose()


@pytest.mark.parametrize(("quota", "most"), [("100000 100000", 1), ("150000 100000", 2), ("max 100000", 4096)])
def test_cores_respect_a_container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quota: str, most: int) -> None:
    (tmp_path / "cpu.max").write_text(quota)
    monkeypatch.setattr(machine, "_CPU_QUOTA", tmp_path / "cpu.max")
    assert 1 <= machine.usable_cores() <= most


@pytest.mark.local_model
@needs_qwen
def test_broken_file_is_an_error_and_not_a_crash(tmp_path: Path) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(b"GGUF" + bytes(500))
    with pytest.raises(DataError, match=r"'qwen-0\.5b' cannot be loaded"):
        LocalServer("qwen-0.5b", path)


@pytest.mark.local_model
async def test_server_wants_its_key_counts_and_keeps_the_schema(server: LocalServer) -> None:
    assert await get_local_server(f"local:{server.key}", n_ctx=2048) is server
    assert server.base_url.startswith("http://127.0.0.1:")
    assert server.context_tokens == 2048
    assert 0 == server.count_tokens("") < server.count_tokens("one two three") < 6
    body = ask(
        "Review: we train on the test set.",
        max_tokens=200,
        response_format={"type": "json_schema", "json_schema": {"name": "r", "strict": True, "schema": SCHEMA}},
    )
    async with httpx.AsyncClient(timeout=120) as client:
        refused = await client.post(f"{server.base_url}/chat/completions", json=ask("hi"))
        reply = await client.post(f"{server.base_url}/chat/completions", json=body, headers=headers(server))
        too_long = await client.post(
            f"{server.base_url}/chat/completions", json=ask("word " * 3000), headers=headers(server)
        )
    assert refused.status_code == 401
    choice = reply.json()["choices"][0]
    points = json.loads(choice["message"]["content"])["points"]
    assert choice["finish_reason"] == "stop"
    assert 1 <= len(points) <= 2
    assert all(len(point["claim"]) <= 30 and point["kind"] in ("K1", "K2") for point in points)
    assert (too_long.status_code, too_long.json()["error"]["type"]) == (400, "exceed_context_size_error")


@pytest.mark.local_model
async def test_hanging_up_frees_the_model(server: LocalServer) -> None:
    """Counted in the processor time of this process, in which the model runs: other work on the machine adds none."""
    url, now = f"{server.base_url}/chat/completions", time.process_time
    async with httpx.AsyncClient(timeout=500, headers=headers(server)) as client:
        started = now()
        await client.post(url, json=ask("Tell a story.", max_tokens=38, ignore_eos=True))
        a_fiftieth = now() - started
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.post(url, json=ask("Tell a story.", max_tokens=1900, ignore_eos=True)), 1)
        started = now()
        await client.post(url, json=ask("hi", max_tokens=1))
    assert now() - started < max(10, 15 * a_fiftieth), "as if nobody had hung up"


@pytest.mark.local_model
async def test_closed_server_says_so_and_is_loaded_anew(server: LocalServer) -> None:
    server.close()
    server.close()
    assert not server.is_open
    with pytest.raises(ModelUnavailable, match=f"{server.key!r} does not answer"):
        server.count_tokens("not counted before")
    assert await get_local_server(server.key, n_ctx=2048) is not server


@pytest.mark.local_model
@pytest.mark.timeout(120)
def test_a_server_that_is_closed_at_once_ends(smallest_chat: str) -> None:
    for _ in range(8):
        LocalServer(smallest_chat, fetched_path(smallest_chat, None), 512).close()


@pytest.mark.local_model
@needs_qwen
@pytest.mark.parametrize(("ending", "code"), [("", 0), ("raise SystemExit(3)", 3), ("raise ValueError", 1)])
def test_process_ends_cleanly_while_the_server_runs(ending: str, code: int) -> None:
    opened = "asyncio.run(get_local_server('qwen-0.5b', n_ctx=512))"
    program = f"import asyncio\nfrom referee.llm.local import *\n{opened}\n{ending}"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert ended.returncode == code, ended.stderr
    assert ended.stdout == ""
    assert ("ValueError" in ended.stderr) if code == 1 else (ended.stderr == "")
