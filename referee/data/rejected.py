"""Where rows that cannot be used go: a file that says of each what it was and why."""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType
from typing import TextIO

from referee.data.entries import EXCERPT_CHARS


class RejectedSink:
    """Writes ``rejected.jsonl``: file, line, reason and the first 200 characters of each row that was left out.

    The file is made with the first such row, and replaces one that is there. Use it as a context manager, or close it.

    Attributes:
        count: Rows written so far.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.count = 0
        self._stream: TextIO | None = None

    def add(self, file: str, line: int | None, reason: str, raw: str = "") -> None:
        """Write one row.

        Args:
            file: The file it stands in.
            line: Its line or place in the list, from 1; None where the whole file is meant.
            reason: Why it was left out.
            raw: The row, of which the beginning is kept.
        """
        if self._stream is None:
            self._stream = self.path.open("w", encoding="utf-8")
        row = {"file": file, "line": line, "reason": reason, "row": raw[:EXCERPT_CHARS]}
        self._stream.write(json.dumps(row, ensure_ascii=False) + "\n")
        self._stream.flush()
        self.count += 1

    def close(self) -> None:
        """Close the file; a later ``add`` would begin a new one."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def __enter__(self) -> RejectedSink:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
