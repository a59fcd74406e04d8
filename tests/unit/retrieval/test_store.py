from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from referee.errors import RetrievalError
from referee.retrieval import Child, ChunkSizes, cut_paper, open_retriever, remove_index
from referee.retrieval.store import VectorStore, collection_name

from .small_papers import WordEmbedder, topical, words

PAPER = "a" * 64
NAME = f"{PAPER}-0123"


def children(count: int) -> list[Child]:
    return [Child(f"s{i % 5}.p1.c{i}", f"s{i % 5}.p1", f"s{i % 5}", "", "", "", (), ()) for i in range(count)]


def unit_rows(count: int, seed: int, dim: int = 48) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(count, dim)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_search_is_exact_and_gives_cosine_similarities(tmp_path: Path) -> None:
    found, vectors, queries = children(700), unit_rows(700, 1), unit_rows(9, 2)
    store = VectorStore(PAPER, tmp_path)
    store.write(NAME, found, vectors)
    rows = store.query(NAME, queries, 6, {"s0", "s3", "unknown"})
    allowed = [i for i in range(700) if i % 5 not in (0, 3)]
    for query, row in zip(queries, rows, strict=True):
        cosines = vectors[allowed] @ query
        best = np.argsort(-cosines)[:6]
        assert [key for key, _ in row] == [found[allowed[i]].id for i in best]
        assert [similarity for _, similarity in row] == pytest.approx(cosines[best], abs=1e-5)
    itself = store.query(NAME, vectors[:1], 1)[0]
    assert itself == [(found[0].id, pytest.approx(1, abs=1e-5))]
    assert all(-1 <= similarity <= 1 for similarity in (store.query(NAME, -vectors[:1], 700)[0][-1][1], itself[0][1]))
    assert store.query(NAME, queries[:1], 6, {f"s{i}" for i in range(5)}) == [[]]
    store.close()


def test_nothing_is_sent_whatever_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text("CHROMA_SERVER_HOST=elsewhere\nANONYMIZED_TELEMETRY=True\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHROMA_API_IMPL", "chromadb.api.fastapi.FastAPI")
    monkeypatch.setenv("CHROMA_SERVER_HTTP_PORT", "80")
    store = VectorStore(PAPER, tmp_path)
    settings = store._open().get_settings()
    assert not settings.anonymized_telemetry
    assert settings.chroma_server_host is None
    assert settings.persist_directory == str(tmp_path / "chroma" / PAPER)
    store.close()


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = VectorStore(PAPER, tmp_path)
    store.close()
    store.close()
    with pytest.raises(RetrievalError, match="closed already"):
        store.holds(NAME)


async def test_the_papers_words_are_not_stored(tmp_path: Path) -> None:
    async with await open_retriever(topical("peculiarword"), WordEmbedder(), cache_dir=tmp_path):
        pass
    stored = b"".join(path.read_bytes() for path in (tmp_path / "chroma").rglob("chroma.sqlite3*"))
    assert b"s3.p1.c1" in stored
    assert b"peculiarword" not in stored
    assert b"volcanoes" not in stored


def test_a_half_written_collection_is_not_taken(tmp_path: Path) -> None:
    store = VectorStore(PAPER, tmp_path)
    store.write(NAME, children(20), unit_rows(20, 1))
    assert store.holds(NAME)
    assert not store.holds(NAME + "x")
    store._open().get_collection(NAME, embedding_function=None).modify(metadata={"seal": "another"})
    assert not store.holds(NAME)
    store.write(NAME, children(20), unit_rows(20, 1))
    store.write(NAME, children(20), unit_rows(20, 1))
    assert store.holds(NAME)
    store.close()


def test_the_name_follows_everything_the_vectors_depend_on() -> None:
    def name(version: str = "1", text: str = "study", embedder: str = "e", pieces: int = 400) -> str:
        paper, sizes = topical(text, version=version), ChunkSizes(child_pieces=pieces)
        return collection_name(paper, cut_paper(paper, words, sizes), embedder, sizes)

    assert name() == name()
    assert name().startswith("a" * 64 + "-")
    others = {name(), name(version="2"), name(text="other"), name(embedder="f"), name(pieces=300)}
    assert len(others) == 5
    assert all(3 <= len(one) <= 512 for one in others)


def test_removing_a_paper(tmp_path: Path) -> None:
    assert remove_index(PAPER, tmp_path) == 0
    assert not (tmp_path / "chroma").exists()
    store, other = VectorStore(PAPER, tmp_path), VectorStore("b" * 64, tmp_path)
    for where, name in ((store, NAME), (store, NAME + "4"), (other, NAME)):
        where.write(name, children(3), unit_rows(3, 1))
    assert remove_index(PAPER, tmp_path) == 2
    assert not store.holds(NAME)
    assert other.holds(NAME)
    with pytest.raises(RetrievalError, match="does not exist"):
        store.query(NAME, unit_rows(1, 1), 1)
    store.close()
    other.close()


def test_vectors_of_another_length_are_refused(tmp_path: Path) -> None:
    store = VectorStore(PAPER, tmp_path)
    store.write(NAME, children(3), unit_rows(3, 1))
    with pytest.raises(RetrievalError, match="dimension of 48, got 5"):
        store.query(NAME, unit_rows(1, 1, dim=5), 1)
    store.close()


@pytest.mark.parametrize("damage", ["garbage", "cut", "a file in its place"])
def test_a_damaged_folder_is_named_and_works_again_after_it_was_deleted(tmp_path: Path, damage: str) -> None:
    store = VectorStore(PAPER, tmp_path)
    store.write(NAME, children(50), unit_rows(50, 1))
    store.close()
    folder = store.folder
    database = folder / "chroma.sqlite3"
    if damage == "garbage":
        database.write_bytes(b"no database" * 999)
    elif damage == "cut":
        database.write_bytes(database.read_bytes()[: database.stat().st_size // 2])
    else:
        shutil.rmtree(folder)
        folder.write_text("x")
    with pytest.raises(RetrievalError, match="cannot be used") as caught:
        VectorStore(PAPER, tmp_path).holds(NAME)
    assert repr(str(folder)) in caught.value.message
    assert "delete it, or set REFEREE_CACHE_DIR" in caught.value.hint
    folder.unlink() if folder.is_file() else shutil.rmtree(folder)
    store = VectorStore(PAPER, tmp_path)
    assert not store.holds(NAME)
    store.close()


def test_a_damaged_database_leaves_other_papers_alone(tmp_path: Path) -> None:
    for paper in (PAPER, "b" * 64):
        store = VectorStore(paper, tmp_path)
        store.write(NAME, children(3), unit_rows(3, 1))
        store.close()
    (tmp_path / "chroma" / PAPER / "chroma.sqlite3").write_bytes(b"no database" * 999)
    store = VectorStore("b" * 64, tmp_path)
    assert store.holds(NAME)
    store.close()


async def test_an_index_that_goes_away_during_use_is_said(tmp_path: Path) -> None:
    async with await open_retriever(topical(), WordEmbedder(), cache_dir=tmp_path) as retriever:
        assert remove_index(retriever.paper_id, tmp_path) == 1
        with pytest.raises(RetrievalError, match="does not exist"):
            await retriever.search("whales")
