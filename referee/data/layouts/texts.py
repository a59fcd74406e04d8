"""A review as a Markdown or text file, whose name or folder says which paper and which source it belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from referee.data.drafts import Draft
from referee.data.entries import EXCERPT_CHARS
from referee.data.found import Found
from referee.data.sources import UNKNOWN, author
from referee.errors import DataError

_MARK = re.compile(r"^(?P<kind>ai|human)-(?P<name>.+)$", re.IGNORECASE)


def read_text(path: Path, root: Path) -> Iterator[Found]:
    """One file as one review: PAPER__SOURCE__N.md, or in a folder of its paper's name SOURCE__N.md or SOURCE.md.

    Args:
        path: The file.
        root: The folder of the set, or the file itself.
    """
    try:
        data = path.read_bytes()
        text = data.decode("utf-8-sig")
    except OSError as error:
        yield Found(None, DataError(f"it cannot be read: {error.strerror}."))
        return
    except UnicodeDecodeError as error:
        reason = DataError(f"not UTF-8: byte {data[error.start]:#04x} at offset {error.start}")
        yield Found(None, reason, data[:EXCERPT_CHARS].decode("utf-8", "replace"))
        return
    paper_id, source, number = named(path, root)
    yield Found(
        None,
        Draft(
            paper_id=paper_id,
            author=author(_MARK.sub(lambda mark: f"{mark['kind'].lower()}:{mark['name']}", source)),
            text=text,
            review_id="__".join(part for part in (paper_id, source, number) if part),
            identity=text,
        ),
        text[:EXCERPT_CHARS],
    )


def named(path: Path, root: Path) -> tuple[str, str, str]:
    """Paper, source and number by a file's name and folder; the number may be empty, the source ``unknown``."""
    parts = path.stem.split("__")
    number = parts.pop() if len(parts) > 1 and parts[-1].isdecimal() else ""
    if path.parent != root and path != root:
        return path.parent.name, "__".join(parts) or UNKNOWN, number
    if len(parts) == 1:
        return parts[0], UNKNOWN, number
    return "__".join(parts[:-1]), parts[-1], number
