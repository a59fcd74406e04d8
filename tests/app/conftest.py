from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import Referee
from tests.support import FakeServer

from .served import App, served


@pytest.fixture(scope="module")
def server() -> Iterator[FakeServer]:
    with FakeServer(context_tokens=32_000) as running:
        yield running


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory, server: FakeServer) -> Iterator[App]:
    """One that a file's tests share."""
    with served(tmp_path_factory.mktemp("app"), server) as running:
        yield running


@pytest.fixture
def paper(examples: Path) -> Path:
    return examples / "short.md"


@pytest.fixture
def referee(app: App, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Referee:
    """The command line in the folder of the app."""
    monkeypatch.chdir(app.folder)
    return Referee(capsys, monkeypatch)
