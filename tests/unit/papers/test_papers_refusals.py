"""Files that cannot become a paper: each gets its own cause and next step."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.errors import PaperParseError
from referee.papers import load_paper

PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 64


def refusal(path: Path, **limits: int) -> PaperParseError:
    with pytest.raises(PaperParseError) as caught:
        load_paper(path, **limits)
    assert caught.value.hint
    return caught.value


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_missing_file(tmp_path: Path) -> None:
    assert "no file" in refusal(tmp_path / "none.pdf").message


def test_directory(tmp_path: Path) -> None:
    assert "directory" in refusal(tmp_path).message


def test_empty_file(tmp_path: Path) -> None:
    assert "0 bytes" in refusal(write(tmp_path / "a.pdf", b"")).message


def test_png_named_pdf_says_what_it_is(tmp_path: Path) -> None:
    assert "a PNG image" in refusal(write(tmp_path / "a.pdf", PNG)).message


def test_html_named_pdf_says_what_it_is(tmp_path: Path) -> None:
    assert "HTML" in refusal(write(tmp_path / "a.pdf", b"<!DOCTYPE html><html>moved</html>")).message


def test_png_named_text(tmp_path: Path) -> None:
    assert "a PNG image" in refusal(write(tmp_path / "a.txt", PNG)).message


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
