from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.testing import FakeServer
from tests.cli.command import Referee

from .served import App, served


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(context_tokens=32_000) as running:
        yield running


@pytest.fixture
def app(tmp_path: Path, server: FakeServer, _own_environment: None) -> Iterator[App]:
    with served(tmp_path, server) as running:
        yield running


@pytest.fixture
def paper(examples: Path) -> Path:
    return examples / "short.md"


@pytest.fixture
def referee(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Referee:
    """The command line in the folder of the app."""
    monkeypatch.chdir(tmp_path)
    return Referee(capsys, monkeypatch)
