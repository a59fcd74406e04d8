"""How well papers are read: the numbers behind docs/parsing.md.

    python benchmarks/parsing_check.py DIR

For each PDF in DIR: seconds, sections, references, tables with the share of printed numbers found in their cells,
equations, words lost per page, findings, and repairs by kind. Printed numbers and words come from pypdfium2, not from
the converter.
"""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from pathlib import Path

import pypdfium2

from referee.papers import load_paper
from referee.papers.pdf.compare import measure_loss
from referee.papers.pdf.pages import Page, PageReader
from referee.schemas.paper import Block, Paper

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_RUNS = 3


def main(folder: Path) -> int:
    """Check every PDF of a folder; returns 1 when there is none."""
    files = sorted(folder.glob("*.pdf"))
    for file in files:
        seconds, paper = _timed(file)
        document = pypdfium2.PdfDocument(file)
        pages = PageReader(document).read()
        _report(file, paper, pages, seconds)
        document.close()
    return 0 if files else 1


def _timed(file: Path) -> tuple[float, Paper]:
    """The best of a few runs, so that imports and other work on the machine count little."""
    best = float("inf")
    for _ in range(_RUNS):
        start = time.perf_counter()
        paper = load_paper(file)
        best = min(best, time.perf_counter() - start)
    return best, paper


def _report(file: Path, paper: Paper, pages: tuple[Page, ...], seconds: float) -> None:
    print(f"\n# {file.name}: {len(pages)} pages, {seconds:.2f} s, {1000 * seconds / len(pages):.0f} ms a page")
    print(f"title: {paper.title}")
    print(f"sections ({len(paper.sections)}):")
    for section in paper.sections:
        name = f"{section.number or ''} {section.heading}".strip()
        print(f"  {'  ' * (section.level - 1)}{name} [{section.role}; pages {section.pages}]")
    print(f"references: {len(paper.references)}; with title {_have(paper, 'title')}, year {_have(paper, 'year')}")
    for block in (block for _, block in paper.blocks() if block.kind == "table"):
        found, printed, missing = _table_numbers(block, pages)
        print(f"{block.label}: page {block.page}, {len(block.cells)} rows, numbers {found}/{printed} {missing or ''}")
    equations = [block for _, block in paper.blocks() if block.kind == "equation"]
    print(f"equations: {len(equations)}, numbered {sorted(str(e.label) for e in equations if e.label)}")
    print("lost words a page:", _losses(paper, pages))
    print("findings:", [(f.kind, f.page, f.certainty) for f in paper.findings])
    print("repairs:", dict(Counter(repair.kind for repair in paper.repairs).most_common()))


def _have(paper: Paper, field: str) -> int:
    return sum(getattr(reference, field) is not None for reference in paper.references)


def _table_numbers(block: Block, pages: tuple[Page, ...]) -> tuple[int, int, list[str]]:
    """Numbers that the page prints in a table's box, how many the cells hold, and those missing."""
    if block.page is None or block.box is None:
        return 0, 0, []
    lines = pages[block.page - 1].lines_in(block.box)
    printed = Counter(number for line in lines for number in _NUMBER.findall(line.text))
    held = Counter(number for row in block.cells for cell in row for number in _NUMBER.findall(cell))
    missing = printed - held
    return printed.total() - missing.total(), printed.total(), sorted(missing.elements())[:12]


def _losses(paper: Paper, pages: tuple[Page, ...]) -> str:
    """'page: lost/printed' of the pages that lost any word."""
    losses = []
    blocks = [block for _, block in paper.blocks()]
    headings = [f"{s.number or ''} {s.heading}" for s in paper.sections]
    for page in pages:
        texts = [f"{b.text} {b.label or ''}" for b in blocks if b.page == page.number] + [*headings, paper.title]
        # An entry that goes on on this page stands whole on the page where it begins.
        texts += [b.text for b in blocks if b.kind == "reference" and b.page == page.number - 1][-1:]
        loss = measure_loss(page, texts)
        if loss.lost:
            losses.append(f"{page.number}: {loss.lost}/{loss.words}")
    return ", ".join(losses) or "none"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python benchmarks/parsing_check.py DIR")
    sys.exit(main(Path(sys.argv[1])))
