"""Which reader a file goes to by its bytes and its name, and files that cannot become a paper."""

from __future__ import annotations

import contextlib
import gzip
import io
import re
import tarfile
import zipfile
from collections.abc import Callable
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
    paper = load_paper(write(tmp_path / name, data))
    assert paper.format == format
    assert paper.title == "A Small Paper"
    assert [(s.heading, "few of them" in s.text) for s in paper.content] == [("Introduction", True)]


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.pdf", TEX, "plain text"),
        ("a.pdf", HTML, "HTML"),
        ("a.pdf", b"\x89PNG\r\n\x1a\n" + bytes(64), "a PNG image"),
        ("a.txt", b"\x89PNG\r\n\x1a\n" + bytes(64), "a PNG image"),
        ("a.pdf", zipped(**WORD), "a Word document"),
        ("a.docx", b"words", "plain text"),
        ("a.docx", zipped(**{"content.xml": b""}), "an OpenDocument file"),
        ("a.docx", zipped(**WORD)[:60], "cannot be read"),
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
    assert said in refusal(write(tmp_path / name, data)).message


def test_the_supported_suffixes() -> None:
    assert {".pdf", ".md", ".txt", ".tex", ".tar.gz", ".tgz", ".tar", ".zip", ".gz", ".docx", ".html", ".htm"} < {
        *SUPPORTED
    }


def refusal(path: Path, **limits: int) -> PaperParseError:
    with pytest.raises(PaperParseError) as caught:
        load_paper(path, **limits)
    assert caught.value.hint
    return caught.value


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("name", "said"), [("none.pdf", "no file"), (".", "without a .tex file"), ("empty.pdf", "0 bytes")]
)
def test_what_is_no_file(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "empty.pdf").touch()
    assert said in refusal(tmp_path / name).message


def test_unknown_suffix_names_the_supported(tmp_path: Path) -> None:
    error = refusal(write(tmp_path / "a.odt", b"PK\x03\x04"))
    assert ".odt" in error.message
    assert all(suffix in error.hint for suffix in (".pdf", ".md", ".txt"))


def test_encrypted(draw_pdf: Callable[..., Path]) -> None:
    path = draw_pdf([[("Secret", 100, "Times-Roman", 12)]], password="open sesame")
    assert "encrypted" in refusal(path).message


def test_truncated(small_paper: Path) -> None:
    data = small_paper.read_bytes()
    message = refusal(write(small_paper.with_name("cut.pdf"), data[:300])).message
    assert re.search("cut off|cannot be", message)


def test_broken(tmp_path: Path) -> None:
    assert "cannot be read" in refusal(write(tmp_path / "a.pdf", b"%PDF-1.7\nnothing more\n%%EOF")).message


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_damaged_files_end_in_a_paper_error(small_paper: Path, share: float) -> None:
    data = bytearray(small_paper.read_bytes())
    start = int(share * len(data))
    del data[start : start + 60]
    with contextlib.suppress(PaperParseError):
        assert load_paper(write(small_paper.with_name("damaged.pdf"), bytes(data))).format == "pdf"


def test_readable_with_an_owner_password_only(tmp_path: Path) -> None:
    from reportlab.lib.pdfencrypt import StandardEncryption
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "a.pdf"), encrypt=StandardEncryption("", ownerPassword="owner"))
    canvas.drawString(72, 700, "Words that everybody may read.")
    canvas.save()
    assert "everybody" in load_paper(tmp_path / "a.pdf").sections[0].text


def test_scan_without_text(tmp_path: Path) -> None:
    from PIL import Image
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    path = tmp_path / "scan.pdf"
    canvas = Canvas(str(path))
    canvas.drawImage(ImageReader(Image.new("L", (200, 300), 120)), 50, 50, 400, 600)
    canvas.save()
    assert "no text layer" in refusal(path).message


def test_too_many_pages_are_refused_before_conversion(
    draw_pdf: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    import rustypaper

    def never(*_: object) -> None:
        raise AssertionError("converted a PDF that is over the limit")

    monkeypatch.setattr(rustypaper, "to_document", never)
    path = draw_pdf([[(f"Page {n}", 100, "Times-Roman", 12)] for n in range(2000)])
    error = refusal(path)
    assert "2,000 pages" in error.message
    assert "400" in error.message


def test_too_many_bytes(tmp_path: Path) -> None:
    assert "MiB" in refusal(write(tmp_path / "a.txt", b"word " * 100), max_bytes=100).message


@pytest.mark.parametrize("name", ["a.txt", "a.md"])
def test_other_encoding_names_the_offset(tmp_path: Path, name: str) -> None:
    error = refusal(write(tmp_path / name, "Größe".encode("latin-1")))
    assert "offset 2" in error.message


def test_blank_text(tmp_path: Path) -> None:
    assert "blanks" in refusal(write(tmp_path / "a.md", b" \n\n\t\n")).message


def test_pdf_named_text_is_read_as_pdf(small_paper: Path) -> None:
    path = small_paper.rename(small_paper.with_suffix(".txt"))
    assert load_paper(path).format == "pdf"
