"""What services answered, kept on the disk."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from referee.literature.checking import Record, record_of
from referee.literature.titles import normalised_title
from referee.runs.files import write_atomically
from referee.schemas.foreign import Unreadable, json_value

NEGATIVE_DAYS = 30
_DAY_S = 86_400


class AnswerCache:
    """A folder with one small JSON file for each title and year, or search and last day.

    Args:
        folder: Made with the first answer that is stored.
        now: Seconds since 1970.
    """

    def __init__(self, folder: Path, now: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._now = now

    def get(self, title: str, year: int | None, source: str) -> list[Record] | None:
        """What the source answered; null where it was not asked, or its useless answer is older than 30 days.

        A file that cannot be read counts as none: the source is asked again.
        """
        entry = self._read(self._path(title, year)).get(source)
        if not isinstance(entry, dict) or not isinstance(entry.get("records"), list):
            return None
        at = entry.get("at")
        if not entry.get("found") and not (isinstance(at, int | float) and self._now() - at < NEGATIVE_DAYS * _DAY_S):
            return None
        return [record for row in entry["records"] if isinstance(row, dict) and (record := record_of(row))]

    def put(self, title: str, year: int | None, source: str, records: Sequence[Record], *, found: bool) -> None:
        """Store an answer; ``found`` says that one of the records was accepted, and keeps it for good."""
        path = self._path(title, year)
        rows = [record._asdict() for record in records]
        content = {**self._read(path), source: {"at": self._now(), "found": found, "records": rows}}
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(content, ensure_ascii=False))

    def _path(self, title: str, year: int | None) -> Path:
        digest = hashlib.sha256(f"{normalised_title(title)}\n{year}".encode()).hexdigest()
        return self._folder / digest[:2] / f"{digest[2:34]}.json"

    def _read(self, path: Path) -> dict[str, object]:
        try:
            content = json_value(path.read_bytes(), repr(str(path)))
        except (OSError, Unreadable):
            return {}
        return content if isinstance(content, dict) else {}
