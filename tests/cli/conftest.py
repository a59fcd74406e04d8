from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.reading import read_here
from tests.support import FakeServer

from .command import Referee, leave_plots_undrawn


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, with a reply cache of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def _papers(monkeypatch: pytest.MonkeyPatch) -> None:
    read_here(monkeypatch)


@pytest.fixture(autouse=True)
def _plots(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plots are drawn where a test is marked `drawn`: one for each command that draws."""
    if "drawn" not in request.keywords:
        leave_plots_undrawn(monkeypatch)


@pytest.fixture
def referee(workplace: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Referee:
    return Referee(capsys, monkeypatch)


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(context_tokens=32_000) as running:
        yield running


@pytest.fixture
def paper(examples: Path) -> Path:
    return examples / "short.md"
