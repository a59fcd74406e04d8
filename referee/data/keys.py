"""The names under which records hold the same thing, and how values are taken from them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from referee.data.entries import finite
from referee.data.prose import plain_name

PAPER = ("paper_id", "forum_id", "forum", "local_id", "submission_id", "paperid")
REVIEW = ("review_id", "note_id", "case_id")
CONFERENCE = ("venue", "conference", "conf")
YEAR = ("year",)
TITLE = ("paper_title", "title")
TEXT = ("text", "review_text", "full_review", "review_body")
DECISION = ("decision", "paper_decision", "human_decision")
DATE = ("date", "created", "tcdate", "cdate")
SOURCE = ("source",)
MODEL = ("llm", "model", "generator", "system")
_MOST_DIGITS = 20
KIND = ("author_type", "author", "kind", "review_type", "written_by")


def take(row: Mapping[str, object], names: tuple[str, ...]) -> object:
    """The value of the first of these keys that holds one; NaN and infinity are none."""
    return next((row[name] for name in names if finite(row.get(name)) not in (None, "")), None)


def text_of(value: object) -> str:
    """A text as it is, a whole number as digits, anything else as empty."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def plain_keys(row: Mapping[str, object]) -> dict[str, object]:
    """The row by plain names (small letters, underscores); the first of two equal ones stays."""
    named: dict[str, object] = {}
    for name, value in row.items():
        named.setdefault(plain_name(name), value)
    return named


def iso_date(value: object) -> str:
    """The day of a platform's milliseconds since 1970, or a date text as it stands; else empty."""
    if isinstance(value, str):
        if not value.isdecimal() or len(value) > _MOST_DIGITS:
            return value.strip()
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    try:
        return datetime.fromtimestamp(value / 1000, UTC).date().isoformat()
    except (OverflowError, OSError, ValueError):
        return ""
