"""Server-sent events, as all formats write them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

PIECE_CHARACTERS = 20


def event(data: Any, name: str = "") -> bytes:
    """One event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data, ensure_ascii=False)}\n\n".encode("utf-8", "replace")


def pieces(text: str) -> Iterator[str]:
    """A text as it comes in a stream, some 20 characters at a time."""
    for start in range(0, len(text), PIECE_CHARACTERS):
        yield text[start : start + PIECE_CHARACTERS]
