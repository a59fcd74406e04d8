"""The door to Chroma: one database for one paper, in it one collection for each way of indexing it.

A collection stores vectors and ids, not the paper's words. It is written once and then only read; one that a killed
process left half-written, or that no longer gives the vectors that were written, is recognised and written anew. A
damaged folder is an error that names it, and is never repaired or moved: another process may be working in it. Where
nothing can be written, the index lies in a temporary folder for as long as it is open.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import json
import logging
import tempfile
import threading
from collections.abc import AsyncGenerator, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from referee.errors import RetrievalError
from referee.llm.catalogue import CACHE_VARIABLE, cache_root
from referee.llm.embeddings import Vectors
from referee.machine import try_lock
from referee.retrieval.chunks import Child, Chunks, ChunkSizes
from referee.schemas.paper import Paper

if TYPE_CHECKING:
    from chromadb.api.client import Client
    from chromadb.api.models.Collection import Collection as ChromaCollection

INDEX_VERSION = 2
_FOLDER = "chroma"
_POLL_S = 0.05
_NAME_LENGTH = 24
_WRITE_ROWS = 1000
# Search looks at no fewer candidates than this, so that it is exact for any paper of usual length.
_CANDIDATES = 100
# What a folder for reading only, or a file in the place of the cache folder, says.
_UNWRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR)

# Chroma counts who of this process has a folder open, but looks and counts in two steps.
_COUNTING = threading.Lock()

logger = logging.getLogger(__name__)


def collection_name(paper: Paper, chunks: Chunks, embedder_id: str, sizes: ChunkSizes) -> str:
    """The name of a paper's collection: its id and a digest of everything its vectors depend on.

    That is the index version, the embedder, the chunk sizes, the converter with its version, and the chunks
    themselves, so that a changed setting or a paper that is now read otherwise never meets old vectors.
    """
    settings = {
        "index": INDEX_VERSION,
        "embedder": embedder_id,
        "sizes": asdict(sizes),
        "converter": paper.converter.model_dump(),
        "chunks": [(child.id, child.embedded) for child in chunks.children],
    }
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()
    return f"{paper.paper_id}-{digest[:_NAME_LENGTH]}"


class VectorStore:
    """A paper's database, held open until ``close``; several threads may search it at once.

    Args:
        paper_id: The paper.
        cache_dir: Base folder instead of ``REFEREE_CACHE_DIR`` or the user's cache; the database lies in
            ``chroma/PAPER_ID`` below.

    Raises:
        RetrievalError: The folder cannot be made.
    """

    def __init__(self, paper_id: str, cache_dir: Path | None = None) -> None:
        self.folder = _folder(cache_dir) / paper_id
        self._passing: tempfile.TemporaryDirectory[str] | None = None
        self._client: Client | None = None
        self._closed = False
        with _failures(self.folder):
            try:
                self._make()
            except OSError as error:
                if error.errno not in _UNWRITABLE or self.folder.is_file():
                    raise
                logger.warning(
                    "the index folder %s cannot be written (%s); this run's index lies in a temporary folder, and the "
                    "next run makes its own",
                    self.folder,
                    error.strerror,
                )
                self._passing = tempfile.TemporaryDirectory(prefix="referee-index-", ignore_cleanup_errors=True)
                self.folder = Path(self._passing.name, paper_id)
                self._make()

    @asynccontextmanager
    async def only_writer(self) -> AsyncGenerator[None]:
        """Be the only one who opens or writes the paper's database; the system lets go when the process ends.

        Chroma itself fails when two processes make a database or write to one at the same time.
        """
        with self._lock_file.open("a") as handle:
            while not try_lock(handle.fileno()):  # noqa: ASYNC110 - the system tells nobody that a lock is free
                await asyncio.sleep(_POLL_S)
            yield

    def holds(self, name: str) -> bool:
        """Whether a collection is here as it was written: finished, with the same vectors."""
        from chromadb.errors import NotFoundError

        with _failures(self.folder):
            try:
                collection = self._open().get_collection(name, embedding_function=None)
            except NotFoundError:
                return False
            if (collection.metadata or {}).get("seal") == _seal(collection):
                return True
        logger.info("collection %s was left unfinished or is damaged; it is made anew", name)
        return False

    def write(self, name: str, children: Sequence[Child], vectors: Vectors) -> None:
        """Make a collection from children and their vectors; what stands under the name is replaced."""
        from chromadb.errors import NotFoundError

        with _failures(self.folder):
            client = self._open()
            try:
                client.delete_collection(name)
            except NotFoundError:
                logger.debug("collection %s is new", name)
            # All vectors stay in the database, which notices when it is cut: Chroma's own files beside it may be lost
            # without a word, and crash the process when they are cut.
            hnsw: Any = {
                "space": "cosine",
                "ef_search": max(_CANDIDATES, len(children)),
                "sync_threshold": max(_WRITE_ROWS, len(children) + 1),
            }
            collection = client.create_collection(name, embedding_function=None, configuration={"hnsw": hnsw})
            for start in range(0, len(children), _WRITE_ROWS):
                part = children[start : start + _WRITE_ROWS]
                collection.add(
                    ids=[child.id for child in part],
                    embeddings=vectors[start : start + _WRITE_ROWS],
                    metadatas=[{"section_id": child.section_id, "parent_id": child.parent_id} for child in part],
                )
            collection.modify(metadata={"seal": _seal(collection)})

    def query(
        self, name: str, vectors: Vectors, top_k: int, exclude_sections: Collection[str] = ()
    ) -> list[list[tuple[str, float]]]:
        """For each vector the nearest children's ids with cosine similarities in [-1, 1], the most similar first.

        Fewer than ``top_k`` where the paper has fewer children outside the excluded sections.

        Raises:
            RetrievalError: The collection is gone, its vectors have another length, or the folder is damaged.
        """
        where: Any = {"section_id": {"$nin": sorted(exclude_sections)}} if exclude_sections else None
        with _failures(self.folder):
            collection = self._open().get_collection(name, embedding_function=None)
            found = collection.query(query_embeddings=vectors, n_results=top_k, where=where, include=["distances"])
        rows = zip(found["ids"], found["distances"] or [], strict=True)
        return [
            [(key, max(-1.0, min(1.0, 1.0 - distance))) for key, distance in zip(ids, distances, strict=True)]
            for ids, distances in rows
        ]

    def remove(self) -> int:
        """Delete all collections of the paper; gives how many there were."""
        with _failures(self.folder):
            names = [one.name for one in self._open().list_collections()]
            for name in names:
                self._open().delete_collection(name)
        return len(names)

    def close(self) -> None:
        """Let go of the database; doing so twice is harmless."""
        self._closed = True
        if self._client is not None:
            client, self._client = self._client, None
            with _failures(self.folder), _COUNTING:
                client.close()
        if self._passing is not None:
            self._passing.cleanup()

    @property
    def _lock_file(self) -> Path:
        return self.folder.with_name(f"{self.folder.name}.lock")

    def _make(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock_file.open("a").close()

    def _open(self) -> Client:
        if self._closed:
            raise RetrievalError("the index was closed already.", hint="Open the retriever again.")
        if self._client is None:
            with _COUNTING:
                self._client = _open_client(self.folder)
        return self._client


def remove_index(paper_id: str, cache_dir: Path | None = None) -> int:
    """Remove everything that was indexed for a paper, whatever the settings; gives the number of collections.

    Chroma keeps the disk space; deleting the paper's folder in ``chroma`` frees it.

    Raises:
        RetrievalError: The folder is damaged or cannot be written.
    """
    if not (_folder(cache_dir) / paper_id).is_dir():
        return 0
    store = VectorStore(paper_id, cache_dir)
    try:
        return store.remove()
    finally:
        store.close()


def _seal(collection: ChromaCollection) -> str:
    """A digest of ids and vectors as Chroma gives them back: it changes the last digits of what it is given."""
    stored = collection.get(include=["embeddings"])
    rows = dict(zip(stored["ids"], np.asarray(stored["embeddings"], dtype="<f4"), strict=True))
    digest = hashlib.sha256()
    for key in sorted(rows):
        digest.update(key.encode() + b"\x00" + rows[key].tobytes())
    return digest.hexdigest()


def _folder(cache_dir: Path | None) -> Path:
    return cache_root(cache_dir).absolute() / _FOLDER


def _open_client(folder: Path) -> Client:
    import chromadb
    from chromadb.api.client import Client
    from chromadb.api.shared_system_client import SharedSystemClient
    from chromadb.config import Settings

    # Built without validation because that would read CHROMA_* variables and a .env file in the working folder, which
    # may name a server: a paper's vectors stay on this machine.
    settings = Settings.model_construct(anonymized_telemetry=False)
    try:
        client = chromadb.PersistentClient(folder, settings=settings)
        assert isinstance(client, Client)
        return client
    except BaseException:
        # Chroma keeps what failed to start and would hand it out again after the folder was put right.
        SharedSystemClient._identifier_to_system.pop(str(folder), None)
        raise


@contextmanager
def _failures(folder: Path) -> Iterator[None]:
    """Chroma's and the file system's errors as one of ours that names the folder and the way out."""
    from chromadb.errors import ChromaError

    try:
        yield
    except (ChromaError, OSError, ValueError) as error:
        full = "is full" in str(error) or getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT)
        raise RetrievalError(
            f"the index folder {str(folder)!r} cannot be used: {type(error).__name__}: {error}.",
            hint=f"Make room there, or set {CACHE_VARIABLE} to a folder on another disk."
            if full
            else f"Everything in it can be made again: delete it, or set {CACHE_VARIABLE} to another folder.",
        ) from error
