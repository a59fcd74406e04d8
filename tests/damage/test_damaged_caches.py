"""Caches that are damaged: what is in them counts as absent, and no answer ever comes out of the damage."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pytest

from referee.errors import RetrievalError
from referee.llm.cache import ReplyCache
from referee.retrieval import Child
from referee.retrieval.store import VectorStore
from referee.schemas.usage import Usage
from tests.cli.command import Referee
from tests.cli.refusals import assert_finished
from tests.support import FakeServer

from .damaged_runs import SECTIONS, asked, assert_refused_with, content, digests, resumed


def flipped(text: str) -> str:
    """The same JSON with one letter of the reply another."""
    entry = json.loads(text)
    return json.dumps(entry | {"reply": entry["reply"].replace("e", "o", 1)})


ENTRIES: dict[str, Callable[[str], str]] = {
    "empty": lambda text: "",
    "cut": lambda text: text[: len(text) // 2],
    "zeros": lambda text: "\x00" * len(text),
    "another shape": lambda text: '{"answer": 42}',
    "one letter changed": flipped,
    "from before there were seals": lambda text: json.dumps({k: v for k, v in json.loads(text).items() if k != "seal"}),
}


@pytest.mark.parametrize("kind", ENTRIES)
def test_a_damaged_entry_is_absent_and_written_anew(
    referee: Referee, paper: Path, server: FakeServer, tmp_path: Path, kind: str
) -> None:
    arguments = [word for word in asked(paper, server) if word != "--no-cache"]
    assert referee(*arguments, "--out", "first").code == 0
    (entry,) = (tmp_path / "cache" / "replies").rglob("*.json")
    whole = entry.read_text()
    entry.write_text(ENTRIES[kind](whole))
    done = referee("-v", *arguments, "--out", "second")
    assert done.code == 0, done.err
    assert f"cache entry {entry} is not" in done.err
    assert "counts as absent" in done.err
    assert digests(server) == digests(server)[:1] * 2, "asked again"
    assert content(Path("second")) == content(Path("first"))
    assert entry.read_text() == whole
    assert "absent" not in referee(*arguments, "--out", "third").err
    assert len(digests(server)) == 2


def test_an_entry_under_another_requests_name_is_absent(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path)
    cache.put("a" * 64, "{}", Usage(input_tokens=1, output_tokens=2))
    (tmp_path / "bb").mkdir()
    shutil.copy(tmp_path / "aa" / f"{'a' * 62}.json", tmp_path / "bb" / f"{'b' * 62}.json")
    assert cache.get("a" * 64) is not None
    assert cache.get("b" * 64) is None


PAPER = "a" * 64
NAME = f"{PAPER}-0123"
COUNT = 1200


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cache folder of an index with more passages than Chroma keeps in its database by default."""
    cache = tmp_path_factory.mktemp("index")
    store = VectorStore(PAPER, cache)
    children = [Child(f"c{i}", "p", "s", "", "", "", (), ()) for i in range(COUNT)]
    store.write(NAME, children, vectors())
    store.close()
    return cache


def vectors(seed: int = 1) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(COUNT, 16)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def answers(cache: Path) -> object:
    """What a search finds, or null where the index is to be made anew."""
    store = VectorStore(PAPER, cache)
    try:
        return store.query(NAME, vectors(2)[:3], 5) if store.holds(NAME) else None
    finally:
        with suppress(RetrievalError):
            store.close()


def sql(*statements: str) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        with closing(sqlite3.connect(folder / "chroma.sqlite3")) as database:
            for statement in statements:
                database.execute(statement)
            database.commit()

    return damage


def file(change: Callable[[bytes], bytes], pattern: str = "chroma.sqlite3") -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        for path in folder.rglob(pattern):
            path.write_bytes(change(path.read_bytes()))

    return damage


def without_segments(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)


INDEXES: dict[str, Callable[[Path], None]] = {
    "cut": file(lambda data: data[: len(data) // 2]),
    "empty": file(lambda data: b""),
    "overwritten": file(lambda data: bytes(len(data))),
    "a page lost": file(lambda data: data[:400_000] + bytes(65536) + data[465_536:]),
    "segments lost": without_segments,
    "segments cut": file(lambda data: data[: len(data) // 2], "*.bin"),
    "segments overwritten": file(lambda data: bytes(len(data)), "*.bin"),
    "a segment unknown": sql("DELETE FROM segments WHERE scope = 'VECTOR'"),
    "rows lost": sql("DELETE FROM embeddings WHERE id % 7 = 0"),
    "vectors lost": sql("DELETE FROM embeddings_queue WHERE seq_id % 7 = 0"),
    "vectors changed": sql("UPDATE embeddings_queue SET vector = zeroblob(length(vector)) WHERE seq_id % 7 = 0"),
    "of another version": sql("UPDATE migrations SET hash = 'another'"),
    "of an older version": sql("DELETE FROM migrations WHERE dir = 'sysdb' AND version > 5"),
}


@pytest.mark.parametrize("kind", INDEXES)
def test_a_damaged_index_never_gives_other_passages(index: Path, tmp_path: Path, kind: str) -> None:
    """The same passages as before, nothing (it is made anew), or an error that names the folder and the way out."""
    cache = tmp_path / "cache"
    shutil.copytree(index, cache)
    INDEXES[kind](cache / "chroma" / PAPER)
    found, refused = None, None
    try:
        found = answers(cache)
    except RetrievalError as error:
        refused = error
    assert found in (None, answers(index))
    if refused is not None:
        assert repr(str(cache / "chroma" / PAPER)) in refused.message
        assert "delete it, or set REFEREE_CACHE_DIR" in refused.hint


def test_a_damaged_index_ends_a_run_which_then_goes_on(
    referee: Referee, paper: Path, narrow_server: FakeServer, tmp_path: Path
) -> None:
    arguments = asked(paper, narrow_server, strategy=SECTIONS)
    assert referee(*arguments, "--out", "first").code == 0
    (chroma,) = (path for path in (tmp_path / "cache" / "chroma").iterdir() if path.is_dir())
    first = digests(narrow_server)
    INDEXES["overwritten"](chroma)
    done = referee(*arguments, "--out", "run")
    assert_refused_with(done, f"{str(chroma)!r}", "delete it", "--resume run")
    paid = digests(narrow_server)[len(first) :]
    shutil.rmtree(chroma)
    done = resumed(referee, arguments, Path("run"))
    assert done.code == 0, done.err
    assert_finished(Path("run"))
    assert not set(digests(narrow_server)[len(first) + len(paid) :]) & set(paid)
    assert content(Path("run")) == content(Path("first"))
