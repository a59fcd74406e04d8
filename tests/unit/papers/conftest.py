"""Tiny PDFs, drawn line by line, so that every test says what its page prints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

BODY, BOLD = "Times-Roman", "Times-Bold"
Line = tuple[str, float, str, float]
Pages = Sequence[Sequence[Line]]


def prose(start: float, count: int, words: str = "cluster interval sample coverage error system") -> list[Line]:
    """Lines of body text, each with its own words, from height ``start`` downwards (points from the page's top)."""
    return [
        (f"Line {words} number {start + 13 * i:.0f} stands here in plain words.", start + 13 * i, BODY, 10)
        for i in range(count)
    ]


@pytest.fixture
def draw_pdf(tmp_path: Path) -> Callable[..., Path]:
    """Draw pages of (text, height from the top, font, size) lines at x = 72; ``password`` encrypts the file."""
    from reportlab.lib.pdfencrypt import StandardEncryption
    from reportlab.pdfgen.canvas import Canvas

    def draw(pages: Pages, *, name: str = "paper.pdf", password: str = "") -> Path:
        path = tmp_path / name
        encrypt = StandardEncryption(password, canPrint=0) if password else None
        canvas = Canvas(str(path), pagesize=(612, 792), encrypt=encrypt)
        for lines in pages:
            for text, top, font, size in lines:
                canvas.setFont(font, size)
                canvas.drawString(72, 792 - top, text)
            canvas.showPage()
        canvas.save()
        return path

    return draw


@pytest.fixture
def small_paper(draw_pdf: Callable[..., Path]) -> Path:
    """A paper of two pages: title, authors, abstract, two sections with a subsection, references."""
    first = [
        ("A Small Paper About Intervals", 80, BOLD, 17),
        ("Ada Author", 110, BODY, 10),
        ("Abstract", 140, BOLD, 12),
        *prose(160, 5),
        ("1 Introduction", 260, BOLD, 12),
        *prose(280, 14),
        ("2 Method", 490, BOLD, 12),
        *prose(510, 6, "we describe the method and its parts"),
    ]
    second = [
        ("2.1 Details", 80, BOLD, 10),
        *prose(100, 10, "details of everything that was done"),
        ("References", 300, BOLD, 12),
        ("[1] A. Author. Intervals for small samples. Journal of Tests, 12(3):1-9, 2019.", 320, BODY, 10),
        ("[2] B. Writer and C. Reader. Another title of a work. In Proceedings of Things, 2021.", 345, BODY, 10),
    ]
    return draw_pdf([first, second])
