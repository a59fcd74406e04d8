from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from referee.errors import (
    DataError,
    MissingExtra,
    ModelRefused,
    ModelUnavailable,
    ReplyInvalid,
    SettingsError,
)
from referee.llm.embeddings import _InProcess, make_embedder
from referee.llm.urgency import Urgency
from referee.settings import CallSettings
from tests.needs import needs_model

QUICK = CallSettings(max_tries=2, retry_wait_s=0.001)


class Provider:
    """An OpenAI-compatible embeddings server: each vector is [number of characters, 1]."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str | None, dict[str, Any]]] = []
        self.status = 200
        self.drop = 0
        self.value: float | None = None
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                provider.requests.append((self.path, self.headers.get("Authorization"), body))
                payload = json.dumps(provider.reply(body["input"])).encode()
                self.send_response(provider.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(payload)))
                self.end_headers()
                self.wfile.write(payload)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def reply(self, texts: list[str]) -> dict[str, Any]:
        if self.status != 200:
            return {"error": {"message": "no", "type": "x", "code": None}}
        first = [self.value if self.value is not None else float(len(text)) for text in texts]
        rows = [{"object": "embedding", "index": i, "embedding": [x, 1.0 if x else 0.0]} for i, x in enumerate(first)]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return {"object": "list", "data": rows[self.drop :], "model": "m", "usage": usage}


@pytest.fixture
def provider() -> Iterator[Provider]:
    provider = Provider()
    thread = threading.Thread(target=provider.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield provider
    provider.server.shutdown()
    thread.join()
    provider.server.server_close()


@pytest.mark.parametrize("spec", ["", "word2vec", "anthropic:x", "openai:", "sentence-transformers", "local:qwen-0.5b"])
def test_unknown_embedders(spec: str) -> None:
    with pytest.raises(SettingsError) as caught:
        make_embedder(spec)
    assert caught.value.hint


def test_embedded_model_must_be_fetched(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="referee models fetch minilm"):
        make_embedder("local", cache_dir=tmp_path)


@pytest.mark.parametrize("spec", ["openai:text-embedding-3-small", "google_genai:gemini-embedding-001"])
def test_provider_without_a_key(spec: str) -> None:
    with pytest.raises(SettingsError, match="needs a key"):
        make_embedder(spec)


def test_google_is_made_without_a_call() -> None:
    embedder = make_embedder("google_genai:gemini-embedding-001", api_key="k")
    assert (embedder.id, embedder.dim) == ("google_genai:gemini-embedding-001", None)


async def test_server_gives_unit_rows_in_order(provider: Provider) -> None:
    embedder = make_embedder("openai:nomic", base_url=provider.url, api_key="secret")
    assert embedder.dim is None
    vectors = await embedder.embed(["abc", "ab", "a"])
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1)
    assert vectors[0] == pytest.approx(np.array([3, 1]) / 10**0.5)
    assert embedder.dim == 2
    assert "secret" not in embedder.id
    await embedder.aclose()
    path, key, body = provider.requests[0]
    assert (path, key, body["model"], body["input"]) == ("/v1/embeddings", "Bearer secret", "nomic", ["abc", "ab", "a"])


async def test_many_texts_go_in_several_calls(provider: Provider) -> None:
    embedder = make_embedder("nomic", base_url=provider.url)
    texts = ["x" * n for n in range(1, 151)]
    vectors = await embedder.embed(texts)
    assert len(vectors) == 150
    assert [len(body["input"]) for _, _, body in provider.requests] == [64, 64, 22]
    assert vectors[149] == pytest.approx(np.array([150, 1]) / (150**2 + 1) ** 0.5)
    assert (await embedder.embed([])).shape == (0, 2)
    await embedder.aclose()


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_our_own_mistakes_are_named_after_one_try(provider: Provider, status: int) -> None:
    provider.status = status
    embedder = make_embedder("nomic", base_url=provider.url, api_key="secret")
    with pytest.raises(ModelRefused):
        await embedder.embed(["a"])
    await embedder.aclose()
    assert len(provider.requests) == 1


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
async def test_what_passes_is_tried_again_and_named(provider: Provider, status: int) -> None:
    provider.status = status
    embedder = make_embedder("nomic", base_url=provider.url, calls=QUICK)
    with pytest.raises(ModelUnavailable, match=f"HTTP {status}"):
        await embedder.embed(["a"])
    await embedder.aclose()
    assert len(provider.requests) == QUICK.max_tries


async def test_server_that_is_not_there() -> None:
    with pytest.raises(ModelUnavailable, match="no connection"):
        await make_embedder("nomic", base_url="http://127.0.0.1:9/v1").embed(["a"])


async def test_bad_replies(provider: Provider) -> None:
    embedder = make_embedder("nomic", base_url=provider.url)
    provider.drop = 1
    with pytest.raises(ReplyInvalid, match="1 vectors for 2 texts"):
        await embedder.embed(["a", "b"])
    provider.drop, provider.value = 0, 0.0
    with pytest.raises(ReplyInvalid, match="zero or not finite"):
        await embedder.embed(["a"])
    await embedder.aclose()


def test_missing_sentence_transformers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtra) as caught:
        make_embedder("sentence-transformers:intfloat/e5-small-v2")
    assert "pip install 'referee[sentence-transformers]'" in caught.value.hint


PACKAGE = """
made = []

class SentenceTransformer:
    def __init__(self, name):
        if name == "no/model":
            raise OSError("no/model is not a local folder and no valid identifier\\nIf this is a private one")
        made.append(name)

    def encode(self, texts, show_progress_bar):
        return [[3.0, 4.0]] * len(texts)
"""


@pytest.fixture
def sentence_transformers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package of that name, whose models give one vector for everything."""
    (tmp_path / "sentence_transformers.py").write_text(PACKAGE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "sentence_transformers", raising=False)


@pytest.mark.usefixtures("sentence_transformers")
@pytest.mark.parametrize("base_url", [None, "http://127.0.0.1:9/v1"])  # a server for chats does not embed for it
async def test_sentence_transformers_model_is_loaded_at_first_use(base_url: str | None) -> None:
    embedder = make_embedder("sentence-transformers:a/b", base_url=base_url)
    assert embedder.id == "sentence-transformers:a/b"
    assert "sentence_transformers" not in sys.modules, "torch takes seconds"
    for _ in range(2):
        assert (await embedder.embed(["x", "y"])).tolist() == [[pytest.approx(0.6), pytest.approx(0.8)]] * 2
    assert (sys.modules["sentence_transformers"].made, embedder.dim) == (["a/b"], 2)


@pytest.mark.usefixtures("sentence_transformers")
async def test_a_sentence_transformers_model_that_cannot_be_had_is_named() -> None:
    embedder = make_embedder("sentence-transformers:no/model")
    with pytest.raises(
        DataError, match="'no/model' cannot be loaded: OSError: no/model is not a local folder"
    ) as caught:
        await embedder.embed(["x"])
    assert "\n" not in caught.value.message
    assert caught.value.hint


class Slow:
    """A model in this process that computes only when it may; notes the batches it was given."""

    def __init__(self) -> None:
        self.may, self.begun, self.batches = threading.Event(), threading.Event(), list[list[str]]()

    def encode(self, texts: Sequence[str]) -> list[list[float]]:
        self.begun.set()
        assert self.may.wait(120)
        self.batches.append(list(texts))
        return [[float(len(text)), 1.0] for text in texts]


async def test_a_question_waits_for_one_small_batch_at_most() -> None:
    slow = Slow()
    embedder = _InProcess("slow", slow.encode, 2, threads=1, batch_chars=10)
    review = asyncio.create_task(embedder.embed(["a" * 6, "b" * 4, "c" * 20, "d"], urgency=Urgency.COMPARISON))
    assert await asyncio.to_thread(slow.begun.wait, 120)
    question = asyncio.create_task(embedder.embed(["why"], urgency=Urgency.QUERY))
    await asyncio.sleep(0)
    slow.may.set()
    assert (await question).shape == (1, 2)
    assert (await review)[:, 0] * np.sqrt([37, 17, 401, 2]) == pytest.approx([6, 4, 20, 1], rel=1e-5)
    assert slow.batches == [["a" * 6, "b" * 4], ["why"], ["c" * 20], ["d"]]


async def test_what_is_given_up_is_not_computed() -> None:
    slow = Slow()
    embedder = _InProcess("slow", slow.encode, 2, threads=1, batch_chars=1)
    given_up = asyncio.create_task(embedder.embed(["a", "b", "c"]))
    assert await asyncio.to_thread(slow.begun.wait, 120)
    given_up.cancel()
    with pytest.raises(asyncio.CancelledError):
        await given_up
    slow.may.set()
    await embedder.embed(["d"])
    assert slow.batches == [["a"], ["d"]]


@pytest.mark.local_model
@needs_model("minilm", runtime=False)
@pytest.mark.parametrize("spec", ["local", "local:minilm"])
async def test_embedded_model_finds_a_paraphrase(spec: str) -> None:
    embedder = make_embedder(spec)
    assert (embedder.id, embedder.dim) == ("local:minilm", 384)
    vectors = await embedder.embed(
        ["The experiments lack a baseline.", "No baseline is compared against.", "The weather in Lisbon is mild."]
    )
    assert vectors[0] @ vectors[1] > 0.5 > vectors[0] @ vectors[2]
    assert (await embedder.embed([])).shape == (0, 384)
