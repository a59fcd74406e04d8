"""PDFs that hide nothing on purpose: collected from folders with their source, and made here by several writers."""

from __future__ import annotations

import hashlib
import importlib.util
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pypdfium2

_LEAST_CHARS = 100


@dataclass(frozen=True)
class Sample:
    """One PDF: its file name, the package or folder it comes from, and what wrote it."""

    name: str
    source: str
    data: bytes
    pages: int
    producer: str

    @property
    def digest(self) -> str:
        """The sha-256 of its bytes."""
        return hashlib.sha256(self.data).hexdigest()


def collected(folders: list[Path], each: int, max_pages: int) -> Iterator[Sample]:
    """PDFs with text under the folders: of each producer the ``each`` shortest, none twice."""
    seen: set[str] = set()
    found = []
    for path in sorted(path for folder in folders for path in folder.rglob("*.pdf") if path.is_file()):
        sample = sample_of(path)
        if sample and sample.pages <= max_pages and sample.digest not in seen:
            seen.add(sample.digest)
            found.append(sample)
    count: Counter[str] = Counter()
    for sample in sorted(found, key=lambda one: (one.producer, -(one.source == "shared data"), one.pages, one.name)):
        count[sample.producer] += 1
        if count[sample.producer] <= each or sample.source == "shared data":
            yield sample


def sample_of(path: Path) -> Sample | None:
    """A PDF with text, or nothing."""
    data = path.read_bytes()
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError:
        return None
    try:
        pages = len(document)
        if not any(document[i].get_textpage().count_chars() >= _LEAST_CHARS for i in range(min(pages, 3))):
            return None
        producer = document.get_metadata_value("Producer")
    except pypdfium2.PdfiumError:
        return None
    finally:
        document.close()
    short = re.sub(r"\s*(?:,? Copyright.*|\(Windows\)|TESTER.*)$", "", producer).strip()[:32]
    return Sample(path.name, _source(path), data, pages, short or "not named")


def _source(path: Path) -> str:
    """The Debian package that owns a file; else the package named in its path, or its folder."""
    if path.parts[:3] == ("/", "usr", "share"):
        owner = subprocess.run(["dpkg", "-S", str(path.resolve())], capture_output=True, text=True, check=False)
        if owner.returncode == 0:
            return owner.stdout.split(":")[0]
    if "shared" in path.parts:
        return "shared data"
    named = [part.removeprefix("x_") for part in path.parts if part.startswith(("x_", "r-cran-"))]
    return named[0] if named else path.parent.name


def made(folder: Path) -> list[Sample]:
    """A page by reportlab, and by matplotlib and fpdf2 where they are installed."""
    writers = {"reportlab": _reportlab, "matplotlib": _matplotlib, "fpdf": _fpdf}
    samples = []
    for name, write in writers.items():
        if importlib.util.find_spec(name):
            path = folder / f"made_with_{name}.pdf"
            write(path)
            if sample := sample_of(path):
                samples.append(Sample(sample.name, "made here", sample.data, sample.pages, sample.producer))
    return samples


_LINES = [f"Line {n} of an ordinary page that hides nothing from its readers." for n in range(30)]


def _reportlab(path: Path) -> None:
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(path))
    canvas.setFillColorRGB(0.1, 0.1, 0.3)
    canvas.rect(60, 760, 480, 30, stroke=0, fill=1)
    canvas.setFillColorRGB(1, 1, 1)
    canvas.drawString(72, 770, "White words on a dark bar are plain to see")
    canvas.setFillColorRGB(0, 0, 0)
    for index, line in enumerate(_LINES):
        canvas.drawString(72, 720 - 16 * index, line)
    canvas.save()


def _matplotlib(path: Path) -> None:
    import matplotlib as mpl

    mpl.use("pdf")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    axes.imshow([[0, 1], [2, 3]], cmap="viridis")
    for row in range(2):
        for column in range(2):
            axes.text(column, row, f"cell {row}{column}", color="white" if row == 0 else "black")
    axes.set_title("An ordinary heat map with labels in its cells")
    axes.set_xlabel("the horizontal axis has a name of some length")
    axes.set_ylabel("and so has the vertical one beside it")
    figure.savefig(path)
    pyplot.close(figure)


def _fpdf(path: Path) -> None:
    from fpdf import FPDF

    document = FPDF()
    document.add_page()
    document.set_font("Helvetica", size=11)
    for line in _LINES:
        document.cell(text=line, new_x="LMARGIN", new_y="NEXT")
    document.output(str(path))
