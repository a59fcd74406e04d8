"""A venue-year's forums on disk: a line is a submission as the API gave it, with all its replies in ``details``.

A forum is there whole or not at all: lines are appended and flushed, and one that was cut is taken away, with what
follows it, when the file is opened again. The readers of review sets take the file as it is.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from referee.collecting.kinds import kind_of
from referee.data.layouts.openreview import content_of
from referee.runs.lines import JsonLines, Line
from referee.schemas.foreign import Unreadable, json_value


@dataclass(frozen=True, slots=True)
class Forum:
    """What is kept in memory of a forum: ``pdf`` is where the API says its file lies, empty where it names none."""

    id: str
    number: int | None
    pdf: str


class Snapshot:
    """The file, open for more; nothing else may write it meanwhile.

    Attributes:
        path: The file.
        forums: The forums in it, in their order.
        replies: Notes in them by kind.
        damaged: The first line, from 1, that could not be read and was taken away with all that followed; 0 if none.
    """

    def __init__(self, path: Path) -> None:
        """Read the file, if there is one, and take away what is cut or damaged at its end.

        Raises:
            OSError: It cannot be read or written.
        """
        self.path = path
        self.forums: dict[str, Forum] = {}
        self.replies: Counter[str] = Counter()
        self.damaged = 0
        with JsonLines(path) as lines:
            for line in lines.unread():
                note = _forum(line)
                if note is None:
                    self.damaged = len(self.forums) + 1
                    lines.cut(line.place)
                    break
                self._take(note)
            lines.append()  # a last line that only lacks its end gets it

    def add(self, forums: Iterable[Mapping[str, object]]) -> None:
        """Append forums that are not there yet, on disk when this returns.

        Raises:
            OSError: The disk is full or the file cannot be written.
        """
        new = list(forums)
        with JsonLines(self.path) as lines:
            lines.append(*(json.dumps(note).encode() for note in new))
        for note in new:
            self._take(note)

    def _take(self, note: Mapping[str, object]) -> None:
        forum_id, number, pdf = str(note["id"]), note.get("number"), content_of(note).get("pdf")
        named = number if isinstance(number, int) else None
        self.forums[forum_id] = Forum(forum_id, named, pdf if isinstance(pdf, str) else "")
        self.replies.update(kind_of(reply) for reply in replies_of(note))


def replies_of(forum: Mapping[str, object]) -> list[dict[str, object]]:
    """The notes that hang on a submission."""
    details = forum.get("details")
    replies = details.get("replies") if isinstance(details, dict) else None
    return [note for note in replies if isinstance(note, dict)] if isinstance(replies, list) else []


def _forum(line: Line) -> dict[str, object] | None:
    """A sound line's forum, else None."""
    if line.fault:
        return None
    try:
        note = json_value(line.text, "the line")
    except Unreadable:
        return None
    return note if isinstance(note, dict) and isinstance(note.get("id"), str) else None
