"""Which reader a file goes to: its bytes decide, and its name only where they say no more than "text"."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.errors import PaperParseError
from referee.papers import SUPPORTED, load_paper
from referee.papers.sniff import describe_bytes, kind_of

TEX = b"""% !TEX program = pdflatex

\\documentclass{article}
\\title{A Small Paper}
\\begin{document}
\\maketitle
\\section{Introduction}
We count words and find that there are few of them in this paper.
\\end{document}
"""
HTML = b"""<!DOCTYPE html>
<html><head><title>A Small Paper</title></head><body><h1>A Small Paper</h1><h2>1 Introduction</h2>
<p>We count words and find that there are few of them in this paper.</p></body></html>
"""


def zipped(**files: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in files.items():
            archive.writestr(name.replace("__", "/"), data)
    return buffer.getvalue()


def tarred(mode: str = "w", **files: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


WORD = {"word__document.xml": b"<w:document/>", "[Content_Types].xml": b"<Types/>"}


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"%PDF-1.7", "pdf"),
        (b"\r\n junk before %PDF-1.4", "pdf"),
        (TEX, "latex"),
        (b"\xef\xbb\xbf" + TEX, "latex"),
        (b"\\RequirePackage{x}\n  \\documentclass[a4paper]{article}", "latex"),
        (b"\\documentstyle{article}", "latex"),
        (b"In LaTeX one writes\n\\documentclass{article}\nat the top.", "text"),
        (b"# Notes\n\n```latex\n\\documentclass{article}\n```\n", "text"),
        (b"\\section{A part without a class}", "text"),
        (HTML, "html"),
        (b"\xef\xbb\xbf  \n<HTML lang=en>", "html"),
        (b'<?xml version="1.0"?>\n<!-- saved -->\n<!DOCTYPE html PUBLIC "x">', "html"),
        ("<html><p>Words".encode("utf-16"), "html"),
        (b"<html", "text"),
        (b"<p align=center>\n\n# A readme", "text"),
        (gzip.compress(TEX), "archive"),
        (tarred(**{"main.tex": TEX}), "archive"),
        (tarred("w:gz", **{"main.tex": TEX}), "archive"),
        (zipped(**{"src__main.TEX": TEX}), "archive"),
        (zipped(**WORD), "docx"),
        (zipped(**WORD, **{"notes.tex": TEX}), "docx"),
        (zipped(**{"data.csv": b"1,2"}), None),
        (zipped(**{"xl__workbook.xml": b""}), None),
        (zipped(**{"main.tex": TEX})[:40], None),
        ("Größe, in another encoding".encode("latin-1"), "text"),
        (b"\x89PNG\r\n\x1a\n" + bytes(64), None),
        (b"\x00\x01\x02", None),
        (bytes(range(1, 32)) * 20, None),
        (b"\xff\xfeW\x00o\x00", None),
    ],
)
def test_bytes_name_the_reader(data: bytes, kind: str | None) -> None:
    assert kind_of(data) == kind


@given(st.binary(max_size=2000))
def test_any_bytes_have_a_description(data: bytes) -> None:
    assert describe_bytes(data)
    assert kind_of(data) in ("pdf", "docx", "archive", "html", "latex", "text", None)


@given(st.binary(max_size=300))
def test_any_bytes_in_a_zip_file_have_a_description(data: bytes) -> None:
    whole = bytearray(zipped(**{"main.tex": TEX}))
    whole[30 : 30 + len(data)] = data
    assert describe_bytes(bytes(whole))
    kind_of(bytes(whole))


@pytest.mark.parametrize(
    ("name", "data", "format"),
    [
        ("paper.txt", HTML, "html"),
        ("paper.tex", HTML, "html"),
        ("paper.htm", HTML, "html"),
        ("paper.txt", TEX, "latex"),
        ("paper.html", TEX, "latex"),
        ("paper", TEX, "latex"),
        ("paper.zip", zipped(**{"main.tex": TEX}), "latex"),
        ("paper.docx", zipped(**{"main.tex": TEX}), "latex"),
        ("paper.gz", gzip.compress(TEX), "latex"),
        ("paper.tar.gz", tarred("w:gz", **{"main.tex": TEX}), "latex"),
        ("paper.tgz", tarred("w:gz", **{"main.tex": TEX}), "latex"),
        ("paper.tar", tarred(**{"main.tex": TEX}), "latex"),
        ("paper.zip", tarred("w:gz", **{"main.tex": TEX}), "latex"),
    ],
)
def test_files_go_to_the_reader_of_their_bytes(tmp_path: Path, name: str, data: bytes, format: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    paper = load_paper(path)

    assert paper.format == format
    assert paper.title == "A Small Paper"
    assert [(s.heading, "few of them" in s.text) for s in paper.content] == [("Introduction", True)]


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.pdf", TEX, "plain text"),
        ("a.pdf", zipped(**WORD), "a Word document"),
        ("a.docx", b"words", "plain text"),
        ("a.docx", zipped(**{"content.xml": b""}), "an OpenDocument file"),
        ("a.docx", zipped(**WORD)[:60], "damaged"),
        ("a.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "old Microsoft Office file"),
        ("a.zip", zipped(**{"a.png": b""}), "without a .tex file"),
        ("a.zip", b"PK\x03\x04", "damaged"),
        ("a.tar.gz", b"BZh91AY", "a bzip2 archive"),
        ("a.tar.gz", HTML[:5], "plain text"),
        ("a.html", b"\x89PNG\r\n\x1a\n" + bytes(64), "a PNG image"),
        ("a.tex", bytes(100), "unknown binary data"),
        ("a.rst", b"Title\n=====", "plain text"),
        ("a", b"words", "plain text"),
    ],
)
def test_names_and_bytes_that_contradict_each_other(tmp_path: Path, name: str, data: bytes, said: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(PaperParseError) as caught:
        load_paper(path)
    assert said in caught.value.message
    assert caught.value.hint


def test_the_supported_suffixes() -> None:
    assert {".pdf", ".md", ".txt", ".tex", ".tar.gz", ".tgz", ".tar", ".zip", ".gz", ".docx", ".html", ".htm"} < {
        *SUPPORTED
    }
