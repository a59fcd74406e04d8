"""How well bibliographies are parsed: title, year and first author of every entry of the shared PDFs, against labels.

    python benchmarks/reference_parsing.py [--data ../shared/data]

``references/labels.tsv`` was written by a language model from the entries as they are printed. An entry counts as found
where a parsed one has its title; precision is over what the parser gave, recall over the labels.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from referee.literature.titles import normalised_title
from referee.papers import load_paper
from referee.schemas.paper import Reference

LABELS = Path(__file__).with_name("references") / "labels.tsv"
FIELDS = ("title", "year", "first author")


def labels() -> dict[str, list[dict[str, str]]]:
    """Labelled entries by paper, in the order of the bibliography."""
    found: dict[str, list[dict[str, str]]] = defaultdict(list)
    with LABELS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            found[row["paper"]].append(row)
    return found


def values(reference: Reference) -> tuple[str, str, str]:
    """What the parser gave, ready to compare; empty where it gave nothing."""
    author = normalised_title(reference.authors[0]) if reference.authors else ""
    return normalised_title(reference.title or ""), str(reference.year or ""), author


def right(label: dict[str, str], given: tuple[str, str, str]) -> tuple[bool, bool, bool]:
    """Whether each field is right; a first author's name holds the labelled surname."""
    title, year, author = given
    surname = normalised_title(label["surname"])
    return title == normalised_title(label["title"]), year == label["year"], f" {surname} " in f" {author} "


def rows(data: Path) -> Iterator[tuple[str, int, int, list[int], list[int], list[str]]]:
    """Paper, labels, entries, right by field, given by field, and what is wrong."""
    for paper, wanted in labels().items():
        entries = load_paper(data / "pdfs" / f"{paper}.pdf").references
        hits, given, wrong = [0, 0, 0], [0, 0, 0], []
        for number, reference in enumerate(entries):
            found = values(reference)
            given = [count + bool(value) for count, value in zip(given, found, strict=True)]
            if number >= len(wanted):
                continue
            for at, ok in enumerate(right(wanted[number], found)):
                hits[at] += ok
                if not ok:
                    wrong.append(f"{paper}, entry {number + 1}: {FIELDS[at]} {found[at]!r}")
        yield paper, len(wanted), len(entries), hits, given, wrong


def main() -> None:
    """Print a table and everything that is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    faults: list[str] = []
    print("| paper | labels | entries |", " | ".join(f"{field} P / R" for field in FIELDS), "|")
    print("| --- | ---: | ---: |", " | ".join("---:" for _ in FIELDS), "|")
    for paper, wanted, entries, hits, given, wrong in rows(parser.parse_args().data):
        cells = (f"{h / max(g, 1):.3f} / {h / wanted:.3f}" for h, g in zip(hits, given, strict=True))
        print(f"| {paper} | {wanted} | {entries} |", " | ".join(cells), "|")
        faults += wrong
    print(*faults, sep="\n")


if __name__ == "__main__":
    main()
