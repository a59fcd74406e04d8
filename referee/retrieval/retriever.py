"""The search over one paper: a question in, the passages nearest in meaning out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import numpy as np

from referee.errors import RetrievalError, SettingsError
from referee.llm.embeddings import Embedder, Vectors
from referee.llm.urgency import Urgency
from referee.retrieval.chunks import Child, Chunks, ChunkSizes, Parent, cut_paper
from referee.retrieval.pieces import PieceCount, pieces_of
from referee.retrieval.store import VectorStore, collection_name
from referee.schemas.paper import Paper

IndexProgress = Callable[[int, int], None]
_TEXTS_A_STEP = 32


@dataclass(frozen=True, slots=True)
class Passage:
    """A child that was found.

    Attributes:
        text: The paper's own words; may be quoted.
        heading: The path of headings above it.
        page: Where it begins, from 1; None for formats without pages.
        similarity: Cosine similarity with the question in [-1, 1], higher is nearer; comparable between questions
            only for one embedder.
    """

    id: str
    paper_id: str
    parent_id: str
    section_id: str
    heading: str
    text: str
    block_ids: tuple[str, ...]
    pages: tuple[int, ...]
    similarity: float

    @property
    def page(self) -> int | None:  # noqa: D102
        return self.pages[0] if self.pages else None


class Retriever:
    """The passages of one paper. Made by ``open_retriever``; close it, or use it with ``async with``.

    Searches may run side by side, also with those of other papers' retrievers.
    """

    def __init__(self, paper_id: str, chunks: Chunks, embedder: Embedder, store: VectorStore, name: str) -> None:
        self.paper_id = paper_id
        self.chunks = chunks
        self._embedder = embedder
        self._store = store
        self._name = name
        self._children = {child.id: child for child in chunks.children}
        self._parents = {parent.id: parent for parent in chunks.parents}

    async def search(
        self, query: str, *, top_k: int = 6, exclude_sections: Collection[str] = frozenset()
    ) -> list[Passage]:
        """The passages nearest to a question, the most similar first.

        Args:
            query: A question or a sentence; the embedded embedder sees its first 510 pieces.
            top_k: Most passages to give; fewer where the paper has fewer.
            exclude_sections: Ids of sections to leave out; ids the paper does not have are no error.

        Raises:
            RetrievalError: The question is blank, ``top_k`` is below 1, or the index cannot be searched.
            ModelError: The embedder failed.
        """
        return (await self.search_many([query], top_k=top_k, exclude_sections=exclude_sections))[0]

    async def search_many(
        self, queries: Sequence[str], *, top_k: int = 6, exclude_sections: Collection[str] = frozenset()
    ) -> list[list[Passage]]:
        """``search`` for several questions with one call of the embedder; no questions give an empty list."""
        if top_k < 1 or any(not query.strip() for query in queries):
            raise RetrievalError(
                f"a search for {list(queries)!r} with top_k={top_k} has no answer.",
                hint="Give questions that are not blank, and a top_k of 1 or more.",
                ids={"paper": self.paper_id},
            )
        if not queries or not self._children:
            return [[] for _ in queries]
        vectors = await self._embedder.embed(queries, urgency=Urgency.QUERY)
        found = await asyncio.to_thread(self._store.query, self._name, vectors, top_k, frozenset(exclude_sections))
        return [[self._passage(self._children[key], similarity) for key, similarity in row] for row in found]

    def parent(self, passage: Passage) -> Parent:
        """The section, or the part of it, around a passage.

        Raises:
            RetrievalError: The passage is not of this retriever's paper.
        """
        parent = self._parents.get(passage.parent_id)
        if parent is None or passage.paper_id != self.paper_id:
            raise RetrievalError(
                f"passage {passage.id!r} is of paper {passage.paper_id[:12]!r}, not of {self.paper_id[:12]!r}.",
                hint="Ask the retriever that found it.",
                ids={"paper": self.paper_id, "passage": passage.id},
            )
        return parent

    async def close(self) -> None:
        """Let go of the index; doing so twice is harmless."""
        await asyncio.to_thread(self._store.close)

    async def __aenter__(self) -> Retriever:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _passage(self, child: Child, similarity: float) -> Passage:
        return Passage(
            id=child.id,
            paper_id=self.paper_id,
            parent_id=child.parent_id,
            section_id=child.section_id,
            heading=child.heading,
            text=child.text,
            block_ids=child.block_ids,
            pages=child.pages,
            similarity=similarity,
        )


async def open_retriever(
    paper: Paper,
    embedder: Embedder,
    *,
    cache_dir: Path | None = None,
    sizes: ChunkSizes | None = None,
    progress: IndexProgress | None = None,
) -> Retriever:
    """The retriever of a paper; the paper is indexed unless an index with these very settings is here.

    Two processes that want the same index make it once: the second waits.

    Args:
        paper: The paper; one without any text to read gives a retriever that finds nothing.
        embedder: Embeds passages now and questions later.
        cache_dir: Base folder instead of ``REFEREE_CACHE_DIR`` or the user's cache.
        sizes: How the paper is cut, instead of 400 pieces in 4,000 tokens.
        progress: Told how many passages are embedded, and of how many.

    Raises:
        RetrievalError: The index folder is damaged or cannot be written; the hint says what to do.
        SettingsError: The embedder would not see the end of passages of this size.
        DataError: The embedded model is not here.
        ModelError: The embedder failed; nothing half-made is left.
    """
    sizes = sizes or ChunkSizes()
    pieces = await asyncio.to_thread(pieces_of, embedder.id, cache_dir)
    _check_sizes(sizes, pieces, embedder.id)
    chunks = await asyncio.to_thread(cut_paper, paper, pieces.count, sizes)
    name = collection_name(paper, chunks, embedder.id, sizes)
    store = await asyncio.to_thread(VectorStore, paper.paper_id, cache_dir)
    try:
        async with store.only_writer():
            if chunks.children and not await asyncio.to_thread(store.holds, name):
                await _index(store, name, chunks.children, embedder, progress)
    except BaseException:
        await asyncio.to_thread(store.close)
        raise
    return Retriever(paper.paper_id, chunks, embedder, store, name)


def _check_sizes(sizes: ChunkSizes, pieces: PieceCount, embedder_id: str) -> None:
    wanted = sizes.child_pieces + sizes.heading_pieces
    if pieces.reads is not None and wanted > pieces.reads:
        raise SettingsError(
            f"embedder {embedder_id!r} sees {pieces.reads} pieces; passages of {sizes.child_pieces} with headings of "
            f"{sizes.heading_pieces} are longer.",
            hint=f"Choose sizes that add up to {pieces.reads} or less.",
        )


async def _index(
    store: VectorStore, name: str, children: Sequence[Child], embedder: Embedder, progress: IndexProgress | None
) -> None:
    rows: list[Vectors] = []
    for start in range(0, len(children), _TEXTS_A_STEP):
        if progress is not None:
            progress(start, len(children))
        texts = [child.embedded for child in children[start : start + _TEXTS_A_STEP]]
        rows.append(await embedder.embed(texts, urgency=Urgency.PASSAGES))
    await asyncio.to_thread(store.write, name, children, np.concatenate(rows))
    if progress is not None:
        progress(len(children), len(children))
