"""Papers that cannot be read, made when a test needs them."""

from __future__ import annotations

from pathlib import Path

PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)


def pdf(path: Path, *, pages: int = 1, text: bool = True, password: str = "") -> Path:
    """Draw a PDF with a line of text, or with a picture, on each page; a password encrypts it."""
    from reportlab.lib.pdfencrypt import StandardEncryption
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(path), encrypt=StandardEncryption(password, canPrint=0) if password else None)
    for number in range(1, pages + 1):
        if text:
            # At another height on each page: a line that repeats in one place is a running head.
            canvas.drawString(72, 700 - 37 * (number % 9), f"Step {number} says that all clusters are equal, not so.")
            canvas.drawString(72, 300 - 17 * (number % 7), f"In run {number * 7} the interval covers {number} of 9.")
        else:
            canvas.rect(72, 72, 400, 600, fill=1)
        canvas.showPage()
    canvas.save()
    return path


def cut_in_half(path: Path) -> Path:
    """What an interrupted download leaves of a file."""
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    return path


def file(path: Path, data: bytes) -> Path:
    """A file with these bytes, and the folder it needs."""
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return path
