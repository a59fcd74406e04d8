"""Guideline pages from addresses or files, and the copy of them that a run folder keeps.

HTML, Markdown and text are read as pages; a PDF or a Word file by the readers of papers, as Markdown.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import TypeAdapter, ValidationError

from referee.errors import PaperParseError, RunError, VenueError
from referee.graphs.guidelines_state import PageOrigin
from referee.schemas.paper import Paper
from referee.venues.page import GuidelinePage, read_page

PAGE_COPY = "page.json"
MAX_FILE_BYTES = 10 * 2**20
MOST_CHARS = 400_000
_DOCUMENTS = {b"%PDF": ".pdf", b"PK\x03\x04": ".docx"}
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


@dataclass(frozen=True)
class ReadPage:
    """A page and where it was had. Several are one page, with their names and digests joined, and ``parts`` each."""

    page: GuidelinePage
    origin: PageOrigin
    parts: tuple[ReadPage, ...] = ()

    def to_json(self) -> str:
        """As the run folder keeps it, so that a resumed run reads the same page."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=2) + "\n"


def is_address(source: str) -> bool:
    """Whether a source is an address and no file."""
    return bool(_ADDRESS.match(source))


async def open_pages(sources: Sequence[str], resumed: Path | None = None) -> ReadPage:
    """Read pages from their addresses or files, as one; a resumed run reads fetched pages from its own copy.

    Args:
        sources: Http or https addresses, or paths to HTML, Markdown, text, PDF or Word files; each once.
        resumed: The folder of the run that is resumed.

    Raises:
        VenueError: A file is missing, unreadable, too large, or no page; a page holds only a login, a PDF is a scan.
        DataError: An address cannot be fetched, or may not be.
        RunError: The run's copy is damaged.
    """
    if resumed is not None and any(map(is_address, sources)) and (resumed / PAGE_COPY).is_file():
        return _copy(resumed / PAGE_COPY)
    read = [await _open_page(source) for source in dict.fromkeys(sources)]
    if not read:
        raise VenueError("no page was given.", hint="Name the page that tells reviewers what to look for.")
    whole = read[0] if len(read) == 1 else _joined(read)
    if len(whole.page.text) > MOST_CHARS:
        raise VenueError(
            f"{whole.origin.name!r} has {len(whole.page.text):,} characters of text, and {MOST_CHARS:,} are read.",
            hint="Save only the part that speaks to reviewers, and give that file.",
        )
    return whole


async def _open_page(source: str) -> ReadPage:
    if not is_address(source):
        return _read(_bytes(Path(source)), Path(source).name, "", "")
    from referee.web import WebLimits, fetch_page

    fetched = await fetch_page(source, limits=WebLimits(max_bytes=MAX_FILE_BYTES))
    return _read(fetched.content, fetched.url, fetched.url, fetched.content_type)


def _read(data: bytes, name: str, url: str, content_type: str) -> ReadPage:
    suffix = next((suffix for start, suffix in _DOCUMENTS.items() if data.startswith(start)), "")
    page = _document(data, name, suffix) if suffix else read_page(data, source=name, content_type=content_type)
    today = datetime.now(UTC).date().isoformat()
    return ReadPage(page, PageOrigin(name, url, today, hashlib.sha256(data).hexdigest()))


def _document(data: bytes, name: str, suffix: str) -> GuidelinePage:
    """A PDF or a Word file, read as papers are and put as Markdown: its title, its headings, their text."""
    from referee.papers import load_paper

    with TemporaryDirectory(prefix="referee-page-") as folder:
        file = Path(folder) / f"page{suffix}"
        file.write_bytes(data)
        try:
            paper = load_paper(file)
        except PaperParseError as error:
            said = error.message.replace(str(file), name)
            hint = f"{error.hint} Or copy its text into a file, and give that.".strip()
            raise VenueError(f"{name!r} cannot be read as a page: {said}", hint=hint) from error
    page = read_page(_markdown(paper).encode(), source=name, content_type="text/markdown")
    found = tuple(f"Found in {name}: {finding.message}" for finding in paper.findings)
    return replace(page, title=paper.title or page.title, notes=(*page.notes, *found))


def _markdown(paper: Paper) -> str:
    parts = [f"# {paper.title}"] if paper.title else []
    parts += [paper.abstract] if paper.abstract else []
    for section in paper.sections:
        heading = f"{section.number or ''} {section.heading}".strip()
        parts += (
            [f"{'#' * min(section.level + 1, 6)} {heading}"] if heading not in ("", paper.title, "Front matter") else []
        )
        parts += [section.text] if section.text.strip() else []
    return "\n\n".join(parts) + "\n"


def _joined(read: Sequence[ReadPage]) -> ReadPage:
    """Several pages as one, each below its title."""
    first = read[0]
    pages = [each.page for each in read]
    text = "\n".join(f"# {page.title}\n{page.text}" if page.title else page.text for page in pages)
    name = " + ".join(each.origin.name for each in read)
    page = replace(
        first.page,
        source=name,
        text=text,
        paper_types=tuple(dict.fromkeys(kind for page in pages for kind in page.paper_types)),
        notes=tuple(dict.fromkeys(note for page in pages for note in page.notes)),
        dropped=tuple(item for page in pages for item in page.dropped),
    )
    digest = hashlib.sha256("".join(each.origin.sha256 for each in read).encode()).hexdigest()
    every = all(each.origin.url for each in read)
    origin = PageOrigin(name, first.origin.url if every else "", first.origin.retrieved, digest)
    return ReadPage(page, origin, tuple(read))


def _bytes(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise VenueError(
                f"{str(path)!r} is a folder, not a page.", hint="Name an HTML, Markdown, text, PDF or Word file."
            )
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
