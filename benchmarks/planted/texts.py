"""The six development papers as Markdown, clean and planted: from the shared files and records, nothing stored.

    python benchmarks/planted/texts.py DIR       write p1.md … p6.md, planted, into DIR
    python benchmarks/planted/texts.py --check   say whether every record still fits its paper

A record (``records/p1.json``) names its edits by character offsets into the clean Markdown and by the sha-256 of the
words they replace; ``clean_sha256`` is the digest of the whole clean text. A text that a library now writes in another
way is refused by its digest, never planted at the wrong place.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SHARED = ROOT.parent / "shared" / "data"

# A heading of a paper that was printed without marks: "3.2 METHOD", "ABSTRACT", "REFERENCES".
_HEADING = re.compile(r"^(?:(\d+(?:\.\d+)*)\s+)?([A-Z][A-Z\d ,:&\-]{3,60})$", re.MULTILINE)


def _record(file: str, title: str) -> dict[str, Any]:
    """The paper of a file of records whose title begins so."""
    for line in (SHARED / "papers" / file).read_text(encoding="utf-8").splitlines():
        record: dict[str, Any] = json.loads(line)
        if record["title"].startswith(title):
            return record
    raise SystemExit(f"{file} holds no paper whose title begins with {title!r}")


def _full_text(file: str, title: str) -> str:
    """A record with sections as Markdown: title, abstract, sections at their levels, titles of the references."""
    record = _record(file, title)
    parts = [f"# {record['title']}", "## Abstract", re.sub(r"^10\.7554/eLife\.[\d.]+", "", record["abstract"])]
    for section in record["sections"]:
        parts += [f"{'#' * (section['level'] + 1)} {section['heading']}", section["text"]]
    references = [entry["title"] for entry in record["references"] if entry.get("title")]
    parts += ["## References", "\n".join(f"[{n}] {entry}" for n, entry in enumerate(references, 1))]
    return "\n\n".join(part for part in parts if part.strip()) + "\n"


def _marked_up(file: str, title: str) -> str:
    """A record's own Markdown, its bare headings marked as such."""
    record = _record(file, title)

    def heading(match: re.Match[str]) -> str:
        number, words = match.groups()
        level = 2 + (number or "").count(".")
        return f"{'#' * level} {f'{number} ' if number else ''}{words}"

    return _HEADING.sub(heading, record["markdown"])


def _pdf(file: str) -> str:
    import rustypaper

    return rustypaper.to_markdown(str(SHARED / "pdfs" / file))


def _example(name: str) -> str:
    return (ROOT / "examples" / name).read_text(encoding="utf-8")


PAPERS: dict[str, Callable[[], str]] = {
    "p1": lambda: _full_text("elife_fulltext_reviews.jsonl", "Herbivory-induced volatiles"),
    "p2": lambda: _full_text("elife_fulltext_reviews.jsonl", "Neuron hemilineages"),
    "p3": lambda: _marked_up("ai_scientist_generated_fulltext.jsonl", "grid based noise adaptation"),
    "p4": lambda: _pdf("acl2020_s2orc_two_column.pdf"),
    "p5": lambda: _pdf("naacl2025_openreviewer_two_column.pdf"),
    "p6": lambda: _example("paper.md"),
}
"""Two long articles, a machine-written paper, two conference papers from their PDFs, and the example."""


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def clean(name: str) -> str:
    """The paper as its authors wrote it."""
    return PAPERS[name]()


def records(name: str) -> dict[str, Any]:
    """What is planted into a paper; see README.md beside this file for the fields."""
    data: dict[str, Any] = json.loads((HERE / "records" / f"{name}.json").read_text(encoding="utf-8"))
    return data


def planted(name: str) -> str:
    """The paper with all its errors.

    Raises:
        SystemExit: The text, or the words at an edit, are not those that the records were written for.
    """
    text, held = clean(name), records(name)
    if sha256(text) != held["clean_sha256"]:
        raise SystemExit(f"{name}: the clean text is not the one that the records were written for")
    edits = sorted((e for r in held["records"] for e in r["edits"]), key=lambda e: -e["start"])
    for edit in edits:
        before = text[edit["start"] : edit["end"]]
        if sha256(before) != edit["before_sha256"]:
            raise SystemExit(f"{name}: the words at {edit['start']} are not those that an edit replaces")
        text = text[: edit["start"]] + edit["after"] + text[edit["end"] :]
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--clean", action="store_true", help="write the clean papers, not the planted ones")
    args = parser.parse_args()
    for name in PAPERS:
        text = clean(name) if args.clean else planted(name)
        print(f"{name}: {len(text):,} characters, {0 if args.clean else len(records(name)['records'])} errors")
        if args.folder:
            args.folder.mkdir(parents=True, exist_ok=True)
            (args.folder / f"{name}.md").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
