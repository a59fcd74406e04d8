"""``referee review`` of an arXiv id and of a web address, both from a server on this machine."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from referee.api import reviewing
from referee.papers import fetch_paper
from tests.support import FakeServer
from tests.unit.web.page_server import PageServer, serving

from .command import Referee
from .refusals import assert_refused, on


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[PageServer]:
    """arXiv's stand-in, and a cache of the test's own."""
    monkeypatch.setenv("REFEREE_CACHE_DIR", str(tmp_path / "cache"))
    with serving() as running:

        async def fetch(source: str, cache: Path, **more: Any) -> Path:
            return await fetch_paper(source, cache, site=running.address, pause_s=0, allow_local=True, **more)

        monkeypatch.setattr(reviewing, "fetch_paper", fetch)
        yield running


@pytest.mark.slow
def test_an_arxiv_id_is_reviewed_from_its_source(
    referee: Referee, pages: PageServer, examples: Path, server: FakeServer
) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        archive.add(examples / "paper", arcname=".")
    pages.put("/src/2401.01234v2", packed.getvalue())
    address = "https://arxiv.org/abs/2401.01234v2"
    done = referee("review", address, "--venue", "arr", "--strategy", "single", "--out", "run", *on(server))

    assert done.code == 0, done.err
    assert "referee-latex" in Path("run/review.json").read_text()
    assert [path for path, _ in pages.seen] == ["/src/2401.01234v2"]


@pytest.mark.slow
def test_an_arxiv_id_is_reviewed_from_its_pdf_where_the_source_cannot_be_read(
    referee: Referee, pages: PageServer, examples: Path, server: FakeServer
) -> None:
    pages.put("/src/2401.01234", gzip.compress(b"%!PS no LaTeX here"))
    pages.put("/pdf/2401.01234", (examples / "paper.pdf").read_bytes())
    done = referee("review", "2401.01234", "--venue", "arr", "--strategy", "single", *on(server))

    assert done.code == 0, done.err
    assert "its PDF is read" in done.err
    (run,) = Path("referee-runs").iterdir()
    assert run.name.startswith("2401.01234-arr-")
    assert "How Many Documents" in (run / "review.md").read_text()


def test_an_address_is_reviewed(referee: Referee, pages: PageServer, examples: Path, server: FakeServer) -> None:
    pages.put("/short.md", (examples / "short.md").read_bytes())
    address = pages.url("/short.md")
    done = referee("review", address, "--venue", "arr", "--strategy", "single", "--out", "run", *on(server))
    assert done.code == 0, done.err


@pytest.mark.slow
def test_a_file_of_that_name_goes_first(
    referee: Referee, pages: PageServer, examples: Path, workplace: Path, server: FakeServer
) -> None:
    (workplace / "2401.01234").write_bytes((examples / "paper.pdf").read_bytes())
    done = referee("review", "2401.01234", "--venue", "arr", "--strategy", "single", "--out", "run", *on(server))

    assert done.code == 0, done.err
    assert pages.seen == []


def test_an_unknown_id_and_a_private_address_are_refused(
    referee: Referee, pages: PageServer, server: FakeServer
) -> None:
    assert_refused(referee("review", "2401.99999", "--venue", "arr", *on(server)), "404", "Check the id")
    private = "http://192.168.0.1/paper.pdf"
    assert_refused(referee("review", private, "--venue", "arr", *on(server)), "private address")
    assert len(server.log) == 0
    assert not Path("referee-runs").exists()
