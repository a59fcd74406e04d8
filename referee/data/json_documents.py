"""JSON files that are one list or one object: their records one by one, without the file in memory."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from referee.data.entries import EXCERPT_CHARS, Entry, opened, unwritable
from referee.runs.lines import MOST_LINE_BYTES, TOO_LONG
from referee.runs.stopping import end_if_stopped
from referee.schemas.foreign import Unreadable, json_value_at

# Keys of an object whose list holds the records.
LIST_KEYS = ("notes", "replies", "data", "rows", "items", "cases")
_CHUNK = 2**18
_SPACE = re.compile(r"[ \t\r\n]*")
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|"|[\[\]{}]', re.DOTALL)
_SCALAR_END = re.compile(r"[,\]}\n]")


def document_entries(path: Path) -> Iterator[Entry]:
    """The records of a file that is a list of them, an object with such a list, or a single record.

    A record that is no JSON is given as a bad entry and the next one follows, as long as its brackets are closed.
    """
    with io.TextIOWrapper(opened(path), encoding="utf-8-sig", errors="surrogateescape", newline="") as stream:
        source = _Source(stream)
        if source.peek() == "[":
            source.skip()
            yield from _items(source, {})
        elif source.peek() == "{":
            yield from _members(source)
        else:
            yield _bad(1, "not JSON: the file begins with neither '[' nor '{'", source.ahead())


class _Source:
    """The text of a file from a moving point on; ``given`` is how many characters its values so far had."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._text = ""
        self._at = 0
        self._ended = False
        self.given = 0

    def peek(self) -> str:
        """The next character that is no blank; empty at the end of the file."""
        while True:
            found = _SPACE.match(self._text, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._fill():
                return ""

    def skip(self) -> None:
        """Pass the character that ``peek`` gave."""
        self._at += 1

    def ahead(self) -> str:
        """What comes next, for a message."""
        return self._text[self._at : self._at + EXCERPT_CHARS]

    def value(self) -> tuple[Any, str, str]:
        """The next value, the error instead of one, and how it begins."""
        self.peek()
        while True:
            raw = self.ahead()
            try:
                value, end = json_value_at(self._text, self._at, "the value")
            except Unreadable as error:
                if self._whole_but_wrong() or not self._fill():
                    return None, self._passed(error), raw
                continue
            if end == len(self._text) and not isinstance(value, dict | list | str) and self._fill():
                continue
            problem = unwritable(value, self._text[self._at : end])
            self.given += end - self._at
            self._at = end
            return value, problem, raw

    def _whole_but_wrong(self) -> bool:
        return self._end_of_wrong() is not None

    def _passed(self, error: Unreadable) -> str:
        held = len(self._text) - self._at
        end = self._end_of_wrong() if held < MOST_LINE_BYTES else None
        self._at = len(self._text) if end is None else max(end, self._at + 1)
        if end is None:
            self._ended = True
            if held >= MOST_LINE_BYTES:
                return f"the record is {TOO_LONG}; nothing is read behind it"
            return "not JSON: it is not closed before the file ends"
        cause = error.__cause__
        return f"not JSON: {cause.msg}" if isinstance(cause, json.JSONDecodeError) else "nested too deeply"

    def _end_of_wrong(self) -> int | None:
        """Where a value that cannot be read ends by its brackets; None where that lies beyond what was read."""
        if self._text[self._at : self._at + 1] not in ("{", "["):
            found = _SCALAR_END.search(self._text, self._at)
            return found.start() if found else None
        depth = 0
        for token in _TOKEN.finditer(self._text, self._at):
            if token[0] == '"':
                return None
            if token[0] in "{[":
                depth += 1
            elif token[0] in "}]":
                depth -= 1
                if depth == 0:
                    return token.end()
        return None

    def _fill(self) -> bool:
        """Read on, as much again as is held; False at the end of the file, or where a record is too long."""
        kept = self._text[self._at :]
        if self._ended or len(kept) >= MOST_LINE_BYTES:
            return False
        end_if_stopped()
        more = self._stream.read(min(max(_CHUNK, len(kept)), MOST_LINE_BYTES - len(kept)))
        self._ended = not more
        self._text, self._at = kept + more, 0
        return bool(more)


def _items(source: _Source, around: dict[str, Any]) -> Iterator[Entry]:
    number = 0
    while (char := source.peek()) != "]":
        if not char:
            yield _bad(number + 1, "not JSON: the file ends inside the list", "")
            return
        if char == ",":
            source.skip()
            continue
        number += 1
        value, error, raw = source.value()
        yield Entry(number, value, error, raw, around)
    source.skip()


def _members(source: _Source) -> Iterator[Entry]:
    """The list inside an object, or the object itself as the only record."""
    raw = source.ahead()
    around: dict[str, Any] = {}
    listed, size = False, 0
    source.skip()
    while (char := source.peek()) != "}":
        if char == ",":
            source.skip()
            continue
        key, error, _ = source.value() if char == '"' else (None, "not JSON: a key was expected", "")
        if not error and source.peek() != ":":
            error = "not JSON: ':' was expected after a key"
        if error:
            yield _bad(1, error, raw)
            return
        source.skip()
        if key in LIST_KEYS and source.peek() == "[":
            listed = True
            source.skip()
            yield from _items(source, around)
            continue
        before = source.given
        around[str(key)], error, _ = source.value()
        size += source.given - before + len(str(key))
        if not error and size > MOST_LINE_BYTES:
            error = f"the record is {TOO_LONG}"
        if error:
            yield _bad(1, f"{error} (in {key!r})", raw)
            return
    if not listed:
        yield Entry(1, around, raw=raw)


def _bad(number: int, error: str, raw: str) -> Entry:
    return Entry(number, error=error, raw=raw[:EXCERPT_CHARS].encode("utf-8", "replace").decode())
