"""Notes from OpenReview: API v2, API v1, and files that hold only the content of a v1 note."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from referee.data import keys
from referee.data.drafts import Draft
from referee.data.entries import EXCERPT_CHARS, Entry
from referee.data.found import Found, each
from referee.data.notes import NoteIndex, content_of, is_review, notes_in, platform_id
from referee.data.prose import is_prose
from referee.data.ratings import RATINGS
from referee.data.sources import official, signed
from referee.errors import DataError

CONTENT_NAME = re.compile(r"^(?P<year>\d{4})__(?P<forum>.+?)__(?P<note>.+)$")


class NotesReader:
    """Reads the reviews among the notes of a set of files; of several versions of a note, the newest.

    The files are gone through once before the first review, because only then the newest versions are known.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        self._files = files
        self._index: NoteIndex | None = None

    def __call__(self, path: Path) -> Iterator[Found]:
        """The reviews of one of the files; other notes and older versions are passed over."""
        if self._index is None:
            self._index = NoteIndex(self._files)
        index = self._index

        def read(entry: Entry, row: dict[str, object]) -> Iterator[Found]:
            if "content" not in row and not any(name in row for name in ("replies", "details", "notes")):
                raise DataError("the record is no note: it has no content.")
            for note in notes_in(entry):
                if is_review(note) and index.is_newest(note):
                    yield Found(entry.number, _draft(note, index), entry.raw)

        return each(path, read)


def _draft(note: Mapping[str, object], index: NoteIndex) -> Draft:
    content = content_of(note)
    forum = keys.text_of(note.get("forum"))
    return Draft(
        paper_id=forum,
        author=signed(note.get("signatures"), content.get("title")),
        fields=content,
        review_id=keys.text_of(note.get("id")),
        identity=note,
        paper_title=index.titles.get(forum, ""),
        platform=platform_id(note),
        decision=index.decisions.get(forum),
        date=keys.iso_date(keys.take(note, ("tcdate", "cdate"))),
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
        draft = Draft(
            paper_id=named["forum"],
            author=official(),
            fields=content_of({"content": row}),
            review_id=named["note"],
            year=int(named["year"]),
        )
        yield Found(entry.number, draft, entry.raw[:EXCERPT_CHARS])

    return each(path, read)
