"""What belongs to one paper while its reviews are measured: its human reviews, its text, its index.

Each paper has a context of its own, so what two papers are checked against can never meet.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol

from referee.evals.case_store import CaseStore
from referee.evals.shared import Shared
from referee.schemas.case import ReviewCase
from referee.schemas.paper import Paper

if TYPE_CHECKING:
    from referee.llm.embeddings import Embedder
    from referee.retrieval import Retriever


class PaperStore(Protocol):
    """Papers by id."""

    def get(self, paper_id: str) -> Paper | None:
        """The paper, or None where the paper_store has none of that id."""
        ...


class PaperContext:
    """One paper's context; what it holds is made when it is first asked for."""

    def __init__(
        self, paper_id: str, store: CaseStore, paper_store: PaperStore | None, embedder: Embedder | None, opener: Opener
    ) -> None:
        self.paper_id = paper_id
        self.open_units = 0
        self.complete = False
        self._store = store
        self._papers = paper_store
        self._embedder = embedder
        self._opener = opener
        self._made = Shared()
        self._humans: tuple[ReviewCase, ...] | None = None
        self._retriever: Retriever | None = None

    def references(self, case: ReviewCase) -> tuple[ReviewCase, ...]:
        """The human reviews of the paper without the review itself."""
        if self._humans is None:
            self._humans = self._store.humans(self.paper_id)
        return tuple(human for human in self._humans if human.case_id != case.case_id)

    def boxes(self, case: ReviewCase) -> frozenset[str] | None:
        """The boxes that AI and human reviews of the review's venue both fill; None where the set has one side only."""
        return self._store.boxes.common(case.venue)

    async def paper(self) -> Paper | None:
        """The paper's text; None where there is none.

        Raises:
            DataError: The paper's file cannot be read.
        """
        paper_store = self._papers
        if paper_store is None:
            return None
        return await self._made.once("paper", lambda: asyncio.to_thread(paper_store.get, self.paper_id))

    async def retriever(self) -> Retriever | None:
        """The search over the paper; None where there is no paper or no embedder.

        Raises:
            RetrievalError: The index cannot be made.
            ModelError: The embedder failed.
        """
        return await self._made.once("retriever", self._index)

    @property
    def is_done(self) -> bool:
        """Whether all units of the paper are finished."""
        return self.complete and self.open_units == 0

    async def aclose(self) -> None:
        """Let go of the index."""
        await self._made.aclose()
        if self._retriever is not None:
            await self._retriever.close()
            self._retriever = None

    async def _index(self) -> Retriever | None:
        paper = await self.paper()
        if paper is None or self._embedder is None:
            return None
        self._retriever = await self._opener(paper, self._embedder)
        return self._retriever


Opener = Callable[[Paper, "Embedder"], Awaitable["Retriever"]]


async def open_index(paper: Paper, embedder: Embedder) -> Retriever:
    """The index as ``referee.retrieval`` makes and keeps it."""
    from referee.retrieval import open_retriever

    return await open_retriever(paper, embedder)
