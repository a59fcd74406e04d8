"""The rules without a model on real papers: every hit in print, counts, time, and which planted flaws are found.

    python benchmarks/rules.py [DIR ...] [--rules NAME ...] [--quiet]

A DIR holds papers (.pdf, .md, .txt) or review data with full texts (.jsonl, a record with ``sections`` a line). By
default: the shared PDFs and full texts, and the example paper and note with their planted flaws. Whether a hit is right
no code can say: docs/rules.md holds a language model's labels.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from referee.errors import PaperParseError
from referee.evidence import number_ledger
from referee.evidence.rules import RULES, RuleHit
from referee.papers import load_paper
from referee.schemas import Block, Converter, Paper, Reference, Section

# The function of each rule that decides one comparison: calls to it are what the rule could have hit.
COMPARES = {
    "text_vs_table": "_fits",
    "sample_size": "_differ",
    "relative_gain": "_follows",
    "statistic_vs_p": "p_range",
    "grim": "possible_mean",
    "dangling_label": "_is_missing",
    "unused_label": "_is_mentioned",
}
ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared" / "data"
DEFAULT = (SHARED / "pdfs", SHARED / "papers", ROOT / "examples")
CAPTION = re.compile(r"((?:Figure|Table|Scheme|Video)\s+\d+)\.(?=\s?[A-Z(])")
CAPTION_MARK = re.compile(r"\s*10\.7554/eLife\.\d{5}\.\d{3}(?=(?:Figure|Table|Scheme|Video)\s+\d+\.)")
CAPTION_END = re.compile(r"\s*DOI: http://dx\.doi\.org/\S+")
BARE_CAPTION = re.compile(r"(Figure|Table)\s+(\d+):\s")
NUMBERED = re.compile(r"^(\d+(?:\.\d+)*)\.?\s+(.+)$")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, default=list(DEFAULT))
    parser.add_argument("--rules", nargs="+", choices=list(RULES))
    parser.add_argument("--quiet", action="store_true", help="counts only")
    args = parser.parse_args()
    chosen = args.rules or list(RULES)
    counts: Counter[str] = Counter()
    compared = counted_comparisons()
    papers, flaws = 0, []
    for name, paper in readable(args.folders):
        papers += 1
        started = time.perf_counter()
        ledger = number_ledger(paper)
        made = time.perf_counter()
        hits = [hit for rule in chosen for hit in RULES[rule](paper)]
        ran = time.perf_counter()
        characters = sum(len(block.text) for _, block in paper.blocks())
        print(
            f"{name}: {characters:,} characters, {len(ledger)} numbers in {(made - started) * 1e3:.0f} ms, "
            f"{len(hits)} hits in {(ran - made) * 1e3:.0f} ms"
        )
        counts.update(hit.rule for hit in hits)
        for hit in () if args.quiet else hits:
            show(hit)
        flaws += planted(name, hits)
    print(f"\n| rule | compared in {papers} papers | hits |\n| --- | ---: | ---: |")
    for rule in chosen:
        print(f"| `{rule}` | {compared[rule]} | {counts[rule]} |")
    print("\n" + "\n".join(flaws) if flaws else "")
    return 0 if papers else 2


def counted_comparisons() -> Counter[str]:
    """Count, from now on, how often each rule compares something."""
    counts: Counter[str] = Counter()

    def counting(rule: str, original: Any) -> Any:
        def compare(*values: Any) -> Any:
            counts[rule] += 1
            return original(*values)

        return compare

    for rule, name in COMPARES.items():
        module = importlib.import_module(RULES[rule].__module__)
        setattr(module, name, counting(rule, getattr(module, name)))
    return counts


def readable(folders: list[Path]) -> Iterator[tuple[str, Paper]]:
    for folder in folders:
        for path in sorted(folder.glob("*")) if folder.is_dir() else [folder]:
            if path.suffix == ".jsonl":
                yield from full_texts(path)
            elif path.suffix in (".pdf", ".md", ".txt") and path.name != "README.md":
                try:
                    yield path.name, load_paper(path)
                except PaperParseError as error:
                    sys.stderr.write(f"left out: {error}\n")


def full_texts(path: Path) -> Iterator[tuple[str, Paper]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if record.get("sections"):
            yield f"{path.stem} / {record['title'][:60]}", as_paper(record)


def as_paper(record: dict[str, Any]) -> Paper:
    """A full-text record as a paper: sections by their headings, captions set apart, tables as the text has them."""
    abstract = blocks("s0", record.get("abstract") or "")
    sections = [Section(id="s0", heading="Abstract", level=1, role="abstract", blocks=abstract)] if abstract else []
    for n, part in enumerate(record["sections"], 1):
        numbered = NUMBERED.match(part["heading"])
        role = "references" if part["heading"].strip().casefold() == "references" else "content"
        sections.append(
            Section(
                id=f"s{n}",
                heading=numbered[2] if numbered else part["heading"],
                number=numbered[1] if numbered else None,
                level=part.get("level") or 1,
                role=role,
                blocks=blocks(f"s{n}", part["text"]),
            )
        )
    return Paper(
        paper_id=hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest(),
        title=record["title"],
        abstract=record.get("abstract") or "",
        format="text",
        sections=tuple(sections),
        references=tuple(
            Reference(id=f"r{n}", text=entry["title"], title=entry["title"])
            for n, entry in enumerate(record.get("references") or [], 1)
            if entry.get("title")
        ),
        converter=Converter(name="full-text record", version="1"),
    )


def blocks(prefix: str, text: str) -> tuple[Block, ...]:
    made: list[Block] = []
    for piece in re.split(r"\n\s*\n", CAPTION_MARK.sub("\n\n", text)):
        for part in CAPTION_END.split(piece):
            if not part.strip():
                continue
            found = CAPTION.match(part) or BARE_CAPTION.match(part)
            label = (found[1] if found.re is CAPTION else f"{found[1]} {found[2]}") if found else None
            kind = "caption" if found else "paragraph"
            made.append(Block(id=f"{prefix}b{len(made) + 1}", kind=kind, text=part.strip(), label=label))
    return tuple(made)


def show(hit: RuleHit) -> None:
    print(f"  [{hit.rule}] {hit.kind}, {hit.severity}: {hit.claim}")
    for evidence in hit.evidence:
        place = evidence.section if evidence.page is None else f"{evidence.section}, p. {evidence.page}"
        print(f"      {evidence.role} ({place}): {evidence.quote}")


def planted(name: str, hits: list[RuleHit]) -> list[str]:
    """Which of the example's planted flaws a hit quotes."""
    document = {"paper.pdf": "paper", "short.md": "short"}.get(name)
    if document is None:
        return []
    flaws = json.loads((ROOT / "examples" / "flaws.json").read_text(encoding="utf-8"))["flaws"]
    lines = []
    for flaw in flaws:
        if flaw["document"] == document:
            found = [h.rule for h in hits if any(squeezed(flaw["text"]) in squeezed(e.quote) for e in h.evidence)]
            lines.append(f"{flaw['id']} ({flaw['kind']}): {', '.join(found) or 'not found'}")
    return lines


def squeezed(text: str) -> str:
    return re.sub(r"[\W_]", "", text).casefold()


if __name__ == "__main__":
    sys.exit(main())
