"""One PDF to one ``Paper``: check, turn pages upright, take hidden text out, convert, repair, compare, assemble."""

from __future__ import annotations

import hashlib
import io
import math
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pypdfium2
import pypdfium2.raw as raw
from pypdfium2 import PdfDocument, PdfPage

from referee.errors import PaperParseError
from referee.papers.assembly import assemble
from referee.papers.pdf.compare import find_losses
from referee.papers.pdf.convert import convert, converter, open_checked, refuse_scan
from referee.papers.pdf.draft import Draft
from referee.papers.pdf.hidden import scan_pdf
from referee.papers.pdf.pages import Page, PageReader
from referee.papers.pdf.repairs import repair
from referee.papers.pieces import Piece
from referee.schemas.paper import Paper, Repair

_QUARTER = 90
_SAMPLES = 200
_FEWEST_CHARS = 40
_SHARE = 0.6
_TOLERANCE = 5.0


@dataclass(frozen=True)
class Upright:
    """The file with turned pages, and what was turned. Boxes of such a page are those of the page as it was turned."""

    data: bytes
    repairs: tuple[Repair, ...]


def turn_upright(document: PdfDocument, data: bytes) -> Upright:
    """Turn the pages on which most characters stand at another right angle.

    Pages with fewer than 40 characters, or without an angle that 60% of a sample share, stay as they are.

    Args:
        document: The file, opened; pages are turned in it, so it is to be closed where anything was.
        data: Its bytes.

    Returns:
        The file's own bytes and no repairs where no page has to be turned.

    Raises:
        PdfiumError: A page cannot be read.
    """
    repairs: list[Repair] = []
    for number in range(len(document)):
        page = document[number]
        try:
            shown, wanted = page.get_rotation(), _wanted(page)
            if wanted is None or wanted == shown:
                continue
            page.set_rotation(wanted)
        finally:
            page.close()
        repairs.append(_repair(number + 1, shown, wanted))
    return Upright(_saved(document) if repairs else data, tuple(repairs))


def _wanted(page: PdfPage) -> int | None:
    """The ``/Rotate`` at which most of the page's words run from left to right; none where no angle has a majority."""
    text = page.get_textpage()
    try:
        count = text.count_chars()
        if count < _FEWEST_CHARS:
            return None
        step = max(1, count // _SAMPLES)
        turns = Counter(
            _turn(raw.FPDFText_GetCharAngle(text, index))
            for index in range(0, count, step)
            if raw.FPDFText_IsGenerated(text, index) == 0 and not chr(raw.FPDFText_GetUnicode(text, index)).isspace()
        )
    finally:
        text.close()
    if not turns:
        return None
    turn, most = turns.most_common(1)[0]
    return turn if most >= _SHARE * turns.total() else None


def _turn(radians: float) -> int | None:
    """The ``/Rotate`` that undoes an angle, which pdfium gives clockwise; none for a slanted or unknown one."""
    if radians < 0:
        return None
    quarters = math.degrees(radians) / _QUARTER
    return -round(quarters) % 4 * _QUARTER if abs(quarters - round(quarters)) * _QUARTER <= _TOLERANCE else None


def _repair(page: int, shown: int, wanted: int) -> Repair:
    return Repair(
        kind="turned_page",
        page=page,
        before=f"/Rotate {shown}",
        after=f"/Rotate {wanted}",
        proof="most of its characters then run from left to right",
    )


def _saved(document: PdfDocument) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def load_pdf(path: Path, data: bytes, *, max_pages: int) -> Paper:
    """Read a PDF with rustypaper, repaired and checked against pypdfium2's text of the same pages.

    Text that a reader cannot see is taken out of a copy first, and listed in ``findings``; ``paper_id`` stays that of
    the file.

    Args:
        path: The file.
        data: Its bytes.
        max_pages: Pages allowed; counted before anything is converted.

    Raises:
        PaperParseError: It is encrypted, broken, too long, has no text layer, or holds hidden text that cannot be
            taken out.
    """
    document = open_checked(data, path.name, max_pages=max_pages)
    try:
        with _damage_named(path.name):
            upright = turn_upright(document, data)
            if upright.repairs:
                document.close()
                document = open_checked(upright.data, path.name, max_pages=max_pages)
            hidden = scan_pdf(document, upright.data, path.name)
            if hidden.clean is not None:
                document.close()
                document = open_checked(hidden.clean, path.name, max_pages=max_pages)
            reader = PageReader(document)
            pages = reader.read()
        if not any(page.lines for page in pages):
            raise refuse_scan(path.name, len(pages))
        with _file_with(path, hidden.clean or (upright.data if upright.repairs else None)) as readable:
            title, pieces = convert(readable, len(pages))
        _check_page_numbers(path.name, pages, pieces)
        draft = Draft(title=title, pieces=pieces, pages=pages, words_in=reader.words_in)
        repair(draft)
        losses = find_losses(pages, draft.pieces, draft.title, draft.body_size())
    finally:
        document.close()
    assembled = assemble(draft.pieces, front_first=True)
    return Paper(
        paper_id=hashlib.sha256(data).hexdigest(),
        title=draft.title,
        abstract=assembled.abstract,
        format="pdf",
        sections=assembled.sections,
        references=assembled.references,
        findings=(*hidden.findings, *assembled.findings, *losses),
        repairs=(*upright.repairs, *draft.repairs, *assembled.repairs),
        converter=converter(),
        page_count=len(pages),
    )


@contextmanager
def _file_with(path: Path, clean: bytes | None) -> Iterator[Path]:
    """The file itself, or a temporary one of the same name that holds the changed copy."""
    if clean is None:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="referee-") as folder:
        copy = Path(folder) / path.name
        copy.write_bytes(clean)
        yield copy


@contextmanager
def _damage_named(name: str) -> Iterator[None]:
    """Pdfium's error at a page, as a refusal of the file."""
    try:
        yield
    except pypdfium2.PdfiumError as error:
        raise PaperParseError(
            f"{name!r} opens, but one of its pages cannot be read: {error}",
            hint="The file is damaged; download or export it again.",
        ) from error


def _check_page_numbers(name: str, pages: Sequence[Page], pieces: Sequence[Piece]) -> None:
    last = max((piece.page or 1 for piece in pieces), default=1)
    if last > len(pages):
        raise PaperParseError(
            f"{name!r} has {len(pages)} pages by one reader and {last} by the other.",
            hint="The file is damaged; download or export it again.",
        )
