"""What the page prints and the paper does not hold: lost text and missing pages as findings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from referee.errors import PaperParseError
from referee.papers.pdf.pages import Line, Page, around, middle_in
from referee.papers.pieces import Piece, plain, squeeze
from referee.schemas.paper import Box, Certainty, Finding

# A page's text counts as lost above both: single odd words come from formulas and ligatures.
LOST_SHARE, LOST_WORDS = 0.02, 8
# Readable papers lose up to 3% (21 shared files); one whose fonts the converter cannot read lost 99%.
MOST_LOST = 0.25
_SAMPLE_WORDS = 40
_FIGURE_SIZE = 0.85
_LONG_WORD = 5
_BRACKETED = re.compile(r"\((\d{1,3}(?:\.\d{1,2})?)\)")
_AT_END = re.compile(r"\((\d{1,3}(?:\.\d{1,2})?)\)$")


@dataclass(frozen=True)
class PageLoss:
    """How many words a page prints and how many of them the paper lacks."""

    page: int
    words: int
    lost: int
    lines: tuple[Line, ...]

    @property
    def share(self) -> float:
        """Lost words over printed words, 0 to 1; 0 for a page without words."""
        return self.lost / self.words if self.words else 0.0


Measured = tuple[Page, PageLoss, list[str]]


def measure_loss(page: Page, texts: Iterable[str]) -> PageLoss:
    """Compare a page's words with those of the pieces read from it, as multisets.

    Only words of three letters or more and numbers of two digits or more count: shorter ones are mostly signs of
    formulas. A word of five letters or more that stands inside the letters of the pieces (glued, or hyphenated) is
    not lost. Running heads and page numbers are not counted.

    Args:
        page: What the page prints.
        texts: Texts of all pieces of this page, title and headings included.
    """
    text = "\n".join(texts)
    held, letters = Counter(_words(text)), squeeze(text)
    left: dict[str, int] = {}
    printed = 0
    lost_by_line: list[tuple[Line, int]] = []
    for line, words in _line_words(page):
        printed += len(words)
        lost = 0
        for word in words:
            if word not in left:
                left[word] = max(held[word], letters.count(word) if len(word) >= _LONG_WORD else 0)
            lost += left[word] <= 0
            left[word] -= 1
        if lost:
            lost_by_line.append((line, lost))
    mostly = [line for line, count in lost_by_line if 2 * count >= len(_words(line.text))]
    lines = tuple(mostly or [line for line, _ in lost_by_line])
    return PageLoss(page.number, printed, sum(count for _, count in lost_by_line), lines)


def find_losses(
    measured: Sequence[Measured], body_size: float, figures_on: Callable[[Page], Sequence[Box]] = lambda page: ()
) -> list[Finding]:
    """A finding for each page that lost text or has none in the paper.

    ``lost_text`` needs more than 2% and at least eight of the page's words; its certainty is low where the lost lines
    are smaller than the text or stand in figures (``figures_on`` gives their places), medium to 10%, high above.
    ``missing_page`` is a page with text but no piece, or a page without text that shows an image.
    """
    findings = []
    for page, loss, texts in measured:
        if page.unreadable:
            findings.append(_missing_page(page, "has text in fonts that do not say which letters they draw"))
        elif loss.words and not texts:
            findings.append(_missing_page(page, "has text, but none of it was read"))
        elif not page.lines and page.has_images:
            findings.append(_missing_page(page, "is an image without a text layer; what it shows was not read"))
        elif loss.lost >= LOST_WORDS and loss.share > LOST_SHARE:
            findings.append(_lost_text(page, loss, body_size, figures_on(page)))
        if lost := _lost_numbers(page, texts) if texts else []:
            listed = ", ".join(f"({number})" for number in lost)
            message = f"Page {page.number} prints {listed} at the end of a line, as equations do; this was not read."
            findings.append(Finding(kind="lost_text", message=message, certainty="low", page=page.number))
    return findings


def measure_losses(pages: Sequence[Page], pieces: Sequence[Piece], title: str) -> list[Measured]:
    """Each page with what it lost, and the texts that were read of it."""
    measured: list[Measured] = []
    for page in pages:
        texts = [
            f"{piece.number or ''} {piece.text} {piece.label or ''}" for piece in pieces if piece.page == page.number
        ]
        carried = [piece.text for piece in pieces if piece.page == page.number - 1 and piece.kind == "reference"][-1:]
        loss = measure_loss(page, [*texts, *carried, *([title] if page.number == 1 else [])])
        measured.append((page, loss, texts))
    return measured


def refuse_lost(name: str, measured: Sequence[Measured], findings: Sequence[Finding]) -> None:
    """Refuse a paper of which too much was lost; labels in figures do not count.

    A page whose words are not known, as an image without a text layer, counts as one of the others' mean length.

    Raises:
        PaperParseError: More than a quarter of the paper's words are not in the text that was read.
    """
    lost_on = {f.page: f.kind for f in findings if f.kind in ("lost_text", "missing_page") and f.certainty != "low"}
    known = [loss.words for page, loss, _ in measured if loss.words and not page.unreadable]
    mean = sum(known) / len(known) if known else 1.0
    printed = lost = 0.0
    for page, loss, _ in measured:
        kind = lost_on.get(page.number)
        words = loss.words if loss.words and not page.unreadable else mean * (kind is not None)
        printed += words
        lost += words if kind == "missing_page" else loss.lost if kind else 0
    if lost > MOST_LOST * printed:
        where = _spans(sorted(page for page in lost_on if page))
        raise PaperParseError(
            f"{name!r} was not read: about {lost / printed:.0%} of its words are missing ({where}); at most "
            f"{MOST_LOST:.0%} may be.",
            hint="Its fonts or its export may be broken, or pages be scans: export it again, run it through text "
            "recognition (for example ocrmypdf), or give the paper's source (LaTeX, Word, HTML).",
        )


def _spans(pages: Sequence[int]) -> str:
    """'pages 1-3, 7' for 1, 2, 3, 7."""
    groups = groupby(enumerate(pages), key=lambda one: one[1] - one[0])
    spans = ([page for _, page in group] for _, group in groups)
    listed = ", ".join(f"{one[0]}-{one[-1]}" if len(one) > 1 else f"{one[0]}" for one in spans)
    return f"page{'' if len(pages) == 1 else 's'} {listed}"


def _lost_numbers(page: Page, texts: Sequence[str]) -> list[str]:
    """Numbers in brackets at a line's end that the page prints more often than its pieces hold them."""
    printed = Counter(_BRACKETED.findall("\n".join(line.text for line in page.body)))
    held = Counter(_BRACKETED.findall("\n".join(texts)))
    ends = [found[1] for line in page.body if (found := _AT_END.search(line.text))]
    return [number for number in dict.fromkeys(ends) if printed[number] > held[number]]


def _missing_page(page: Page, what: str) -> Finding:
    sample = " ".join(line.text for line in page.body)
    return Finding(
        kind="missing_page",
        message=f"Page {page.number} {what}.",
        certainty="high" if sample or page.unreadable else "medium",
        page=page.number,
        text=_cut(sample),
    )


def _lost_text(page: Page, loss: PageLoss, body_size: float, figures: Sequence[Box]) -> Finding:
    small = sum(
        not _FIGURE_SIZE * body_size <= line.size <= 3 * body_size
        or any(middle_in(line.box, one, 0) for one in figures)
        for line in loss.lines
    )
    certainty: Certainty = "low" if small > 0.5 * len(loss.lines) else "high" if loss.share > 0.1 else "medium"
    return Finding(
        kind="lost_text",
        message=(
            f"About {loss.share:.0%} of the words that page {page.number} prints ({loss.lost} of {loss.words}) "
            "are not in the text that was read."
        ),
        certainty=certainty,
        page=page.number,
        box=around(*(line.box for line in loss.lines)),
        text=_cut(" … ".join(line.text for line in loss.lines)),
    )


def _cut(text: str) -> str:
    words = text.split()
    return " ".join(words[:_SAMPLE_WORDS]) + (" …" if len(words) > _SAMPLE_WORDS else "")


def _line_words(page: Page) -> list[tuple[Line, list[str]]]:
    """The counted words of each line; a word broken at a line's end counts in the line where it begins."""
    found: list[tuple[Line, list[str]]] = []
    carried = ""
    for line in page.body:
        text = carried + line.text
        whole, _, carried = text.rpartition(" ") if line.hyphen else (text, "", "")
        found.append((line, _words(whole)))
    if carried and found:
        found[-1][1].extend(_words(carried))
    return found


def _words(text: str) -> list[str]:
    words = re.findall(r"[^\W\d_]+|\d+", plain(text))
    return [word for word in words if len(word) >= (2 if word.isdigit() else 3)]
