from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import Referee
from tests.support import FakeServer

from .small_disk import Disk, small_disk


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, with a cache of its own beside it."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("REFEREE_CACHE_DIR", str(tmp_path / "cache"))
    return folder


@pytest.fixture
def referee(workplace: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Referee:
    return Referee(capsys, monkeypatch)


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(context_tokens=32_000) as running:
        yield running


@pytest.fixture
def narrow_server() -> Iterator[FakeServer]:
    """A window that does not hold the paper with room to work: it is read part by part, with an index."""
    with FakeServer(context_tokens=16_000) as running:
        yield running


@pytest.fixture
def paper(examples: Path) -> Path:
    return examples / "short.md"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    """A disk of 4 MiB."""
    with small_disk(tmp_path / "disk") as mounted:
        yield mounted
