"""One page searched: hidden runs, objects without size, replaced text, and which visible objects it shows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from referee.papers.hidden.characters import find_invisible
from referee.papers.pdf.hidden.contrast import Char, Frame, frame_of, measure
from referee.papers.pdf.hidden.objects import Bounds, PageObjects, TextObject, read_objects
from referee.papers.pdf.hidden.ocr import split_ocr_layer
from referee.papers.pdf.hidden.replaced import Replaced, find_replaced
from referee.papers.pdf.hidden.runs import MAX_TEXT, Run, box_around, find_runs, tell
from referee.papers.pdf.hidden.silent import open_flat, spell
from referee.papers.pdf.hidden.suspects import find_suspects
from referee.schemas.paper import Finding

if TYPE_CHECKING:
    from pypdfium2 import PdfPage, PdfTextPage

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
    scanned: bool = False

    def findings(self) -> list[Finding]:
        """What to say of the page."""
        told = [tell(run, self.number, self.frame) for run in self.runs]
        flat = [_tell_flat(self.flat, self.number, self.frame)] if self.flat else []
        return [*told, *flat, *self.replaced.findings, *self.signs]

    def visible_marks(self) -> set[Mark]:
        """The measured objects that are seen whole: text, place, size, colour."""
        hidden = {text.address for run in self.runs for text in run.objects}
        return {mark for address, mark in self._marks().items() if address not in hidden}

    def drop_repeated(self, seen_elsewhere: Collection[Mark]) -> None:
        """Forget runs of objects that other pages show whole at the same place: a watermark under a figure."""
        marks = self._marks()
        self.runs = [run for run in self.runs if not all(marks[one.address] in seen_elsewhere for one in run.objects)]

    def _marks(self) -> dict[int, Mark]:
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
    box = visible_box(page)
    found = PageScan(page, number, frame_of(page, box))
    objects = read_objects(page)
    found.replaced = find_replaced(page, objects.texts, number, found.frame)
    suspects = find_suspects(objects, box, layers=layers)
    text_page = page.get_textpage()
    try:
        if known:
            suspects = [one for one in suspects if mark_of(one, spell(one.handle, text_page)) not in known]
        words = text_page.get_text_range()
        found.signs = _invisible_signs(words, number)
        if suspects:
            _look(found, text_page, objects, suspects, box, printed=sum(map(len, words.split())))
    finally:
        text_page.close()
    return found


def visible_box(page: PdfPage) -> Bounds:
    """Left, bottom, right, top of what a viewer shows: the crop box inside the media box, inherited ones too."""
    left, bottom, right, top = page.get_bbox()
    return left, bottom, right, top


def _look(
    found: PageScan,
    text_page: PdfTextPage,
    objects: PageObjects,
    suspects: Sequence[TextObject],
    box: Bounds,
    *,
    printed: int,
) -> None:
    chars = measure(found.page, text_page, suspects, found.frame)
    layer, found.chars = split_ocr_layer(chars, objects, box, printed)
    found.scanned = bool(layer)
    found.runs = [run for run in find_runs(found.chars, text_page, objects, box) if not _doubles(run, text_page)]
    found.flat = open_flat(found.page, suspects, chars)


def _doubles(run: Run, text_page: PdfTextPage) -> bool:
    """Whether the same words are printed at the same place: a shadow or an outline under visible text."""
    boxes = [char.bounds for char in run.chars]
    left, bottom = min(box[0] for box in boxes), min(box[1] for box in boxes)
    right, top = max(box[2] for box in boxes), max(box[3] for box in boxes)
    there = text_page.get_text_bounded(left - 2, bottom - 2, right + 2, top + 2)
    return "".join(there.split()).count("".join(run.text.split())) > 1


def mark_of(one: TextObject, text: str) -> Mark:
    """What makes two objects of different pages the same: text without blanks, place, size, paint."""
    left, _, _, top = one.bounds
    return "".join(text.split()), round(left), round(top), round(one.size, 1), one.mode, one.color, one.clipped


def _tell_flat(flat: Sequence[tuple[TextObject, str]], number: int, frame: Frame) -> Finding:
    text = " ".join(words for _, words in flat)
    return Finding(
        kind="hidden_text",
        message=(
            f"Page {number} holds text that a reader cannot see ({len(text.split())} words): it has no height or no "
            "width. It was taken out before the paper was read."
        ),
        certainty="high",
        page=number,
        box=box_around([frame.place(one.bounds) for one, _ in flat]),
        text=text[:MAX_TEXT],
    )


def _invisible_signs(words: str, number: int) -> list[Finding]:
    return [
        Finding(
            kind="hidden_text",
            message=f"Page {number} holds {one.what}. They were taken out before the paper was read.",
            certainty=one.certainty,
            page=number,
            text=one.text[:MAX_TEXT],
        )
        for one in find_invisible(words)
    ]
