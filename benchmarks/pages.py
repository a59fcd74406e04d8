"""What the page of a review costs: seconds and bytes of 10, 30 and 100 pages, and how soon a browser shows them.

    python benchmarks/pages.py [--data DIR] [--pages 10,30,100]

Papers are joined from pages of the shared PDFs. It fails where the page of a hundred takes more than 20 MB or opens in
more than 2 seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path

import pypdfium2
from review_processes import ROOT
from review_table import Row, in_mib, in_seconds, markdown

from referee.papers.isolated import draw_pages
from referee.reports.review_page import review_page
from referee.schemas.point import PointEvidence, ReviewPoint
from referee.schemas.review import Review
from referee.settings import load_settings
from referee.venues import load_venue

MOST_BYTES, MOST_OPEN_S, FULL = 20 * 10**6, 2.0, 100
QUIET = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")


def main() -> int:
    """Measure and print; 1 where a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--pages", default="10,30,100")
    given = parser.parse_args()
    missed = []
    rows = []
    with tempfile.TemporaryDirectory(prefix="referee-pages-") as name:
        for count in map(int, given.pages.split(",")):
            folder = Path(name) / str(count)
            folder.mkdir()
            drawn, page = _made(sorted((given.data / "pdfs").glob("*.pdf")), count, folder)
            opened = _opened(page)
            size = page.stat().st_size
            rows += [
                Row(f"{count} pages: drawn", in_seconds(drawn), beside=f"{1000 * drawn / count:.0f} ms a page"),
                Row(f"{count} pages: report.html", in_mib(size), beside=f"{size / count / 1000:.0f} kB a page"),
                Row(f"{count} pages: opened in Chromium", in_seconds(opened)),
            ]
            if count >= FULL and (size > MOST_BYTES or opened > MOST_OPEN_S):
                missed.append(f"{count} pages: {in_mib(size)}, opened in {in_seconds(opened)}")
    print(markdown(rows))
    print("; ".join(f"MISSED: {one}" for one in missed) or "all bars are met")
    return int(bool(missed))


def _made(files: list[Path], count: int, folder: Path) -> tuple[float, Path]:
    """Seconds that drawing took, and the page."""
    joined = pypdfium2.PdfDocument.new()
    pages = [(file, at) for file in files for at in range(len(pypdfium2.PdfDocument(file)))]
    for file, at in islice(cycle(pages), count):
        joined.import_pages(pypdfium2.PdfDocument(file), [at])
    joined.save(folder / "paper.pdf")
    begun = time.perf_counter()
    drawn = asyncio.run(draw_pages(folder / "paper.pdf", folder, load_settings({}).paper))
    seconds = time.perf_counter() - begun
    form = load_venue("iclr-2025")
    points = [
        ReviewPoint(
            id=f"p-{page.number}",
            claim=f"Something about page {page.number}.",
            polarity="weakness",
            kind="clarity",
            severity="minor",
            raised_severity="minor",
            source="whole",
            outcome="printed",
            evidence=(
                PointEvidence(
                    quote=page.lines[len(page.lines) // 2].text,
                    status="exact",
                    section_id="s",
                    section="A section",
                    page=page.number,
                ),
            ),
        )
        for page in drawn.pages
        if page.lines
    ]
    review = Review(
        review_id="r", paper_id="0" * 64, venue=form.id, source="m", fields={}, points=tuple(points)
    )  # fmt: skip
    page = folder / "report.html"
    page.write_text(
        review_page(
            review,
            form,
            None,
            drawn,
            lambda one: f"data:image/webp;base64,{base64.b64encode((folder / one.image).read_bytes()).decode()}",
        ),
        encoding="utf-8",
    )
    return seconds, page


def _opened(page: Path) -> float:
    """Seconds until the browser has laid the page out."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=list(QUIET))
        shown = browser.new_page(viewport={"width": 1280, "height": 900})
        begun = time.perf_counter()
        shown.goto(page.as_uri())
        shown.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        seconds = time.perf_counter() - begun
        browser.close()
    return seconds


if __name__ == "__main__":
    sys.exit(main())
