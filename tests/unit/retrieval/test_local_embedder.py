from __future__ import annotations

from pathlib import Path

import pytest

from referee.errors import DataError, SettingsError
from referee.llm.catalogue import model_path
from referee.llm.minilm import MAX_TOKENS
from referee.llm.tokens import count_tokens
from referee.retrieval import ChunkSizes, cut_paper, open_embedder, open_retriever
from referee.retrieval.pieces import pieces_of
from tests.needs import needs_model
from tests.reading import read_once

needs_minilm = needs_model("minilm", runtime=False)


def with_models(cache: Path) -> Path:
    """A cache of its own for the index, with the fetched models in it."""
    fetched = model_path("minilm")
    assert fetched is not None
    (cache / "models").symlink_to(fetched.parent, target_is_directory=True)
    return cache


def test_other_embedders_count_by_tiktoken(tmp_path: Path) -> None:
    pieces = pieces_of("openai:text-embedding-3-small", tmp_path)
    assert pieces.reads is None
    assert pieces.count("Counting nine small pieces.") == count_tokens(
        "Counting nine small pieces.", "text-embedding-3-small"
    )


def test_a_model_that_is_not_here_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="'minilm' is not on this machine"):
        pieces_of("local:minilm", tmp_path)


async def test_an_unknown_embedder_is_refused() -> None:
    with pytest.raises(SettingsError, match="no embedder is called 'nonsense'"):
        await open_embedder("nonsense")
    with pytest.raises(SettingsError):
        await open_embedder("local:nothing")


@pytest.mark.local_model
@needs_minilm
def test_a_broken_tokenizer_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tokenizer.json").write_text("{")
    monkeypatch.setattr("referee.llm.minilm.fetched_path", lambda key, cache_dir: tmp_path)
    with pytest.raises(DataError, match="cannot be loaded: JSONDecodeError"):
        pieces_of("local:minilm")


@pytest.mark.local_model
@needs_minilm
def test_children_are_seen_whole(examples: Path) -> None:
    pieces = pieces_of("local:minilm")
    assert pieces.count("") == 0
    assert pieces.count("word " * 600) == 600
    chunks = cut_paper(read_once(examples / "short.md"), pieces.count)
    assert chunks.children
    assert all(pieces.count(child.text) <= 400 for child in chunks.children)
    assert all(pieces.count(child.embedded) + 2 <= MAX_TOKENS for child in chunks.children)


@pytest.mark.local_model
@needs_minilm
async def test_a_paraphrased_question_finds_its_passage(examples: Path, tmp_path: Path) -> None:
    cache = with_models(tmp_path)
    embedder = await open_embedder("local", cache_dir=cache)
    sizes = ChunkSizes(child_pieces=100)
    paper = read_once(examples / "short.md")
    async with await open_retriever(paper, embedder, cache_dir=cache, sizes=sizes) as retriever:
        assert len(retriever.chunks.children) > 10
        found = await retriever.search("Would the findings carry over to real measurements?", top_k=3)
        passage = next(one for one in found if "Its data are simulated" in one.text)
        parent = retriever.parent(passage)
        assert (parent.section_id, parent.heading) == (passage.section_id, "2 Results")
        assert passage.text in parent.text
        assert "Table 1: Coverage" in parent.text
