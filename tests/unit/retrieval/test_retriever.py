from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from referee.errors import ModelUnavailable, RetrievalError, SettingsError
from referee.llm.urgency import Urgency
from referee.retrieval import ChunkSizes, Passage, Retriever, open_retriever
from referee.retrieval.pieces import PieceCount
from referee.retrieval.retriever import _check_sizes

from .small_papers import TOPICS, WordEmbedder, paper, topical


def texts(passages: list[Passage]) -> str:
    return " ".join(passage.text for passage in passages)


async def test_a_found_child_leads_to_its_parent(tmp_path: Path) -> None:
    async with await open_retriever(topical(), WordEmbedder(), cache_dir=tmp_path) as retriever:
        first, *others = await retriever.search("what was measured on volcanoes")
        assert (first.section_id, first.heading, first.page) == ("s3", "3 Volcanoes", 3)
        assert first.block_ids == ("b30", "b31", "b32")
        assert first.text.startswith("study 0 on volcanoes")
        assert len(others) == len(TOPICS) - 1
        similarities = [first.similarity, *(one.similarity for one in others)]
        assert similarities == sorted(similarities, reverse=True)
        assert all(-1 <= similarity <= 1 for similarity in similarities)
        parent = retriever.parent(first)
        assert first.text in parent.text
        assert (parent.id, parent.section_id) == (first.parent_id, "s3")


async def test_excluded_sections_and_top_k(tmp_path: Path) -> None:
    async with await open_retriever(topical(), WordEmbedder(), cache_dir=tmp_path) as retriever:
        found = await retriever.search("whales", top_k=2, exclude_sections={"s1", "no such section"})
        assert len(found) == 2
        assert "s1" not in {passage.section_id for passage in found}
        assert len(await retriever.search("whales", top_k=99)) == len(TOPICS)
        for query, top_k in ((" ", 6), ("whales", 0)):
            with pytest.raises(RetrievalError, match="has no answer"):
                await retriever.search(query, top_k=top_k)


async def test_many_questions_cost_one_call(tmp_path: Path) -> None:
    embedder = WordEmbedder()
    async with await open_retriever(topical(), embedder, cache_dir=tmp_path) as retriever:
        before = len(embedder.calls)
        rows = await retriever.search_many(["glaciers", "beehives"], top_k=1)
        assert [[passage.section_id for passage in row] for row in rows] == [["s5"], ["s6"]]
        assert len(embedder.calls) == before + 1
        assert rows == [await retriever.search(topic, top_k=1) for topic in ("glaciers", "beehives")]
        assert await retriever.search_many([]) == []


async def test_a_question_is_more_urgent_than_the_passages_of_a_paper(tmp_path: Path) -> None:
    embedder = WordEmbedder()
    async with await open_retriever(topical(), embedder, cache_dir=tmp_path) as retriever:
        await retriever.search("whales")
    assert embedder.urgencies == [Urgency.PASSAGES, Urgency.QUERY]


async def test_the_second_opening_embeds_nothing_and_changed_settings_do(tmp_path: Path) -> None:
    embedder = WordEmbedder()
    steps: list[tuple[int, int]] = []
    for _ in range(2):
        async with await open_retriever(
            topical(), embedder, cache_dir=tmp_path, progress=lambda done, total: steps.append((done, total))
        ) as retriever:
            assert texts(await retriever.search("orchestras", top_k=1)).startswith("study 0 on orchestras")
    assert embedder.embedded == len(TOPICS) + 2
    assert steps == [(0, 6), (6, 6)]
    sizes = ChunkSizes(child_pieces=16)
    async with await open_retriever(topical(), embedder, cache_dir=tmp_path, sizes=sizes) as retriever:
        assert len(retriever.chunks.children) > len(TOPICS)
        assert (await retriever.search("orchestras", top_k=1))[0].section_id == "s4"
    other = WordEmbedder(32, "hash:short")
    async with await open_retriever(topical(), other, cache_dir=tmp_path) as retriever:
        assert other.embedded == len(TOPICS)
        assert len(await retriever.search("orchestras")) == len(TOPICS)


async def test_two_papers_side_by_side_never_meet(tmp_path: Path) -> None:
    embedder = WordEmbedder()
    papers = [topical(prefix, paper_id=letter * 64) for prefix, letter in (("red", "1"), ("blue", "2"), ("green", "3"))]
    retrievers = await asyncio.gather(*(open_retriever(one, embedder, cache_dir=tmp_path) for one in papers))

    async def ask(retriever: Retriever, prefix: str) -> None:
        for topic in TOPICS * 3:
            for other in ("red", "blue", "green"):
                found = await retriever.search(f"{other} {topic}")
                assert {passage.paper_id for passage in found} == {retriever.paper_id}
                assert {passage.text.split()[0] for passage in found} == {prefix}

    await asyncio.gather(*(ask(r, name) for r, name in zip(retrievers, ("red", "blue", "green"), strict=True)))
    passage = (await retrievers[0].search("red"))[0]
    with pytest.raises(RetrievalError, match="is of paper '111111111111', not of '222222222222'"):
        retrievers[1].parent(passage)
    await asyncio.gather(*(retriever.close() for retriever in retrievers))


async def test_one_paper_opened_twice_at_once_is_indexed_once(tmp_path: Path) -> None:
    embedder = WordEmbedder()
    both = await asyncio.gather(*(open_retriever(topical(), embedder, cache_dir=tmp_path) for _ in range(2)))
    assert embedder.embedded == len(TOPICS)
    await both[0].close()
    assert len(await both[1].search("whales")) == len(TOPICS)
    await both[1].close()


async def test_a_failing_embedder_leaves_nothing_and_the_next_try_works(tmp_path: Path) -> None:
    embedder = WordEmbedder()
    embedder.failure = ModelUnavailable("no answer")
    with pytest.raises(ModelUnavailable):
        await open_retriever(topical(), embedder, cache_dir=tmp_path)
    embedder.failure = None
    async with await open_retriever(topical(), embedder, cache_dir=tmp_path) as retriever:
        assert len(await retriever.search("whales")) == len(TOPICS)


async def test_a_cancelled_indexing_can_be_started_again(tmp_path: Path) -> None:
    embedder = WordEmbedder()
    embedder.failure = asyncio.CancelledError()
    with pytest.raises(asyncio.CancelledError):
        await open_retriever(topical(), embedder, cache_dir=tmp_path)
    embedder.failure = None
    async with await open_retriever(topical(), embedder, cache_dir=tmp_path) as retriever:
        assert len(await retriever.search("whales")) == len(TOPICS)


async def test_an_unfinished_index_is_made_anew(tmp_path: Path) -> None:
    embedder = WordEmbedder()
    async with await open_retriever(topical(), embedder, cache_dir=tmp_path) as retriever:
        collection = retriever._store._open().get_collection(retriever._name, embedding_function=None)
        collection.delete(ids=[retriever.chunks.children[0].id])
    async with await open_retriever(topical(), embedder, cache_dir=tmp_path) as retriever:
        assert embedder.embedded == 2 * len(TOPICS)
        assert (await retriever.search("whales", top_k=1))[0].section_id == "s1"


async def test_a_paper_without_text_finds_nothing(tmp_path: Path) -> None:
    embedder = WordEmbedder()
    async with await open_retriever(paper(), embedder, cache_dir=tmp_path) as retriever:
        assert await retriever.search_many(["anything", "else"]) == [[], []]
    assert embedder.calls == []


async def test_a_closed_retriever_says_so(tmp_path: Path) -> None:
    retriever = await open_retriever(topical(), WordEmbedder(), cache_dir=tmp_path)
    await retriever.close()
    await retriever.close()
    with pytest.raises(RetrievalError, match="closed already"):
        await retriever.search("whales")


def test_passages_longer_than_the_embedder_sees_are_refused() -> None:
    _check_sizes(ChunkSizes(), PieceCount(len, 510), "local:minilm")
    with pytest.raises(SettingsError, match="sees 510 pieces"):
        _check_sizes(ChunkSizes(child_pieces=450), PieceCount(len, 510), "local:minilm")


INDEX = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import chromadb
from small_papers import WordEmbedder, topical
from referee.retrieval import open_retriever

async def main(cache, letters):
    embedder = WordEmbedder()
    print("ready", flush=True)
    sys.stdin.readline()
    for letter in letters:
        async with await open_retriever(topical(paper_id=letter * 64), embedder, cache_dir=cache) as retriever:
            found = await retriever.search("whales")
            assert len(found) == 6 and found[0].section_id == "s1", found
    print(embedder.embedded - len(letters))

asyncio.run(main(Path(sys.argv[2]), sys.argv[3]))
"""


@pytest.mark.slow
def test_processes_that_start_together_make_each_index_once(tmp_path: Path) -> None:
    orders = ("12345", "12345", "54321")
    processes = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", INDEX, str(Path(__file__).parent), str(tmp_path), order],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for order in orders
    ]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    results = [process.communicate(timeout=300) for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], results
    assert sum(int(out) for out, _ in results) == 5 * len(TOPICS)
