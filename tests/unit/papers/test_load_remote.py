"""Papers by arXiv id and by web address, from a server on this machine."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from referee.errors import DataError, PaperParseError
from referee.papers.remote import fetch_paper, parse_arxiv, remote_name
from referee.runs import Event
from tests.unit.web.page_server import PageServer, serving

TEX = b"\\documentclass{article}\\begin{document}\\section{One}Words.\\end{document}"
PDF = b"%PDF-1.7 a paper"


@pytest.fixture
def pages() -> Iterator[PageServer]:
    with serving() as running:
        yield running


class Fetching:
    """Fetches from the server into a cache of the test's own, and keeps the notes."""

    def __init__(self, pages: PageServer, cache: Path) -> None:
        self.pages, self.cache = pages, cache
        self.notes: list[str] = []

    async def __call__(self, source: str, **more: Any) -> Path:
        def progress(event: Event) -> None:
            if event.kind == "note":
                self.notes.append(event.text)

        options = {"readable": lambda path: None, "site": self.pages.address, **more}
        return await fetch_paper(
            source, self.cache, progress=progress, pause_s=0, allow_local=True, max_bytes=100_000, **options
        )

    @property
    def asked(self) -> list[str]:
        return [path for path, _ in self.pages.seen]

    def make_old(self, days: float) -> None:
        """Let every kept file have been fetched that long ago."""
        for record in self.cache.rglob("source.json"):
            values = json.loads(record.read_text())
            values["fetched_at"] = (datetime.now(UTC) - timedelta(days=days)).isoformat()
            record.write_text(json.dumps(values))


@pytest.fixture
def fetching(pages: PageServer, tmp_path: Path) -> Fetching:
    return Fetching(pages, tmp_path / "cache")


async def refused(fetching: Fetching, source: str, **more: Any) -> PaperParseError:
    with pytest.raises(PaperParseError) as caught:
        await fetching(source, **more)
    assert caught.value.hint
    return caught.value


def unreadable(path: Path) -> None:
    raise PaperParseError(f"{path.name!r} holds no LaTeX.")


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("2401.01234", "2401.01234"),
        (" 0704.0001v12 ", "0704.0001v12"),
        ("arxiv:2401.01234v2", "2401.01234v2"),
        ("arXiv: cs/0112017", "cs/0112017"),
        ("math.GT/0309136v1", "math.GT/0309136v1"),
        ("cond-mat/9901001", "cond-mat/9901001"),
        ("https://arxiv.org/abs/2401.01234v3", "2401.01234v3"),
        ("http://www.arxiv.org/pdf/2401.01234.pdf", "2401.01234"),
        ("https://export.arxiv.org/pdf/cs/0112017v1?download=1#page=2", "cs/0112017v1"),
        ("https://arxiv.org/e-print/2401.01234/", "2401.01234"),
        ("https://arxiv.org/html/2401.01234v1", "2401.01234v1"),
        ("0112017", None),
        ("2401.01234v0", None),
        ("2401.012345", None),
        ("2401.01234.pdf", None),
        ("papers/1234567", None),
        ("arxiv:", None),
        ("https://arxiv.org/list/cs.CL/recent", None),
        ("https://arxiv.org.example.org/abs/2401.01234", None),
        ("ftp://arxiv.org/abs/2401.01234", None),
        ("https://[broken/abs/2401.01234", None),
    ],
)
def test_arxiv_ids(text: str, parsed: str | None) -> None:
    found = parse_arxiv(text)
    assert (str(found) if found else None) == parsed


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("arxiv:cs/0112017v1", "cs-0112017v1"),
        ("https://example.org/a/My%20paper.pdf?x=1", "My-paper"),
        ("https://example.org/papers/v1.2", "v1.2"),
        ("https://example.org/", "example.org"),
        ("https://example.org/%2e%2e%2f..", "example.org"),
        ("https://[broken/", "page"),
        ("paper.pdf", None),
        ("ftp://example.org/paper.pdf", None),
    ],
)
def test_names_of_what_is_fetched(text: str, name: str | None) -> None:
    assert remote_name(text) == name


@pytest.mark.parametrize(
    ("body", "suffix"),
    [(gzip.compress(TEX), ".tar.gz"), (TEX, ".tex"), (b"\x00" * 257 + b"ustar" + bytes(300), ".tar")],
)
async def test_the_source_of_an_arxiv_paper(fetching: Fetching, body: bytes, suffix: str) -> None:
    fetching.pages.put("/src/2401.01234", body)
    path = await fetching("https://arxiv.org/abs/2401.01234")

    assert path.name == f"2401.01234{suffix}"
    assert path.read_bytes() == body
    assert fetching.asked == ["/src/2401.01234"]
    assert fetching.notes == []


async def test_a_source_that_is_compressed_on_the_way(fetching: Fetching) -> None:
    fetching.pages.put("/src/cs/0112017", gzip.compress(TEX), Content_Encoding="x-gzip")
    assert (await fetching("cs/0112017")).read_bytes() == TEX


async def test_a_paper_that_was_submitted_as_pdf(fetching: Fetching) -> None:
    fetching.pages.put("/src/2401.01234", PDF)
    assert (await fetching("2401.01234")).name == "2401.01234.pdf"
    assert "only its PDF" in fetching.notes[0]


async def test_a_missing_source_falls_back_to_the_pdf_and_says_so_every_time(fetching: Fetching) -> None:
    fetching.pages.put("/pdf/2401.01234v1", PDF)
    path = await fetching("2401.01234v1")
    again = await fetching("arXiv:2401.01234v1")

    assert path == again
    assert path.suffix == ".pdf"
    assert fetching.asked == ["/src/2401.01234v1", "/pdf/2401.01234v1"]
    assert [("404" in note, "its PDF is read" in note) for note in fetching.notes] == [(True, True)] * 2


async def test_an_unreadable_source_falls_back_to_the_pdf_with_the_reason(fetching: Fetching) -> None:
    fetching.pages.put("/src/2401.01234", gzip.compress(b"%!PS"))
    fetching.pages.put("/pdf/2401.01234", PDF)
    path = await fetching("2401.01234", readable=unreadable)

    assert path.suffix == ".pdf"
    assert "holds no LaTeX" in fetching.notes[0]


async def test_an_unknown_id(fetching: Fetching) -> None:
    error = await refused(fetching, "2401.99999")
    assert "404" in error.message
    assert "id" in error.hint
    assert len(fetching.asked) == 2


@pytest.mark.parametrize("status", [429, 503])
async def test_an_overloaded_site_is_asked_once(fetching: Fetching, status: int) -> None:
    fetching.pages.put("/src/2401.01234", b"", status=status)
    fetching.pages.put("/pdf/2401.01234", PDF)
    error = await refused(fetching, "2401.01234")

    assert fetching.asked == ["/src/2401.01234"]
    assert "wait" in error.hint
    assert "by hand" in error.hint


async def test_a_page_instead_of_the_pdf(fetching: Fetching) -> None:
    fetching.pages.put("/pdf/2401.01234", b"<!doctype html><p>Are you a robot?")
    assert "HTML page" in (await refused(fetching, "2401.01234")).message


async def test_without_a_network_the_way_by_hand_is_named(fetching: Fetching) -> None:
    error = await refused(fetching, "2401.01234", site="http://127.0.0.1:9")
    assert "network" in error.message
    assert "/pdf/2401.01234" in error.hint
    assert "path" in error.hint


async def test_a_version_is_kept_for_ever_and_an_open_id_for_a_day(fetching: Fetching) -> None:
    for name in ("2401.01234v1", "2401.01234"):
        fetching.pages.put(f"/src/{name}", TEX)
        await fetching(name)
        await fetching(name)
    assert len(fetching.asked) == 2

    fetching.make_old(days=1.1)
    await fetching("2401.01234v1")
    await fetching("2401.01234")
    assert fetching.asked == ["/src/2401.01234v1", "/src/2401.01234", "/src/2401.01234"]


async def test_an_old_copy_serves_without_a_network_with_a_note(fetching: Fetching) -> None:
    fetching.pages.put("/src/2401.01234", TEX)
    path = await fetching("2401.01234")
    fetching.make_old(days=3)
    again = await fetching("2401.01234", site="http://127.0.0.1:9")

    assert again == path
    assert "copy of" in fetching.notes[0]


async def test_a_changed_copy_is_fetched_again(fetching: Fetching) -> None:
    fetching.pages.put("/src/2401.01234v1", TEX)
    path = await fetching("2401.01234v1")
    path.write_bytes(b"other")
    assert (await fetching("2401.01234v1")).read_bytes() == TEX


async def test_two_at_once_make_one_request(fetching: Fetching) -> None:
    fetching.pages.put("/src/2401.01234", TEX)
    paths = await asyncio.gather(fetching("2401.01234"), fetching("arxiv:2401.01234"))
    assert paths[0] == paths[1]
    assert len(fetching.asked) == 1


@pytest.mark.parametrize(
    ("path", "body", "name"),
    [
        ("/a/paper.pdf", PDF, "paper.pdf"),
        ("/pdf?id=7", PDF, "pdf.pdf"),
        ("/notes.md", b"# Title\n\nWords", "notes.md"),
        ("/raw", b"Words only", "raw.txt"),
    ],
)
async def test_an_address_of_a_file(fetching: Fetching, path: str, body: bytes, name: str) -> None:
    fetching.pages.put(path, body)
    kept = await fetching(fetching.pages.url(path))

    assert kept.name == name
    assert kept.read_bytes() == body
    assert fetching.notes == []


async def test_an_html_page_is_read_with_a_note(fetching: Fetching) -> None:
    fetching.pages.put("/forum", b"<html><p>Words</html>")
    assert (await fetching(fetching.pages.url("/forum"))).name == "forum.html"
    assert "HTML page" in fetching.notes[0]


@pytest.mark.parametrize("body", [b"\x89PNG\r\n\x1a\n" + bytes(64), b""])
async def test_what_is_no_paper_is_not_kept(fetching: Fetching, body: bytes) -> None:
    fetching.pages.put("/x", body)
    assert "no paper" in (await refused(fetching, fetching.pages.url("/x"))).message
    assert not list(fetching.cache.rglob("source.json"))


async def test_refusals_of_the_web_part_come_through(tmp_path: Path) -> None:
    with pytest.raises(PaperParseError, match="only public addresses"):
        await fetch_paper("http://169.254.169.254/paper.pdf", tmp_path)
    with pytest.raises(PaperParseError, match="login") as caught:
        await fetch_paper("https://ada:s3cret@example.org/paper.pdf", tmp_path)
    assert "s3cret" not in str(caught.value) + str(caught.value.ids)


async def test_what_is_no_source(fetching: Fetching) -> None:
    assert "neither" in (await refused(fetching, "paper.pdf")).message


async def test_too_large(fetching: Fetching) -> None:
    fetching.pages.put("/big.pdf", PDF + bytes(200_000))
    assert "MiB" in (await refused(fetching, fetching.pages.url("/big.pdf"))).message


async def test_a_cache_that_cannot_be_written(fetching: Fetching, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(DataError, match="cannot be stored"):
        await fetching("2401.01234")
