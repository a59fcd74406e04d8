"""How well foreign papers are read: title, abstract, sections and references of 30 papers, against labels.

    python benchmarks/foreign_papers.py FOLDER [--json FILE] [--names NAME ...]

``foreign_papers/labels.json`` was written by a language model that looked at the rendered pages and the sources and
had not seen what any program made of them; its README says what each field means and how the files are fetched into
FOLDER. Review copies outside the 30 are read too and have sums of their own. Exit status 2: no file could be read.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from referee.errors import PaperParseError
from referee.papers import load_paper
from referee.schemas.paper import Paper

LABELS = Path(__file__).with_name("foreign_papers") / "labels.json"
COUNTED_ROLES = ("content", "acknowledgements", "appendix", "checklist")
COUNTED_FORMATS = ("latex", "docx", "html")


def main() -> int:
    """Print one row per paper and the sums; 2 where no file could be read."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", type=Path, help="file for the rows and sums")
    parser.add_argument("--names", nargs="+", help="only these papers")
    args = parser.parse_args()
    labels = json.loads(LABELS.read_text(encoding="utf-8"))["papers"]
    print("| paper | kind | title | abstract | sections read / labelled | references read / labelled | remark |")
    print("| --- | --- | --- | --- | ---: | ---: | --- |")
    rows = []
    for label in labels:
        if not args.names or label["name"] in args.names:
            rows.append(compared(label, args.folder))
            print(as_line(rows[-1]), flush=True)
    sums = {
        "the 30 papers": summed(row for row in rows if row["in_thirty"]),
        "more review copies": summed(row for row in rows if not row["in_thirty"]),
        "all review copies with line numbers": summed(row for row in rows if row["line_numbers"]),
    }
    print()
    for name, values in sums.items():
        print(f"{name}:", ", ".join(f"{key} {value}" for key, value in values.items()))
    if args.json:
        args.json.write_text(json.dumps({"rows": rows, "sums": sums}, ensure_ascii=False, indent=1) + "\n", "utf-8")
    return 0 if any(row["read"] for row in rows) else 2


def compared(label: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The row of one paper: what was read beside what is labelled, and which of them agree."""
    row: dict[str, Any] = {key: label[key] for key in ("name", "kind", "in_thirty", "references_numbered")}
    row |= {"line_numbers": label["line_numbers"] is not None, "read": False, "remark": ""}
    row["labelled"] = {"sections": label["sections"], "references": label["references"]}
    row["references_in_sum"] = label["references"] is not None and (
        bool(label["references_numbered"]) or label["kind"].startswith(COUNTED_FORMATS)
    )
    row |= dict.fromkeys(("title", "abstract", "sections_within_one", "references"), False)
    file = folder / label["file"]
    if not file.exists():
        return row | {"remark": f"no file {label['file']}"}
    if digest(folder / label["file"].split("/")[0]) != label["sha256"]:
        return row | {"remark": f"{label['file']} is not the labelled file: its digest differs"}
    try:
        paper = load_paper(file)
    except PaperParseError as error:
        return row | {"remark": f"not read: {' '.join(str(error).split())}"}
    except (KeyboardInterrupt, SystemExit):
        raise
    except (
        BaseException
    ) as error:  # a converter's panic is no Exception; it is a result of this paper, not the run's end
        return row | {"remark": f"crashed: {type(error).__name__}: {' '.join(str(error).split())}"}
    sections = sum(1 for section in paper.sections if section.heading and section.role in COUNTED_ROLES)
    return row | {
        "read": True,
        "found": {
            "title": paper.title,
            "abstract": [paper.abstract[:80], paper.abstract[-80:]],
            "sections": sections,
            "references": len(paper.references),
        },
        "title": letters(paper.title) in {letters(title) for title in (label["title"], *label["titles_also"])},
        "abstract": has_abstract(paper, label),
        "sections_within_one": abs(sections - label["sections"]) <= 1,
        "references": len(paper.references) == label["references"],
    }


def has_abstract(paper: Paper, label: dict[str, Any]) -> bool:
    """Whether the abstract begins and ends as labelled, in one of its languages; none where none is printed."""
    read = letters(paper.abstract)
    if label["abstract"] is None and not read:
        return True
    accepted = [one for one in (label["abstract"], *label["abstracts_also"]) if one]
    begins = any(read.startswith(letters(one["first"])) for one in accepted)
    return begins and any(read.endswith(letters(one["last"])) for one in accepted)


def letters(text: str) -> str:
    """A text for comparison: letters and digits alone, without accents and case; hyphens at line ends vanish."""
    return "".join(c for c in unicodedata.normalize("NFKD", text).casefold() if c.isalnum())


def digest(file: Path) -> str:
    """The sha-256 of a file; of a folder that of its lines ``<sha-256 of the file>  <path>``, sorted by path."""
    if file.is_file():
        return hashlib.sha256(file.read_bytes()).hexdigest()
    inside = sorted((one.relative_to(file).as_posix(), one) for one in file.rglob("*") if one.is_file())
    lines = "".join(f"{hashlib.sha256(one.read_bytes()).hexdigest()}  {name}\n" for name, one in inside)
    return hashlib.sha256(lines.encode()).hexdigest()


def as_line(row: dict[str, Any]) -> str:
    """A row of the printed table; ``no`` where label and paper differ, ``-`` where nothing was read or labelled."""
    found, labelled = row.get("found", {}), row["labelled"]

    def said(key: str) -> str:
        return "-" if not row["read"] else "yes" if row[key] else "no"

    def counts(key: str) -> str:
        return f"{found.get(key, '-')} / {'-' if labelled[key] is None else labelled[key]}"

    cells = (row["name"], row["kind"], said("title"), said("abstract"), counts("sections"), counts("references"))
    return f"| {' | '.join(cells)} | {row['remark']} |"


def summed(rows: Iterable[dict[str, Any]]) -> dict[str, str]:
    """How many of some papers agree with their labels; the last sum leaves out unnumbered lists of PDF and Markdown."""
    rows = list(rows)
    countable = [row for row in rows if row["labelled"]["references"] is not None]
    in_sum = [row for row in rows if row["references_in_sum"]]
    return {
        "read": f"{sum(row['read'] for row in rows)} of {len(rows)}",
        "titles": f"{sum(row['title'] for row in rows)} of {len(rows)}",
        "abstracts": f"{sum(row['abstract'] for row in rows)} of {len(rows)}",
        "sections within one": f"{sum(row['sections_within_one'] for row in rows)} of {len(rows)}",
        "reference counts": f"{sum(row['references'] for row in countable)} of {len(countable)}",
        "of numbered lists and LaTeX, Word, HTML": f"{sum(row['references'] for row in in_sum)} of {len(in_sum)}",
    }


if __name__ == "__main__":
    sys.exit(main())
