"""Notes from OpenReview: API v2, API v1, and files that hold only the content of a v1 note."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from referee.data import keys
from referee.data.drafts import Draft
from referee.data.entries import EXCERPT_CHARS, Entry, finite
from referee.data.found import Found, NoReview, each, entries
from referee.data.keys import signed
from referee.data.prose import is_prose
from referee.data.ratings import RATINGS
from referee.errors import DataError

_REVIEW = re.compile(r"(?:^|/)(?:official[_/])?review$", re.IGNORECASE)
_DECISION = re.compile(r"(?:^|/)decision$", re.IGNORECASE)
_SUBMISSION = re.compile(r"submission$", re.IGNORECASE)
_PLATFORM = re.compile(r"/(?:submission|paper)-?\d*(?:/|$)|/-/", re.IGNORECASE)
_NESTED = ("replies", "directReplies", "notes")


def is_wrapped(content: object) -> bool:
    """Whether the content's values stand in ``{"value": ...}``, as API v2 has them."""
    values = list(content.values()) if isinstance(content, dict) else []
    return bool(values) and all(isinstance(value, dict) and "value" in value for value in values)


def content_of(note: Mapping[str, object]) -> dict[str, object]:
    """The note's boxes with plain values, whatever API they came from."""
    content = note.get("content")
    if not isinstance(content, dict):
        return {}
    return {name: unwrapped(value) for name, value in content.items()}


def unwrapped(value: object) -> object:
    """The value without the ``{"value": ...}`` of API v2."""
    return value["value"] if isinstance(value, dict) and "value" in value else value


def invitations(note: Mapping[str, object]) -> list[str]:
    """What the note answers to: the list of API v2 without its edits, or the one string of v1."""
    several, one = note.get("invitations"), note.get("invitation")
    names = several if isinstance(several, list) else [one]
    return [name for name in names if isinstance(name, str) and not name.endswith("/-/Edit")]


def is_review(note: Mapping[str, object]) -> bool:
    """Whether it is a reviewer's review: not a meta-review, comment, decision or withdrawal, and not deleted."""
    return note.get("ddate") is None and any(_REVIEW.search(name) for name in invitations(note))


def kind_of_note(note: Mapping[str, object]) -> str:
    """What a note is that is no review or not the newest: deleted, an older version, or the last word it answers to."""
    if note.get("ddate") is not None:
        return "deleted note"
    if is_review(note):
        return "older version"
    return next((name.rpartition("/")[2] for name in invitations(note)), "")


def is_submission(note: Mapping[str, object]) -> bool:
    """Whether it is the paper itself: by its invitation, or, where a scraper kept none, by its abstract."""
    names = invitations(note)
    return any(_SUBMISSION.search(name) for name in names) or (not names and "abstract" in content_of(note))


def platform_id(note: Mapping[str, object]) -> str:
    """The venue's id on the platform, ``ICLR.cc/2026/Conference``; empty where the note does not tell."""
    domain = note.get("domain")
    if isinstance(domain, str) and domain:
        return domain
    return next((_PLATFORM.split(name)[0] for name in invitations(note)), "")


def notes_in(entry: Entry) -> Iterator[dict[str, object]]:
    """The note of an entry and the replies that hang on it."""
    value = entry.value
    if entry.error or not isinstance(value, dict):
        return
    yield value
    details = value.get("details")
    for holder in (value, details if isinstance(details, dict) else {}):
        for name in _NESTED:
            nested = holder.get(name)
            yield from (note for note in (nested if isinstance(nested, list) else []) if isinstance(note, dict))


class NoteIndex:
    """What only all notes together tell: the newest version of each, and a paper's title and decision.

    One pass over the files, of which an eight-byte digest of each note's id and its time stay in memory.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        self.titles: dict[str, str] = {}
        self.decisions: dict[str, str] = {}
        self._newest: dict[int, tuple[float, float]] = {}
        for file in files:
            around: Mapping[str, object] = {}
            with contextlib.suppress(DataError):  # the same error comes again, as a reason, when the file is read
                for entry in entries(file):
                    around = entry.around
                    for note in notes_in(entry):
                        self._add(note)
            self._add(around)

    def is_newest(self, note: Mapping[str, object]) -> bool:
        """Whether no later version of the note was seen."""
        return self._newest.get(_digest(note)) == age(note)

    def _add(self, note: Mapping[str, object]) -> None:
        key = _digest(note)
        if "id" in note:
            self._newest[key] = max(age(note), self._newest.get(key, (float("-inf"), 0.0)))
        content, forum = content_of(note), keys.text_of(note.get("forum") or note.get("id"))
        names = invitations(note)
        if is_submission(note):
            self._title(forum, content)
        elif any(_DECISION.search(name) for name in names):
            self.decisions[forum] = keys.text_of(keys.take(content, ("decision", "recommendation")))

    def _title(self, forum: str, content: Mapping[str, object]) -> None:
        self.titles[forum] = keys.text_of(content.get("title"))
        if "decision" in content:
            self.decisions.setdefault(forum, keys.text_of(content["decision"]))


def age(note: Mapping[str, object]) -> tuple[float, float]:
    """When a note was last changed, and its version: the greater, the newer."""
    return _number(keys.take(note, ("mdate", "tmdate", "tcdate", "cdate"))), _number(note.get("version"))


def _number(value: object) -> float:
    number = finite(value)
    return float(number) if isinstance(number, int | float) and not isinstance(number, bool) else 0.0


def _digest(note: Mapping[str, object]) -> int:
    return int.from_bytes(hashlib.blake2b(keys.text_of(note.get("id")).encode(), digest_size=8).digest())


CONTENT_NAME = re.compile(r"^(?P<year>\d{4})__(?P<forum>.+?)__(?P<note>.+)$")


class NotesReader:
    """Reads the reviews among the notes of a set of files; of several versions of a note, the newest.

    The files are gone through once before the first review, because only then the newest versions are known.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        self._files = files
        self._index: NoteIndex | None = None

    def __call__(self, path: Path) -> Iterator[Found]:
        """The reviews of one of the files; other notes and older versions are counted as no reviews."""
        if self._index is None:
            self._index = NoteIndex(self._files)
        index = self._index

        def read(entry: Entry, row: dict[str, object]) -> Iterator[Found]:
            if "content" not in row and not any(name in row for name in ("replies", "details", "notes")):
                raise DataError("the record is no note: it has no content.")
            for note in notes_in(entry):
                if is_review(note) and index.is_newest(note):
                    forum = keys.text_of(note.get("forum"))
                    draft = note_draft(note, title=index.titles.get(forum, ""), decision=index.decisions.get(forum))
                    yield Found(entry.number, draft, entry.raw)
                elif not is_submission(note) and (what := kind_of_note(note)):
                    yield Found(entry.number, NoReview(what))

        return each(path, read)


def note_draft(
    note: Mapping[str, object], *, title: str, decision: str | None, conference: str = "", year: int | None = None
) -> Draft:
    """The review that a note is.

    Args:
        note: A review's note.
        title: The paper's.
        decision: On the paper, in the data's words.
        conference: Where the note names no venue.
        year: Like ``conference``.
    """
    content = content_of(note)
    platform = platform_id(note)
    return Draft(
        paper_id=keys.text_of(note.get("forum")),
        author=signed(note.get("signatures"), content.get("title")),
        fields=content,
        review_id=keys.text_of(note.get("id")),
        identity=note,
        paper_title=title,
        conference="" if platform else conference,
        year=None if platform else year,
        platform=platform,
        decision=decision,
        date=keys.take(note, ("tcdate", "cdate")),
        extra={"signatures": note.get("signatures"), "license": note.get("license"), "replyto": note.get("replyto")},
    )


def is_bare_content(row: Mapping[str, object]) -> bool:
    """Whether a record looks like the content of a review note without the note: boxes and a rating, no id."""
    content = content_of({"content": row})
    return any(map(is_prose, content)) and any(name in content for name in RATINGS)


def read_bare_content(path: Path) -> Iterator[Found]:
    """A file YEAR__FORUM__NOTE.json with a note's content; its name is all that tells the paper."""
    named = CONTENT_NAME.match(path.stem)

    def read(entry: Entry, row: dict[str, object]) -> Iterator[Found]:
        if named is None:
            hint = "A note's content alone names no paper: name the file YEAR__FORUM__NOTE.json."
            raise DataError(f"{path.name!r} is not named YEAR__FORUM__NOTE.json.", hint=hint)
        note = {"id": named["note"], "forum": named["forum"], "content": row}
        draft = note_draft(note, title="", decision=None, year=int(named["year"]))
        yield Found(entry.number, draft, entry.raw[:EXCERPT_CHARS])

    return each(path, read)
