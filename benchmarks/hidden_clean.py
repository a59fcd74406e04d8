"""Clean PDFs: how many are refused or accused, and what the search for hidden text takes a page.

    python benchmarks/hidden_clean.py DIR [DIR ...] [--most 300] [--max-pages 40]

PDFs with text below the folders, none twice, taken round by round from each folder and writer, so that no package and
no writer is most of them. Each is read as a paper is. A PDF is *accused* where a finding of high certainty says that it
holds hidden text or speaks to a model; every such finding and every refusal is printed, to be looked at on the page.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pypdfium2
from hidden_samples import Sample, sample_of

from referee.errors import PaperParseError
from referee.papers.hidden import checked
from referee.papers.pdf.hidden import scan_pdf
from referee.papers.pdf.load import load_pdf
from referee.schemas.paper import Paper


def main(arguments: argparse.Namespace) -> int:
    """Read them all; 1 when a PDF is refused."""
    refused: list[str] = []
    above: list[str] = []
    milliseconds: list[float] = []
    kinds: Counter[tuple[str, str]] = Counter()
    pages, producers = 0, set()
    samples = list(chosen(arguments.folders, arguments.most, arguments.max_pages))
    for sample in samples:
        pages, producers = pages + sample.pages, producers | {sample.producer}
        try:
            milliseconds.append(1e3 * _seconds(sample) / sample.pages)
            paper = _read(sample, arguments.max_pages)
        except PaperParseError as error:
            refused.append(f"- {sample.source} {sample.name} ({sample.digest[:12]}): {error.message}")
            continue
        kinds.update({(finding.kind, finding.certainty) for finding in paper.findings})
        above += _above(sample, paper)
    print(f"{len(samples)} files, {pages} pages, {len(producers)} writers, {len(refused)} refused")
    print(f"search, ms a page: median {statistics.median(milliseconds):.1f}, nine of ten under ", end="")
    print(f"{statistics.quantiles(milliseconds, n=10)[-1]:.1f}, most {max(milliseconds):.1f}")
    for (kind, certainty), count in sorted(kinds.items()):
        print(f"{count} files with {kind} of {certainty} certainty")
    print("\n".join([*refused, *above]))
    return int(bool(refused))


def chosen(folders: list[Path], most: int, max_pages: int) -> Iterator[Sample]:
    """The PDFs, in turn one of each folder and writer."""
    groups: dict[tuple[str, str], list[Sample]] = defaultdict(list)
    seen: set[str] = set()
    for path in sorted(path for folder in folders for path in folder.rglob("*.pdf") if path.is_file()):
        sample = sample_of(path)
        if sample and sample.pages <= max_pages and sample.digest not in seen:
            seen.add(sample.digest)
            groups[sample.source, sample.producer].append(sample)
    taken = 0
    while taken < most and any(groups.values()):
        for group in groups.values():
            if group and taken < most:
                taken += 1
                yield group.pop(0)


def _seconds(sample: Sample) -> float:
    document = pypdfium2.PdfDocument(sample.data)
    start = time.process_time()
    try:
        scan_pdf(document, sample.data, sample.name)
    finally:
        taken = time.process_time() - start
        document.close()
    return taken


def _read(sample: Sample, max_pages: int) -> Paper:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / sample.name
        path.write_bytes(sample.data)
        return checked(load_pdf(path, sample.data, max_pages=max_pages))


def _above(sample: Sample, paper: Paper) -> Iterator[str]:
    for finding in paper.findings:
        if finding.kind in ("hidden_text", "addresses_reviewer") and finding.certainty != "low":
            said = f"{finding.kind}, {finding.certainty}, page {finding.page}: {finding.text[:100]!r}"
            yield f"- {sample.source} {sample.name} ({sample.digest[:12]}): {said}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--most", type=int, default=300)
    parser.add_argument("--max-pages", type=int, default=40)
    sys.exit(main(parser.parse_args()))
