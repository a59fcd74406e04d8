from __future__ import annotations

from pathlib import Path

import pytest

from referee.testing import HashEmbedder
from tests.reading import read_here


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder with caches of its own."""
    monkeypatch.setenv("REFEREE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def _compiled_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests put nodes of their own into machines, which a process compiles once otherwise."""
    monkeypatch.setattr("referee.graphs.running._compiled", lambda build: build().compile())


@pytest.fixture(autouse=True)
def _papers(monkeypatch: pytest.MonkeyPatch) -> None:
    read_here(monkeypatch)


class WordEmbedder(HashEmbedder):
    """The stand-in, with the name that indexes are kept under."""

    id = "words"


@pytest.fixture(autouse=True)
def _embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Embeddings by shared words, in this process."""

    async def opened(spec: str, **more: object) -> WordEmbedder:
        return WordEmbedder()

    monkeypatch.setattr("referee.graphs.sections.strategy.open_embedder", opened)
