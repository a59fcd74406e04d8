"""A guideline page from an address or a file, and the copy of it that a run folder keeps."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from referee.errors import RunError, VenueError
from referee.graphs.guidelines_state import PageOrigin
from referee.venues.page import GuidelinePage, read_page

PAGE_COPY = "page.json"
MAX_FILE_BYTES = 10 * 2**20
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


@dataclass(frozen=True)
class ReadPage:
    """A page and where it was had."""

    page: GuidelinePage
    origin: PageOrigin

    def to_json(self) -> str:
        """As the run folder keeps it, so that a resumed run reads the same page."""
        return (
            json.dumps({"page": asdict(self.page), "origin": asdict(self.origin)}, ensure_ascii=False, indent=2) + "\n"
        )


def is_address(source: str) -> bool:
    """Whether a source is an address and no file."""
    return bool(_ADDRESS.match(source))


async def open_page(source: str, resumed: Path | None = None) -> ReadPage:
    """Read a page from its address or file; a resumed run reads a fetched page from its own copy.

    Args:
        source: An http or https address, or a path to an HTML, Markdown or text file.
        resumed: The folder of the run that is resumed.

    Raises:
        VenueError: The file is missing, unreadable, too large, or no page; or the page holds only a login.
        DataError: The address cannot be fetched, or may not be.
        RunError: The run's copy is damaged.
    """
    if not is_address(source):
        return _read(_bytes(Path(source)), Path(source).name, "", "")
    if resumed is not None and (resumed / PAGE_COPY).is_file():
        return _copy(resumed / PAGE_COPY)
    from referee.web import WebLimits, fetch_page

    fetched = await fetch_page(source, limits=WebLimits(max_bytes=MAX_FILE_BYTES))
    return _read(fetched.content, fetched.url, fetched.url, fetched.content_type)


def _read(data: bytes, name: str, url: str, content_type: str) -> ReadPage:
    page = read_page(data, source=name, content_type=content_type)
    today = datetime.now(UTC).date().isoformat()
    return ReadPage(page, PageOrigin(name, url, today, hashlib.sha256(data).hexdigest()))


def _bytes(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise VenueError(f"{str(path)!r} is a folder, not a page.", hint="Name one HTML, Markdown or text file.")
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise VenueError(
                f"{str(path)!r} has {size / 2**20:,.0f} MB, and a page may have {MAX_FILE_BYTES >> 20} MB.",
                hint="Save only the page with the guidelines, or copy its text into a file.",
            )
        return path.read_bytes()
    except FileNotFoundError as error:
        raise VenueError(
            f"page {str(path)!r} does not exist.",
            hint="Check the path; an address begins with https://.",
        ) from error
    except OSError as error:
        raise VenueError(
            f"page {str(path)!r} cannot be read: {error.strerror or error}.", hint="Mend its rights."
        ) from error


def _copy(path: Path) -> ReadPage:
    try:
        return TypeAdapter(ReadPage).validate_json(path.read_text(encoding="utf-8"))
    except (ValidationError, UnicodeDecodeError) as error:
        raise RunError(f"{str(path)!r} is damaged or from another version.", hint="Start a new run.") from error
