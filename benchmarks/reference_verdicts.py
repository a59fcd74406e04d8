"""Verdicts on sixty references: 20 right, 20 with one wrong field, 20 that are not listed, hard on purpose.

    python benchmarks/reference_verdicts.py

``references/verdicts.json`` was made by a language model that had not read this matcher, but knew the older rule for
citations of reviews; its values are from memory, some made up. All its works are offered at once, as an index of one's
own would; what the services' own searches would find is another question.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from referee.literature.checking import Record
from referee.literature.index import WorkIndex
from referee.literature.references import CheckedReference, check_reference
from referee.papers.bibliography import parse_entry
from referee.schemas.paper import Reference

SET = Path(__file__).with_name("references") / "verdicts.json"


def checked() -> list[tuple[dict[str, object], CheckedReference]]:
    """Each reference of the set with the verdict on it."""
    data = json.loads(SET.read_text(encoding="utf-8"))
    index = WorkIndex(record for work in data["works"] for record in records(work))
    return [(one, check_reference(reference_of(one["text"]), index)) for one in data["references"]]


def records(work: dict[str, object]) -> list[Record]:
    """A work as sources list it: with its subtitle and without."""
    title, subtitle = str(work["title"]), str(work.get("subtitle") or "")
    titles = [title, f"{title}: {subtitle}"] if subtitle else [title]
    authors = tuple(map(str, work["authors"]))  # type: ignore[call-overload]
    known = str(work.get("doi") or "").lower(), str(work.get("arxiv") or "").lower()
    return [Record(one, int(str(work["year"])), authors, known[0], "index", known[1]) for one in titles]


def reference_of(text: str) -> Reference:
    """The entry as our parser reads it."""
    entry = parse_entry(text)
    return Reference(id="r", text=text, authors=entry.authors, title=entry.title, year=entry.year, doi=entry.doi)


def main() -> None:
    """Print the table, and each verdict that is not the set's."""
    table: Counter[tuple[str, str]] = Counter()
    wrong = []
    for one, found in checked():
        table[str(one["kind"]), found.verdict] += 1
        if found.verdict != one["verdict"]:
            reason = found.reason or ", ".join(found.differs)
            wrong.append(f"{one['id']} ({one['about']}): {found.verdict} ({reason}), not {one['verdict']}")
    for kind in dict.fromkeys(kind for kind, _ in table):
        print(kind, {verdict: count for (of, verdict), count in table.items() if of == kind})
    print(*wrong, sep="\n")


if __name__ == "__main__":
    main()
