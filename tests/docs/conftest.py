from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.testing import FakeServer
from tests.cli.command import leave_plots_undrawn

from .session import Session


@pytest.fixture(scope="session")
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of the tests' own: no page may use, or remove, what the developer has fetched."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def session(tmp_path: Path, cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.setenv("REFEREE_CACHE_DIR", str(cache_folder))
    leave_plots_undrawn(monkeypatch)
    with FakeServer(context_tokens=32_000) as server:
        yield Session(tmp_path, server, monkeypatch)
