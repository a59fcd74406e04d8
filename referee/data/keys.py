"""The names under which records hold the same thing, how values are taken from them, and who wrote a review."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from referee.data.entries import finite
from referee.data.prose import plain_name
from referee.errors import DataError

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


def same_columns(row: Mapping[str, object]) -> list[str]:
    """The columns with a value that ``plain_keys`` leaves out."""
    first: dict[str, str] = {}
    return [name for name, value in row.items() if first.setdefault(plain_name(name), name) != name and value]


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


Kind = Literal["human", "ai", "unknown"]
UNKNOWN = "unknown"
OFFICIAL = "an official review of the venue, whose record names no other author, counts as human"
AI_SIGNATURE = "the reviewer's signature names an AI reviewer (AIRev)"
WRITTEN_BY_REFEREE = "written by `referee review`"

_KINDS: dict[str, Kind] = {
    "human": "human",
    "person": "human",
    "ai": "ai",
    "llm": "ai",
    "machine": "ai",
    "generated": "ai",
    "unknown": "unknown",
}
_AI_SIGNATURE = re.compile(r"(?:^|[/_])(?P<name>AIRev\s*\d*)$")


@dataclass(frozen=True, slots=True)
class Author:
    """``source`` and ``kind`` of a case; ``rule`` is what decided where the data name nobody."""

    source: str
    kind: Kind
    rule: str = ""


def author(source: object, kind: object = None, *, model: object = None) -> Author:
    """The author by the data's own columns.

    ``human`` (or ``human:NAME``) is a human, ``ai:NAME`` the system NAME; any other source is ``unknown`` unless
    ``kind`` says more. Where only ``kind`` is there, ``model`` names the system.

    Raises:
        DataError: Source and kind contradict each other, or the kind is none.
    """
    named = source.strip() if isinstance(source, str) else ""
    stated = _stated(kind)
    found = _by_name(named)
    if stated is None or stated == "unknown":
        return found
    if found.kind not in ("unknown", stated):
        raise DataError(f"source {named!r} and kind {stated!r} contradict each other.", hint="Correct one of the two.")
    if found.source != UNKNOWN:
        return Author(found.source, stated)
    system = model.strip() if isinstance(model, str) else ""
    return Author("human" if stated == "human" else system or "ai", stated)


def named_source(row: Mapping[str, object]) -> str:
    """Who wrote a row that cannot be used, as far as it says so by the usual columns; empty where it does not."""
    named = plain_keys(row)
    stated = take(named, KIND)
    if source := text_of(take(named, SOURCE)).strip():
        return _by_name(source).source
    if isinstance(stated, str) and _KINDS.get(stated.strip().casefold()) == "human":
        return "human"
    return text_of(take(named, MODEL)).strip()


def signed(signatures: object, title: object = "") -> Author:
    """The author of an official review on OpenReview, by its signature."""
    names = [name for name in signatures if isinstance(name, str)] if isinstance(signatures, list) else []
    for name in (*names, title if isinstance(title, str) else ""):
        if match := _AI_SIGNATURE.search(name.strip()):
            return Author("".join(match["name"].split()), "ai", AI_SIGNATURE)
    return official()


def official() -> Author:
    """The author of a review that a venue's own record holds without a word on who wrote it."""
    return Author("human", "human", OFFICIAL)


def _by_name(named: str) -> Author:
    head, colon, rest = named.partition(":")
    word = head.strip().casefold()
    if word == "human":
        return Author("human", "human")
    if word == "ai" and (rest.strip() or not colon):
        return Author(rest.strip() or "ai", "ai")
    return Author(named or UNKNOWN, "unknown")


def _stated(kind: object) -> Kind | None:
    if kind is None or (isinstance(kind, str) and not kind.strip()):
        return None
    found = _KINDS.get(kind.strip().casefold()) if isinstance(kind, str) else None
    if found is None:
        raise DataError(f"kind {kind!r} is none.", hint=f"Kinds are {', '.join(_KINDS)}.")
    return found
