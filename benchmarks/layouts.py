"""How well papers of many layouts are read: titles, headings, references, floats and reading order, against labels.

    python benchmarks/layouts.py [FOLDER] [--labels FILE] [--json FILE]

FOLDER (``../shared/data/layouts``) holds ``labels/*.json`` and ``pdfs/*.pdf``; its README says what each field is and
how they were labelled. With ``--labels`` the labels come from one file, as a list or under ``papers``, and the PDFs lie
in FOLDER or in its folder ``pdfs``. A heading counts as found when a section's heading has its letters and digits. A
reference counts as found when one entry holds the labelled first author, year and 90% of the title's words; it is clean
when that entry holds no second labelled one; its title counts as read when the field agrees. A float counts as found
when a block has its label; its crop is whole at 95% of the labelled box, and tight at 1.6 times its size at most. In
reading order the next phrase follows within 200 characters. Exit status 2: no paper could be read.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pypdfium2

from referee.errors import PaperParseError
from referee.papers import load_paper
from referee.papers.figures import cut_figures
from referee.schemas.paper import Box, Paper

FOLDER = Path(__file__).parents[2] / "shared" / "data" / "layouts"
NOT_SHOWN = ("front", "abstract")
NO_BODY = ("caption", "table", "figure", "footnote")
LONGEST_ENTRY, ORDER_REACH, PHRASE = 900, 200, 60
HELD, COVERED, TIGHT = 0.9, 0.95, 1.6


def main() -> int:
    """Print a line a paper and the sums; 2 where no paper could be read."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER)
    parser.add_argument("--labels", type=Path, help="one file with the labels of all papers")
    parser.add_argument("--json", type=Path, help="file for the rows and sums")
    args = parser.parse_args()
    rows = []
    for label in labels(args.folder, args.labels):
        found = [path for path in (args.folder / "pdfs", args.folder) if (path / f"{label['id']}.pdf").exists()]
        row = scored(label, found[0] / f"{label['id']}.pdf") if found else {"refused": "the file is not there"}
        rows.append({"id": label["id"], **row})
        print(
            f"{label['id']:28}", ", ".join(f"{key} {value}" for key, value in row.items() if key != "wrong"), flush=True
        )
    read = [row for row in rows if "refused" not in row]
    sums: Counter[str] = Counter()
    for row in read:
        sums.update({key: value for key, value in row.items() if isinstance(value, int) and key != "cpu_ms_a_page"})
    print(f"{len(read)} of {len(rows)} papers were read:", ", ".join(f"{key} {value}" for key, value in sums.items()))
    if args.json:
        args.json.write_text(json.dumps({"rows": rows, "sums": sums}, ensure_ascii=False, indent=1) + "\n", "utf-8")
    return 0 if read else 2


def labels(folder: Path, file: Path | None) -> Iterator[dict[str, Any]]:
    """The labels of all papers, from one file or from one a paper."""
    if file is None:
        yield from (json.loads(path.read_text("utf-8")) for path in sorted((folder / "labels").glob("*.json")))
        return
    every = json.loads(file.read_text("utf-8"))
    yield from every["papers"] if isinstance(every, dict) else every


def scored(label: Mapping[str, Any], pdf: Path) -> dict[str, Any]:
    """What of one paper is read as labelled; ``refused`` alone where it is not read."""
    start = time.process_time()
    try:
        paper = load_paper(pdf)
    except PaperParseError as error:
        return {"refused": " ".join(str(error).split())[:160]}
    spent = time.process_time() - start
    title = (
        share(label["title"], paper.title) >= HELD and len(words(paper.title)) <= 1.5 * len(words(label["title"])) + 2
    )
    return {
        "title": int(title),
        **scored_headings(label, paper),
        **scored_references(label["references"], paper),
        **scored_floats(label["floats"], paper, pdf),
        **scored_order(label["reading_order"], paper),
        "accused": sum(one.kind == "hidden_text" and one.certainty == "high" for one in paper.findings),
        "cpu_ms_a_page": round(1000 * spent / label["pages"]),
    }


def scored_headings(label: Mapping[str, Any], paper: Paper) -> dict[str, Any]:
    """Headings found with their number or without, and those that are none."""
    read = {letters(f"{one.number or ''}{one.heading}") for one in paper.sections}
    read |= {letters(one.heading) for one in paper.sections}
    bare = [re.sub(r"^(\d+(\.\d+)*|[ivx]+|[a-z])\b[. ]*", "", one["text"], flags=re.I) for one in label["headings"]]
    wanted = [(letters(one["text"]), letters(name)) for one, name in zip(label["headings"], bare, strict=True)]
    known = {letters(label["title"]), *(name for pair in wanted for name in pair)}
    wrong = [
        one.heading
        for one in paper.sections
        if one.role not in NOT_SHOWN
        and known.isdisjoint({letters(f"{one.number or ''}{one.heading}"), letters(one.heading)})
    ]
    found = sum(not read.isdisjoint(pair) for pair in wanted)
    return {"headings": found, "headings_of": len(wanted), "headings_wrong": len(wrong), "wrong": wrong}


def scored_references(label: Mapping[str, Any], paper: Paper) -> dict[str, int]:
    """Entries found, clean and with their title; entries without a labelled author are left out."""
    entries = [one for one in label["entries"] if one.get("first_author")]
    texts = [one.text for one in paper.references]
    found = clean = titles = 0
    for one in entries:
        at = [text for text in texts if holds(one, text)]
        found += bool(at)
        clean += any(len(text) < LONGEST_ENTRY and sum(holds(other, text) for other in entries) == 1 for text in at)
        title = one.get("title")
        read = [other.title for other in paper.references if title and other.title]
        titles += any(share(title, own) >= HELD and len(words(own)) <= len(words(title)) + 3 for own in read)
    counts = {"references_found": found, "references_clean": clean, "references_of": len(entries)}
    counts |= {"returned": len(texts), "printed": label["count"]}
    return counts | {"titles": titles, "titles_of": sum(bool(one.get("title")) for one in entries)}


def holds(entry: Mapping[str, Any], text: str) -> bool:
    """Whether a text has the labelled first author, year and title, as far as they are labelled."""
    author, year, title = letters(entry["first_author"]), str(entry.get("year") or "")[:4], entry.get("title")
    return author in letters(text) and year in text and (not title or share(title, text) >= HELD)


def scored_floats(floats: list[Mapping[str, Any]], paper: Paper, pdf: Path) -> dict[str, int]:
    """Floats with a block of their label, and how their crops cover the labelled boxes."""
    numbered = [one for one in floats if one.get("number") is not None]
    known = {letters(block.label) for _, block in paper.blocks() if block.label}
    with pypdfium2.PdfDocument(pdf) as document:
        sizes = [page.get_size() for page in document]
    with tempfile.TemporaryDirectory() as folder:
        cut = cut_figures(pdf, paper, Path(folder), max_pages=200, max_bytes=10**8, max_figures=100).items
    seen = whole = tight = 0
    for one in numbered:
        name = letters(f"{one['kind']} {one['number']}")
        seen += name in known
        crop = next((c.box for c in cut if c.box and letters(c.label) == name and c.page == one["page"]), None)
        if one.get("box") and crop is not None:
            width, height = sizes[one["page"] - 1]
            x0, y0, x1, y1 = (part * side for part, side in zip(one["box"], (width, height) * 2, strict=True))
            covered = shared(crop, Box(x0=x0, y0=y0, x1=x1, y1=y1)) >= COVERED * (x1 - x0) * (y1 - y0)
            whole += covered
            tight += covered and area(crop) <= TIGHT * (x1 - x0) * (y1 - y0)
    return {"floats": seen, "floats_whole": whole, "floats_tight": tight, "floats_of": len(numbered)}


def scored_order(pairs: list[Mapping[str, str]], paper: Paper) -> dict[str, int]:
    """Phrases behind which the text goes on as labelled."""
    body = letters(" ".join(block.text for _, block in paper.blocks() if block.kind not in NO_BODY))
    right = 0
    for pair in pairs:
        at, after = body.find(letters(pair["phrase"])[-PHRASE:]), letters(pair["next"])[:PHRASE]
        right += at >= 0 and after in body[at : at + PHRASE + ORDER_REACH + len(after)]
    return {"order": right, "order_of": len(pairs)}


def area(box: Box) -> float:
    """The area of a box in square points."""
    return (box.x1 - box.x0) * (box.y1 - box.y0)


def shared(one: Box, other: Box) -> float:
    """The area that two boxes have in common."""
    width = min(one.x1, other.x1) - max(one.x0, other.x0)
    return max(0.0, width) * max(0.0, min(one.y1, other.y1) - max(one.y0, other.y0))


def ascii_of(text: str) -> str:
    """A text in lower case without accents and other signs than those of ASCII."""
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()


def letters(text: str) -> str:
    """A text for comparison: letters and digits alone."""
    return re.sub(r"[^a-z0-9]+", "", ascii_of(text))


def words(text: str) -> list[str]:
    """The words of a text for comparison."""
    return re.findall(r"[a-z0-9]+", ascii_of(text))


def share(wanted: str, text: str) -> float:
    """How many of the wanted words a text has, 0 to 1; 1 where none is wanted."""
    own, held = words(wanted), set(words(text))
    return sum(word in held for word in own) / len(own) if own else 1.0


if __name__ == "__main__":
    sys.exit(main())
