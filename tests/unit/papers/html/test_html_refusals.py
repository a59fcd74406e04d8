"""Pages that cannot become a paper: each gets its own cause and next step."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.errors import PaperParseError
from referee.papers.html import load_html

LOGIN = (
    "<html><body><h1>Sign in</h1><form><input type=password></form><p>Forgot your password? Ask us.</p></body></html>"
)
ABSTRACT = (
    f"<html><body><h1>A Paper</h1><h2>Abstract</h2><p>{'word ' * 180}</p><h2>Submission history</h2><p>v1</p></body>"
)


def refusal(data: bytes) -> PaperParseError:
    with pytest.raises(PaperParseError) as caught:
        load_html(Path("page.html"), data)
    assert caught.value.hint
    assert "page.html" in caught.value.message
    return caught.value


@pytest.mark.parametrize(
    "source", [LOGIN, ABSTRACT, "<html><body></body></html>", "<html><body><p>Moved.</p></body></html>"]
)
def test_pages_that_are_no_paper(source: str) -> None:
    assert "without any section of a paper" in refusal(source.encode()).message


def test_a_long_page_without_headings_is_read() -> None:
    paper = load_html(Path("p.html"), f"<html><body><p>{'some words here ' * 120}</p></body></html>".encode())
    assert "no_headings" in [finding.kind for finding in paper.findings]


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (b"\x89PNG\r\n\x1a\n" + b"\x81" * 50, "is not UTF-8"),
        (b"<html><body>\x00</body></html>", "zero byte at offset 12"),
        ("<html><body>caf\xe9</body></html>".encode("latin-1"), "byte 0xe9 at offset 15"),
        (b'<html><head><meta charset="utf-7"></head><body>+ADw-</body>', "unknown encoding 'utf-7'"),
        (b'<html><head><meta charset="rot13"></head><body>uryyb</body>', "unknown encoding 'rot13'"),
        (b"just words, no markup", "no HTML element"),
        (b'<!DOCTYPE html [<!ENTITY a "b">]><html><body>&a;</body></html>', "declares entities"),
        (b"<html><body>" + b"<div>" * 400 + b"x", "deep"),
        (b"<html><body>" + b"<div>" * 5000 + b"x", "deep"),
    ],
)
def test_bytes_that_are_no_page(data: bytes, cause: str) -> None:
    assert cause in refusal(data).message
