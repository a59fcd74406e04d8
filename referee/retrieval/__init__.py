"""Passages of one paper by meaning: chunks, their vectors in Chroma, and the search over them."""

from __future__ import annotations

from referee.retrieval.chunks import Child, Chunks, ChunkSizes, Parent, cut_paper
from referee.retrieval.embedder import open_embedder
from referee.retrieval.retriever import Passage, Retriever, open_retriever
from referee.retrieval.store import remove_index

__all__ = [
    "Child",
    "ChunkSizes",
    "Chunks",
    "Parent",
    "Passage",
    "Retriever",
    "cut_paper",
    "open_embedder",
    "open_retriever",
    "remove_index",
]
