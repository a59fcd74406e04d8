"""Checked references in lines for a terminal, and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from referee.literature.checking import Record
from referee.literature.references import VERDICTS, CheckedReference
from referee.reports.outside import NO_PROOF
from referee.reports.plain import one_line, shortened
from referee.reports.tables import json_text

_TITLE_CHARS = 90


def reference_lines(checked: Sequence[CheckedReference], asked: str, notes: Sequence[str] = ()) -> Iterator[str]:
    """Entries that are no simple ``verified``, each with what differs, then the counts."""
    for number, one in enumerate(checked, start=1):
        if one.verdict != "verified" or one.reason or one.is_retracted:
            yield from _entry(number, one)
    counts = Counter(one.verdict for one in checked)
    retracted = sum(one.is_retracted for one in checked)
    told = ", ".join(f"{counts[name]} {name}" for name in VERDICTS if counts[name]) or "none was found in the paper"
    marked = f" Marked as retracted: {retracted}." if retracted else ""
    yield f"{len(checked)} references: {told}.{marked} Asked: {asked}."
    yield from (f"Note: {one_line(note)}." for note in notes)
    if counts["not found"]:
        yield NO_PROOF


def references_json(paper: str, checked: Sequence[CheckedReference], asked: str, notes: Sequence[str]) -> str:
    """Everything, entry by entry."""
    entries = [_row(number, one) for number, one in enumerate(checked, start=1)]
    return json_text(
        {"schema_version": 1, "paper": paper, "asked": asked, "notes": list(notes), "no_proof": NO_PROOF,
         "references": entries}
    )  # fmt: skip


def _entry(number: int, one: CheckedReference) -> Iterator[str]:
    differs = f" ({', '.join(one.differs)})" if one.differs else ""
    title = one.cited.title or one.cited.reference.text
    yield f"[{number}] {one.verdict.upper()}{differs}: {shortened(title, _TITLE_CHARS)}{_year(one.cited.year)}"
    if one.record is not None and one.verdict in ("mismatch", "verified"):
        yield f"  listed: {_listed(one.record)}"
    if one.is_retracted and one.record is not None:
        yield f"  RETRACTED, as {one_line(one.record.source) or 'the index'} says"
    if one.reason:
        yield f"  {one_line(one.reason)}"


def _listed(record: Record) -> str:
    authors = (
        f"{one_line(record.authors[0])}{' and others' if len(record.authors) > 1 else ''}. " if record.authors else ""
    )
    ids = record.doi or (f"arXiv:{record.arxiv}" if record.arxiv else "")
    where = ", ".join(filter(None, (one_line(record.source), one_line(ids))))
    return f"{authors}{shortened(record.title, _TITLE_CHARS)}{_year(record.year)}{f' [{where}]' if where else ''}"


def _year(year: int | None) -> str:
    return f", {year}" if year is not None else ""


def _row(number: int, one: CheckedReference) -> dict[str, Any]:
    cited, reference = one.cited, one.cited.reference
    return {
        "number": number,
        "text": reference.text,
        "title": cited.title,
        "authors": list(reference.authors),
        "year": cited.year,
        "doi": cited.doi,
        "arxiv": cited.arxiv,
        "verdict": one.verdict,
        "differs": list(one.differs),
        "retracted": one.is_retracted,
        "listed": one.record._asdict() if one.record else None,
        "reason": one.reason,
    }
