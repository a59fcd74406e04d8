"""One PDF to one ``Paper``: check, turn pages upright, take hidden text out, convert, repair, compare, assemble."""

from __future__ import annotations

import hashlib
import io
import math
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pypdfium2
import pypdfium2.raw as raw
from pypdfium2 import PdfDocument, PdfPage

from referee.errors import PaperParseError
from referee.papers.assembly import assemble
from referee.papers.pdf.compare import find_losses, measure_losses, refuse_lost
from referee.papers.pdf.convert import convert, converter, open_checked, refuse_scan
from referee.papers.pdf.draft import Draft
from referee.papers.pdf.hidden import scan_pdf
from referee.papers.pdf.hidden.objects import address_of, bounds_of, frame_of, read_objects
from referee.papers.pdf.line_numbers import Changed, Left, take_out_line_numbers, without_numbers
from referee.papers.pdf.pages import Page, PageReader
from referee.papers.pdf.repairs import repair
from referee.schemas.paper import Box, Finding, Paper, Repair

_QUARTER = 90
_FEWEST_CHARS, _SAMPLES = 40, 200
_SHARE = 0.6
_TOLERANCE = 5.0
_FIGURE_SHARE = 0.5


def turn_upright(document: PdfDocument, data: bytes) -> Changed:
    """Turn the pages on which most characters stand at another right angle.

    Pages with fewer than 40 characters, or without an angle that 60% of a sample share, stay as they are.

    Args:
        document: The file, opened; pages are turned in it, so it is to be closed where anything was.
        data: Its bytes.

    Returns:
        The file's own bytes and no repairs where no page has to be turned. Boxes of a turned page are those of the page
        as it was turned.

    Raises:
        PdfiumError: A page cannot be read.
    """
    repairs: list[Repair] = []
    for number in range(len(document)):
        with closing(document[number]) as page:
            shown, wanted = page.get_rotation(), _wanted(page)
            if wanted is None or wanted == shown:
                continue
            page.set_rotation(wanted)
        before, after = f"/Rotate {shown}", f"/Rotate {wanted}"
        proof = "most of its characters then run from left to right"
        repairs.append(Repair(kind="turned_page", page=number + 1, before=before, after=after, proof=proof))
    if repairs:
        document.save(buffer := io.BytesIO())
        data = buffer.getvalue()
    return Changed(data, tuple(repairs))


def _wanted(page: PdfPage) -> int | None:
    """The ``/Rotate`` at which most of the page's words run from left to right; none where no angle has a majority."""
    with closing(page.get_textpage()) as text:
        count = text.count_chars()
        if count < _FEWEST_CHARS:
            return None
        step = max(1, count // _SAMPLES)
        turns = Counter(
            _turn(raw.FPDFText_GetCharAngle(text, index))
            for index in range(0, count, step)
            if raw.FPDFText_IsGenerated(text, index) == 0 and not chr(raw.FPDFText_GetUnicode(text, index)).isspace()
        )
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
    with readable(data, path.name, max_pages) as shown:
        with _damage_named(path.name):
            reader = shown.reader()
            pages = reader.read()
        if not any(page.lines or page.unreadable for page in pages):
            raise refuse_scan(path.name, len(pages))
        with _file_with(path, None if shown.data is data else shown.data) as file:
            title, pieces = convert(file, len(pages))
        if (last := max((piece.page or 1 for piece in pieces), default=1)) > len(pages):
            raise PaperParseError(
                f"{path.name!r} has {len(pages)} pages by one reader and {last} by the other.",
                hint="The file is damaged; download or export it again.",
            )
        pieces = without_numbers(pieces, shown.left)
        draft = Draft(title=title, pieces=pieces, pages=pages, words_in=reader.words_in)
        repair(draft)
        measured = measure_losses(pages, draft.pieces, draft.title)
        losses = find_losses(measured, draft.body_size(), shown.figures_on)
        refuse_lost(path.name, measured, losses)
    assembled = assemble(draft.pieces, front_first=True)
    return Paper(
        paper_id=hashlib.sha256(data).hexdigest(),
        title=draft.title,
        abstract=assembled.abstract,
        format="pdf",
        sections=assembled.sections,
        references=assembled.references,
        findings=(*shown.findings, *assembled.findings, *losses),
        repairs=(*shown.repairs, *draft.repairs, *assembled.repairs),
        converter=converter(),
        page_count=len(pages),
    )


@dataclass
class Readable:
    """A file as it is read: pages upright, line numbers and hidden text gone; what was found and done on the way.

    ``left`` are line numbers that are still in it.
    """

    document: PdfDocument
    data: bytes
    findings: Sequence[Finding] = ()
    repairs: tuple[Repair, ...] = ()
    left: tuple[Left, ...] = ()

    def reader(self) -> PageReader:
        """What reads the words of its pages."""
        return PageReader(self.document, {(one.page, char) for one in self.left for char in one.chars})

    def figures_on(self, page: Page) -> list[Box]:
        """Where pictures, and forms of less than half of the page, are drawn: words in them are labels."""
        shown = self.document[page.number - 1]
        frame, objects = frame_of(shown, shown.get_bbox()), read_objects(shown)
        forms = {address_of(text.form): bounds_of(text.form) for text in objects.texts if text.form}
        places = [frame.place(box) for box in (*forms.values(), *(area.bounds for area in objects.areas if area.image))]
        most = _FIGURE_SHARE * page.width * page.height
        return [Box(x0=a, y0=b, x1=c, y1=d) for a, b, c, d in places if (c - a) * (d - b) < most]


@contextmanager
def readable(data: bytes, name: str, max_pages: int) -> Iterator[Readable]:
    """Open a file as it is read.

    Raises:
        PaperParseError: As ``load_pdf``.
    """
    shown = Readable(open_checked(data, name, max_pages=max_pages), data)

    def reopen(changed: bytes) -> None:
        shown.document.close()
        shown.document, shown.data = open_checked(changed, name, max_pages=max_pages), changed

    try:
        with _damage_named(name):
            for step in (turn_upright, take_out_line_numbers):
                done = step(shown.document, shown.data)
                shown.repairs, shown.left = shown.repairs + done.repairs, done.left
                if done.repairs:
                    reopen(done.data)
            hidden = scan_pdf(shown.document, shown.data, name)
            shown.findings = hidden.findings
            if hidden.clean is not None:
                reopen(hidden.clean)
        yield shown
    finally:
        shown.document.close()


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
