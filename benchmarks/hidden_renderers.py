"""Whether a reader sees a sentence: the file is drawn with it and with another one, and the two pictures compared.

HTML by headless Chromium, Markdown by markdown-it (CommonMark) and Chromium, Word by LibreOffice, LaTeX by pdfTeX, each
where it is installed (Debian: ``chromium``, ``libreoffice-writer-nogui``, ``texlive-latex-recommended``,
``texlive-pictures``). What cannot be drawn here is judged by the format's documented rules, which the table says.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pypdfium2
from PIL import Image, ImageChops

# Below this difference of brightness nobody tells letters from paper.
_UNSEEN = 14
_DPI = 144


class NotDrawnError(Exception):
    """The renderer is not here, or it gave up on the file."""


@contextmanager
def chromium() -> Iterator[object]:
    """A browser's page on which HTML can be set."""
    path = shutil.which("chromium")
    if path is None:
        raise NotDrawnError("chromium is not installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield browser.new_page(viewport={"width": 1400, "height": 600})
        browser.close()


def draw_html(page: object, source: str) -> list[Image.Image]:
    """The whole page as one picture."""
    page.set_content(source)  # type: ignore[attr-defined]
    return [Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("L")]  # type: ignore[attr-defined]


def rendered_markdown(source: str) -> str:
    """HTML as CommonMark makes it; raw HTML goes through, as on most sites."""
    from markdown_it import MarkdownIt

    return f"<!DOCTYPE html><meta charset=utf-8>{MarkdownIt('commonmark').render(source)}"


def draw_words(files: Sequence[bytes]) -> list[list[Image.Image] | None]:
    """The pages of Word files by LibreOffice, in one start of it; null for one it does not convert."""
    program = shutil.which("soffice")
    if program is None:
        raise NotDrawnError("LibreOffice is not installed")
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{index}.docx" for index in range(len(files))]
        for path, data in zip(paths, files, strict=True):
            path.write_bytes(data)
        command = [program, f"-env:UserInstallation=file://{folder}/user", "--headless", "--convert-to", "pdf"]
        subprocess.run([*command, "--outdir", folder, *map(str, paths)], capture_output=True, timeout=500, check=False)
        return [_pages(path.with_suffix(".pdf")) for path in paths]


def draw_latex(source: bytes) -> list[Image.Image] | None:
    """The pages of a source by pdfTeX; null where it stops at an error."""
    program = shutil.which("pdflatex")
    if program is None:
        raise NotDrawnError("pdfTeX is not installed")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "main.tex").write_bytes(source)
        command = [program, "-interaction=nonstopmode", "-no-shell-escape", "-halt-on-error", "main.tex"]
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=60, check=False)
        return _pages(Path(folder) / "main.pdf") if done.returncode == 0 else None


def _pages(path: Path) -> list[Image.Image] | None:
    if not path.is_file():
        return None
    document = pypdfium2.PdfDocument(path.read_bytes())
    try:
        return [page.render(scale=_DPI / 72, may_draw_forms=True).to_pil().convert("L") for page in document]
    finally:
        document.close()


def differ(first: Sequence[Image.Image], second: Sequence[Image.Image]) -> bool:
    """Whether a reader can tell two drawings apart."""
    if [one.size for one in first] != [one.size for one in second]:
        return True
    pairs = (ImageChops.difference(a, b).getextrema() for a, b in zip(first, second, strict=True))
    return any(int(most) > _UNSEEN for _, most in pairs)  # type: ignore[call-overload]
