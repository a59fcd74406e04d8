"""A venue-year's forums on disk: a line is a submission as the API gave it, with all its replies in ``details``.

A forum is there whole or not at all: lines are appended and flushed, and one that was cut is taken away, with what
follows it, when the file is opened again. The readers of review sets take the file as it is.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from referee.collecting.kinds import kind_of
from referee.data.layouts.openreview import content_of
from referee.runs.files import naming


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
        with naming(path), path.open("ab+") as stream:
            stream.seek(0)
            good = 0
            for line in stream:
                note = _forum(line)
                if note is None:
                    self.damaged = len(self.forums) + 1
                    stream.truncate(good)
                    os.fsync(stream.fileno())
                    break
                self._take(note)
                good += len(line)

    def add(self, forums: Iterable[Mapping[str, object]]) -> None:
        """Append forums that are not there yet, on disk when this returns.

        Raises:
            OSError: The disk is full or the file cannot be written; what was there is as it was.
        """
        new = list(forums)
        lines = b"".join(json.dumps(note).encode() + b"\n" for note in new)
        with naming(self.path), self.path.open("ab") as stream:
            size = stream.seek(0, os.SEEK_END)
            try:
                stream.write(lines)
                stream.flush()
                os.fsync(stream.fileno())
            except OSError:
                os.truncate(self.path, size)
                raise
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


def _forum(line: bytes) -> dict[str, object] | None:
    """A whole line's forum, else None: a line without its end may be cut within a number or before another key."""
    if not line.endswith(b"\n"):
        return None
    try:
        note = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return note if isinstance(note, dict) and isinstance(note.get("id"), str) else None
