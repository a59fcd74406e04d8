"""What every container of records gives: one entry a record, good or bad, one at a time."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

EXCERPT_CHARS = 200
PACKED = ".gz"
_BOM = b"\xef\xbb\xbf"
_MOST_DIGITS = 300
# A whole number beyond what a float can be stays the text it is, so that its row can be read and the value named.
decoder = json.JSONDecoder(parse_int=lambda digits: int(digits) if len(digits) <= _MOST_DIGITS else digits)


@dataclass(frozen=True, slots=True)
class Entry:
    """One record of a file, or why there is none.

    Attributes:
        number: Its line or place in the list, from 1.
        value: The record, where ``error`` is empty.
        error: Why it cannot be used.
        raw: How it begins in the file, at most 200 characters.
        around: What stands beside the list in the same document.
    """

    number: int
    value: Any = None
    error: str = ""
    raw: str = ""
    around: Mapping[str, Any] = field(default_factory=dict)


def opened(path: Path) -> IO[bytes]:
    """The file's bytes, unpacked where its name ends in ``.gz``."""
    return cast(IO[bytes], gzip.open(path, "rb")) if path.suffix.lower() == PACKED else path.open("rb")


def json_lines(path: Path) -> Iterator[Entry]:
    """The records of a file with one JSON value a line; blank lines are none."""
    with opened(path) as stream:
        for number, line in enumerate(stream, start=1):
            raw = line.removeprefix(_BOM) if number == 1 else line
            if not raw.isspace():
                yield line_entry(number, raw)


def line_entry(number: int, line: bytes) -> Entry:
    """One line as a record."""
    try:
        text = line.decode("utf-8").strip()
    except UnicodeDecodeError as error:
        shown = line[: EXCERPT_CHARS * 4].decode("utf-8", "replace")[:EXCERPT_CHARS]
        return Entry(number, error=f"not UTF-8: byte {line[error.start]:#04x} at offset {error.start}", raw=shown)
    raw = text[:EXCERPT_CHARS]
    try:
        value, end = decoder.raw_decode(text)
    except json.JSONDecodeError as error:
        return Entry(number, error=f"not JSON: {error.msg} at column {error.colno}", raw=raw)
    except RecursionError:
        return Entry(number, error="not usable JSON: nested too deeply", raw=raw)
    if text[end:].strip():
        return Entry(number, error=f"not JSON: more than one value in the line, from column {end + 1}", raw=raw)
    problem = unwritable(value, text)
    return Entry(number, error=problem, raw=raw) if problem else Entry(number, value, raw=raw)


def unwritable(value: object, source: str) -> str:
    """Why a value cannot be stored as UTF-8 again, or empty: half a surrogate pair, or bytes that were no UTF-8."""
    if source.isascii() and "\\ud" not in source and "\\uD" not in source:
        return ""
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        code = ord(error.object[error.start])
        if 0xDC80 <= code <= 0xDCFF:
            return f"not UTF-8: byte {code - 0xDC00:#04x}"
        return f"not Unicode: half a surrogate pair ({code:#06x})"
    return ""


def finite(value: object) -> object:
    """The value, with None in place of NaN and infinity, inside lists and objects too."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: finite(inner) for name, inner in value.items()}
    return [finite(inner) for inner in value] if isinstance(value, list) else value
