"""What the search for hidden text finds and what it takes for hidden wrongly: the tables of docs/security.md.

    python benchmarks/hidden_text.py attacks
    python benchmarks/hidden_text.py clean DIR [DIR ...] [--each 2] [--max-pages 70] [--samples]
    python benchmarks/hidden_text.py speed DIR

``attacks`` writes the suite and counts, by technique, attacks reported with their text and kept out of the paper.
``clean`` scans PDFs found under folders, a few of each producer, and lists every finding above low; ``--samples`` adds
PDFs made here with reportlab, and with matplotlib and fpdf2 where they are installed. ``speed`` compares parsing with
and without the search.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import hidden_samples
import pypdfium2
from hidden_attacks import Attack, attacks

from referee.papers.pdf import load as pdf_load
from referee.papers.pdf.hidden import Scan, scan_pdf
from referee.schemas.paper import Paper

_RUNS = 5


def main(arguments: argparse.Namespace) -> int:
    """Run one of the three; returns 1 when something fails its promise."""
    if arguments.job == "attacks":
        return _attacks()
    if arguments.job == "speed":
        return _speed(arguments.folders[0])
    return _clean(arguments.folders, arguments.each, arguments.max_pages, arguments.samples)


def squeezed(text: str) -> str:
    """Letters and digits only, lower case."""
    return re.sub(r"[\W_]", "", text).lower()


def outcome(attack: Attack, folder: Path) -> tuple[Paper, bool, bool]:
    """The paper that was read, whether the attack was reported with its text, and whether it leaked into the paper."""
    path = folder / f"{squeezed(attack.name)}.pdf"
    path.write_bytes(attack.data)
    paper = pdf_load.load_pdf(path, attack.data, max_pages=10)
    wanted = squeezed(attack.text)
    found = any(f.kind == "hidden_text" and wanted in squeezed(f.text) for f in paper.findings)
    words = [paper.title, paper.abstract, *(r.text for r in paper.references)]
    words += [f"{section.heading} {section.text}" for section in paper.sections]
    return paper, found, wanted[:40] in squeezed(" ".join(words))


def _attacks() -> int:
    by_technique: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        for attack in attacks():
            _, found, leaked = outcome(attack, Path(folder))
            by_technique[attack.technique].append((found, leaked))
    print("| technique | PDFs | reported with their text | in the paper's text |\n| --- | --- | --- | --- |")
    for technique, results in by_technique.items():
        print(f"| {technique} | {len(results)} | {sum(f for f, _ in results)} | {sum(x for _, x in results)} |")
    everything = [result for results in by_technique.values() for result in results]
    found, leaked = sum(f for f, _ in everything), sum(x for _, x in everything)
    print(f"| **all** | **{len(everything)}** | **{found}** | **{leaked}** |")
    return int(found < len(everything) or leaked > 0)


def _clean(folders: list[Path], each: int, max_pages: int, samples: bool) -> int:
    rows = list(hidden_samples.collected(folders, each, max_pages))
    print("| file | source | sha-256 | pages | producer | low | medium, high |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    pages, producers, above = 0, set(), []
    with tempfile.TemporaryDirectory() as folder:
        rows += hidden_samples.made(Path(folder)) if samples else []
        for row in rows:
            findings = scan_pdf(document := pypdfium2.PdfDocument(row.data), row.data, row.name).findings
            document.close()
            high = [finding for finding in findings if finding.certainty != "low"]
            pages, above = pages + row.pages, [*above, *((row.name, finding) for finding in high)]
            producers.add(row.producer)
            print(
                f"| {row.name} | {row.source} | {row.digest[:12]} | {row.pages} | {row.producer} "
                f"| {len(findings) - len(high) or ''} | {len(high) or ''} |"
            )
    print(f"\n{len(rows)} files, {pages} pages, {len(producers)} producers, {len(above)} findings above low")
    for name, finding in above:
        print(f"- {name}: {finding.certainty}: {finding.message} {finding.text[:80]!r}")
    return 0


def _speed(folder: Path) -> int:
    print("| file | pages | ms a page without | with | ratio |\n| --- | --- | --- | --- | --- |")
    for path in sorted(folder.glob("*.pdf")):
        plain, full, pages = _timed(path)
        print(f"| {path.name} | {pages} | {1e3 * plain / pages:.0f} | {1e3 * full / pages:.0f} | {full / plain:.2f} |")
    return 0


def _timed(path: Path) -> tuple[float, float, int]:
    """Best processor seconds of a few runs, without the search and with it, taken in turn."""
    data, best, pages = path.read_bytes(), [float("inf")] * 2, 1
    for _ in range(_RUNS):
        for index, scan in enumerate((lambda *_: Scan(), scan_pdf)):
            pdf_load.scan_pdf = scan  # type: ignore[assignment]
            start = time.process_time()
            pages = pdf_load.load_pdf(path, data, max_pages=1000).page_count or 1
            best[index] = min(best[index], time.process_time() - start)
    return best[0], best[1], pages


def _parsed(arguments: list[str]) -> Iterator[argparse.Namespace]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("job", choices=("attacks", "clean", "speed"))
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--each", type=int, default=2)
    parser.add_argument("--max-pages", type=int, default=70)
    parser.add_argument("--samples", action="store_true")
    yield parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(next(_parsed(sys.argv[1:]))))
