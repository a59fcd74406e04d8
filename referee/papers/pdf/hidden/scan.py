"""One PDF searched page by page for text that a reader cannot see, and a copy of it without that text."""

from __future__ import annotations

import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from contextlib import closing
from dataclasses import dataclass, field

import pypdfium2
from pypdfium2 import PdfDocument, PdfPage, PdfTextPage

from referee.errors import PaperParseError
from referee.papers.hidden.addresses import addresses_a_model, beginning
from referee.papers.hidden.characters import find_invisible
from referee.papers.pdf.hidden.elsewhere import find_elsewhere
from referee.papers.pdf.hidden.judging import find_suspects, split_ocr_layer
from referee.papers.pdf.hidden.objects import Bounds, Char, Frame, PageObjects, TextObject, frame_of, read_objects
from referee.papers.pdf.hidden.removal import PageCut, cut_out
from referee.papers.pdf.hidden.runs import TAKEN_OUT, Run, find_runs, tell, unseen
from referee.papers.pdf.hidden.stored import Replaced, find_replaced, open_flat, spell
from referee.schemas.paper import Finding

_KEY = b"/OCProperties"
_OBJECT_STREAM = re.compile(rb"/Type\s*/ObjStm\b[^>]{0,400}>>\s*stream\r?\n|/ObjStm\b[^>]{0,400}>>\s*stream\r?\n")
_MAX_STREAM = 2**22
_FOOT_PAGES, _FOOT_BAND_PT = 3, 6


def has_layers(data: bytes) -> bool:
    """Whether the catalogue names optional content, in plain objects or in deflated object streams.

    An object stream of more than 4 MiB is searched no further, and may.
    """
    if _KEY in data:
        return True
    for match in _OBJECT_STREAM.finditer(data):
        try:
            stream = zlib.decompressobj()
            plain = stream.decompress(data[match.end() :], _MAX_STREAM)
        except zlib.error:
            return True
        if _KEY in plain or stream.unconsumed_tail:
            return True
    return False


Mark = tuple[object, ...]


@dataclass
class PageScan:
    """What one page holds. ``page`` keeps the handles of its objects alive.

    ``chars`` are the measured characters; ``scanned`` says that it has the text layer of a scan.
    """

    page: PdfPage
    number: int
    frame: Frame
    chars: list[Char] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    flat: list[tuple[TextObject, str]] = field(default_factory=list)
    replaced: Replaced = field(default_factory=Replaced)
    signs: list[Finding] = field(default_factory=list)
    alternatives: list[str] = field(default_factory=list)
    scanned: bool = False

    def findings(self) -> list[Finding]:
        """What to say of the page."""
        told = [tell(run, self.number, self.frame) for run in self.runs]
        if self.flat:
            text = " ".join(words for _, words in self.flat)
            places = [self.frame.place(one.bounds) for one, _ in self.flat]
            told.append(unseen(self.number, text, f"it has no height or no width. {TAKEN_OUT}", "high", places))
        return [*told, *self.replaced.findings, *self.signs]

    def visible_marks(self) -> set[Mark]:
        """The measured objects that are seen whole: text, place, size, colour."""
        hidden = {text.address for run in self.runs for text in run.objects}
        return {mark for address, mark in self.marks().items() if address not in hidden}

    def marks(self) -> dict[int, Mark]:
        """The measured objects by their address."""
        texts: dict[int, list[str]] = defaultdict(list)
        for char in self.chars:
            texts[char.object.address].append(char.text)
        objects = {char.object.address: char.object for char in self.chars}
        return {address: mark_of(one, "".join(texts[address])) for address, one in objects.items()}


def scan_page(page: PdfPage, number: int, *, layers: bool, known: Collection[Mark] = ()) -> PageScan:
    """Search one page.

    Args:
        page: The loaded page.
        number: Its number, from 1.
        layers: Whether the file has layers that can be switched off.
        known: Objects that earlier pages showed whole (``PageScan.visible_marks``); the same again is not looked at.
    """
    # The crop box inside the media box, inherited ones too: what a viewer shows.
    box: Bounds = page.get_bbox()
    found = PageScan(page, number, frame_of(page, box))
    objects = read_objects(page)
    found.alternatives = list(objects.alternatives)
    found.replaced = find_replaced(page, objects.texts, number, found.frame)
    suspects = find_suspects(objects, box, layers=layers)
    with closing(page.get_textpage()) as text_page:
        if known:
            suspects = [one for one in suspects if mark_of(one, spell(one.handle, text_page)) not in known]
        words = text_page.get_text_range()
        found.signs = [
            Finding(
                kind="hidden_text",
                message=f"Page {number} holds {one.what}. They were taken out before the paper was read.",
                certainty=one.certainty,
                page=number,
                text=beginning(one.text),
            )
            for one in find_invisible(words)
        ]
        if suspects:
            _look(found, text_page, objects, suspects, box, printed=sum(map(len, words.split())))
    return found


def _look(
    found: PageScan,
    text_page: PdfTextPage,
    objects: PageObjects,
    suspects: Sequence[TextObject],
    box: Bounds,
    *,
    printed: int,
) -> None:
    from referee.papers.pdf.hidden.contrast import measure  # numpy: most papers have nothing to look at

    chars = measure(found.page, text_page, suspects, found.frame)
    layer, found.chars = split_ocr_layer(chars, objects, box, printed)
    found.scanned = bool(layer)
    found.runs = [run for run in find_runs(found.chars, text_page, objects, box) if not _doubles(run, text_page)]
    found.flat = open_flat(found.page, suspects, chars)


def _doubles(run: Run, text_page: PdfTextPage) -> bool:
    """Whether the same words are printed at the same place: a shadow or an outline under visible text."""
    lefts, bottoms, rights, tops = zip(*(char.bounds for char in run.chars), strict=True)
    left, bottom, right, top = min(lefts), min(bottoms), max(rights), max(tops)
    there = text_page.get_text_bounded(left - 2, bottom - 2, right + 2, top + 2)
    return "".join(there.split()).count("".join(run.text.split())) > 1


def mark_of(one: TextObject, text: str) -> Mark:
    """What makes two objects of different pages the same: text without blanks, place, size, paint."""
    left, _, _, top = one.bounds
    return "".join(text.split()), round(left), round(top), round(one.size, 1), one.mode, one.color, one.clipped


@dataclass
class Scan:
    """What was found, in page order. ``clean`` is the file without the hidden text; null when nothing had to go."""

    findings: list[Finding] = field(default_factory=list)
    clean: bytes | None = None


def scan_pdf(document: PdfDocument, data: bytes, name: str, left: frozenset[int] = frozenset()) -> Scan:
    """Find text that a reader cannot see, and take it out of a copy.

    The object walk is cheap; only pages with something that could be hidden are painted. The document is changed in
    memory when something is taken out: close it, and go on with ``clean``. A page whose other words would change stays
    as it is, and its findings say so and are of low certainty; hidden text that speaks to a model is never left there.

    Args:
        document: The open file.
        data: Its bytes, for what pdfium does not tell (layers, XMP).
        name: The file's name, for messages.
        left: Pages, from 0, from which nothing is taken.

    Returns:
        The findings (``hidden_text``, ``ocr_layer``), and the bytes without the hidden text, or None.

    Raises:
        PaperParseError: Hidden text that speaks to a model was found and could not be taken out.
    """
    pages = _scan_pages(document, layers=has_layers(data))
    _drop_repeated(pages)
    _lower_repeated(pages)
    findings = [_left(finding) if page.number - 1 in left else finding for page in pages for finding in page.findings()]
    if scanned := [page.number for page in pages if page.scanned]:
        findings.append(_ocr_layer(scanned, len(pages)))
    findings += find_elsewhere(document, [(page.page, page.alternatives) for page in pages], data)
    cuts = {page.number - 1: cut for page in pages if page.number - 1 not in left and (cut := _cut(page))}
    if not cuts:
        return Scan(findings)
    clean, changed = cut_out(document, cuts)
    return _without(pages, changed, left, data, name) if changed else Scan(findings, clean)


def _without(pages: Sequence[PageScan], changed: frozenset[int], left: frozenset[int], data: bytes, name: str) -> Scan:
    """Search again, and take nothing from the pages that changed; from none where others change then."""
    for index in sorted(changed):
        if any(addresses_a_model(finding.text) for finding in pages[index].findings()):
            raise PaperParseError(
                f"{name!r} holds text on page {index + 1} that a reader cannot see and that speaks to a model, and it "
                "could not be taken out without changing other text.",
                hint="Export the PDF again from its source, or give the source text.",
            )
    with closing(pypdfium2.PdfDocument(data)) as again:
        found = scan_pdf(again, data, name, frozenset(range(len(pages))) if left else changed)
        return Scan(found.findings, found.clean or data)


def _left(finding: Finding) -> Finding:
    if TAKEN_OUT not in finding.message:
        return finding
    said = finding.message.replace(TAKEN_OUT, "It stays in the text: taking it out would have changed other words.")
    return finding.model_copy(update={"message": said, "certainty": "low"})


def _scan_pages(document: PdfDocument, *, layers: bool) -> list[PageScan]:
    pages: list[PageScan] = []
    known: set[Mark] = set()
    for index in range(len(document)):
        pages.append(scan_page(document[index], index + 1, layers=layers, known=known))
        known |= pages[-1].visible_marks()
    return pages


def _drop_repeated(pages: Sequence[PageScan]) -> None:
    """Forget runs of objects that other pages show whole at the same place: a watermark under a figure."""
    if not any(page.runs for page in pages):
        return
    shown: Counter[Mark] = Counter(mark for page in pages for mark in page.visible_marks())
    for page in pages:
        if page.runs:
            marks, own = page.marks(), page.visible_marks()
            elsewhere = {mark for mark, count in shown.items() if count > (mark in own)}
            page.runs = [run for run in page.runs if not all(marks[one.address] in elsewhere for one in run.objects)]


def _lower_repeated(pages: Sequence[PageScan]) -> None:
    """What is hidden at one height of three pages or more is a publisher's covered running foot, unless it speaks."""

    def place(run: Run) -> Mark:
        return re.sub(r"\d+", "#", run.text), round(run.chars[0].bounds[1] / _FOOT_BAND_PT)

    counts = Counter(mark for page in pages for mark in {place(run) for run in page.runs})
    for page in pages:
        for run in page.runs:
            if counts[place(run)] >= _FOOT_PAGES and not addresses_a_model(run.text):
                run.certainty = "low"


def _cut(page: PageScan) -> PageCut:
    cut = PageCut(page.page, [text for text, _ in page.flat], marks=page.replaced.objects)
    cut.take([char for run in page.runs if run.removed for char in run.chars], page.chars)
    return cut


def _ocr_layer(scanned: Sequence[int], pages: int) -> Finding:
    which = f"page {scanned[0]}" if len(scanned) == 1 else f"{len(scanned)} of {pages} pages"
    return Finding(
        kind="ocr_layer",
        message=(
            f"On {which} the text is an invisible layer over a picture of the page, as text recognition makes it. It "
            "was used as the paper's text and can differ from what the picture shows."
        ),
        certainty="high",
        page=scanned[0],
    )
