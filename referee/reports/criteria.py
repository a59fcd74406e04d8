"""Which of the venue's criteria were read for, by whom, and which were not, in plain lines."""

from __future__ import annotations

from referee.reports.plain import one_line
from referee.schemas.review import CriterionReader, Review

HEADING = "Criteria of the venue and their readers"


def criteria_lines(review: Review) -> list[str]:
    """A line for each set of readers with the criteria they were shown, then one for each reason why nobody was."""
    read: dict[str, list[str]] = {}
    unread: dict[str, list[str]] = {}
    for record in review.criteria:
        readers = ", ".join(map(reader_named, record.readers))
        group, key = (read, readers) if record.readers else (unread, one_line(record.note))
        group.setdefault(key, []).append(one_line(record.id))
    return [
        *(f"Given to {readers}: {', '.join(names)}." for readers, names in read.items()),
        *(f"Given to no reader: {', '.join(names)} ({note})." for note, names in unread.items()),
    ]


def reader_named(reader: CriterionReader) -> str:
    """A reader, with what of the criterion was left out."""
    return one_line(f"{reader.name} ({reader.note})" if reader.note else reader.name)
