"""What is marked in a copy of the paper's PDF: the places that a review's printed points quote."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from referee.reports.formulas import readable
from referee.reports.plain import clean
from referee.reports.review_marks import marks_of, quotations_of
from referee.schemas.page import Highlight, Highlights, PageImages
from referee.schemas.paper import Box
from referee.schemas.point import SEVERITIES
from referee.schemas.review import Review

_NOTE_CHARS = 2000  # viewers show notes in a small window
_WEIGHTS = (*SEVERITIES, "question", "strength")


@dataclass(frozen=True)
class _Note:
    title: str
    text: str
    weight: str


def highlights_of(review: Review, pages: PageImages) -> Highlights:
    """A highlight for each place that printed points quote, and evidence that a review keeps beside them.

    Where several points quote one place their notes stand together, and the gravest one gives the colour.
    """
    notes = dict(_notes(review))
    heights = {page.number: page.height for page in pages.pages}
    quoted = [(name, quotation) for name, quotation in quotations_of(review) if name in notes]
    return Highlights(
        items=tuple(
            _joined([notes[name] for name in mark.points], number, heights[number], mark.boxes)
            for number, marks in sorted(marks_of(quoted, pages.pages).by_page.items())
            for mark in marks
        )
    )


def _joined(notes: Sequence[_Note], page: int, height: float, boxes: tuple[Box, ...]) -> Highlight:
    gravest = min(notes, key=lambda note: _WEIGHTS.index(note.weight))
    return Highlight(
        page=page,
        height=height,
        boxes=boxes,
        title=gravest.title,
        note="\n\n".join(f"{note.title}: {note.text}" for note in notes),
        weight=gravest.weight,
    )


def _notes(review: Review) -> Iterator[tuple[str, _Note]]:
    for point in review.points:
        if point.outcome == "printed":
            weak = point.polarity == "weakness"
            settled = f"\nWould settle it: {point.fix.what}" if point.fix.what else ""
            title = f"{point.polarity.capitalize()}{f' ({point.severity})' if weak else ''} {point.id}"
            yield point.id, _note(title, f"{point.statement}{settled}", point.severity if weak else point.polarity)
    yield from ((item.id, _note(f"Evidence {item.id}", item.claim, "note")) for item in review.evidence)


def _note(title: str, text: str, weight: str) -> _Note:
    return _Note(title, readable(clean(text))[:_NOTE_CHARS], weight)
