"""A venue file to fill in: the commented template, and what is still to be filled in one."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from referee.errors import VenueError
from referee.runs.files import write_atomically

_TEMPLATE = Path(__file__).with_name("template.toml")
_MARK = "<fill in"


def template_text(venue_id: str) -> str:
    """The template of a venue file for that id, dated today."""
    today = datetime.now(UTC).date().isoformat()
    text = _TEMPLATE.read_text(encoding="utf-8")
    return text.replace("{id}", venue_id).replace("{today}", today)


def write_template(venue_id: str, out: Path | None = None) -> Path:
    """Write the template for an id and say where it lies. A file that is there already is never replaced.

    Args:
        venue_id: The id, which the caller has checked.
        out: A file that ends in ``.toml``; by default ``ID.toml`` in the working folder.

    Raises:
        VenueError: ``out`` does not end in ``.toml``, exists, or cannot be written.
    """
    path = Path(f"{venue_id}.toml") if out is None else out
    if path.suffix != ".toml":
        raise VenueError(f"{str(path)!r} does not end in .toml, which is what is written.", hint="Rename --out.")
    if path.exists() or path.is_symlink():
        raise VenueError(
            f"{str(path)!r} is there already, and nothing that somebody filled in is overwritten.",
            hint="Choose another --out, or move that file away.",
            ids={"venue": venue_id},
        )
    try:
        write_atomically(path, template_text(venue_id))
    except OSError as error:
        raise VenueError(
            f"{str(path)!r} cannot be written: {error.strerror or error}.", hint="Choose another --out."
        ) from error
    return path


def is_unfilled(text: str) -> bool:
    """Whether a text of a venue file still is, or holds, an instruction of the template."""
    return _MARK in text.lower()


def unfilled(value: Any, place: tuple[int | str, ...] = ()) -> Iterator[tuple[int | str, ...]]:
    """Where a decoded venue file still has text of the template, in the file's order."""
    if isinstance(value, str) and is_unfilled(value):
        yield place
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from unfilled(inner, (*place, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from unfilled(inner, (*place, index))
