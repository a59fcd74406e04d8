"""What is marked in a copy of the paper's PDF: the places that a review's points quote, and points without a place."""

from __future__ import annotations

from referee.evidence.computed import code_lines
from referee.evidence.listing import details, in_list, opening, tag
from referee.reports.formulas import readable
from referee.reports.plain import clean
from referee.reports.review_marks import marks_of, quotations_of
from referee.schemas.page import Highlight, Highlights, PageImages
from referee.schemas.paper import Box
from referee.schemas.point import ReviewPoint
from referee.schemas.review import Review

_NOTE_CHARS = 2000  # viewers show notes in a small window
_PIN, _GAP = 12.0, 22.0


def highlights_of(review: Review, pages: PageImages) -> Highlights:
    """A highlight for each place that points of the list quote, with their numbers and words.

    Where several points quote one place their notes stand together, and the first one gives the colour. A point whose
    quotations have no place has a note at the edge of the first page.
    """
    known = {point.id: point for point in in_list(review)}
    heights = {page.number: page.height for page in pages.pages}
    quoted = [(name, quotation) for name, quotation in quotations_of(review) if name in known]
    items: list[Highlight] = []
    placed: set[str] = set()
    for number, marks in sorted(marks_of(quoted, pages.pages).by_page.items()):
        for mark in marks:
            points = sorted((known[name] for name in mark.points), key=lambda point: point.number)
            placed |= set(mark.points)
            items.append(_highlight(points, number, heights[number], mark.boxes))
    loose = [point for point in known.values() if point.id not in placed]
    if pages.pages:
        first = pages.pages[0]
        a_column = max(1, int((first.height - _GAP) // _GAP))
        for at, point in enumerate(loose):
            left, top = 2 + _GAP * (at // a_column), _GAP * (at % a_column) + 10
            box = Box(x0=left, y0=top, x1=left + _PIN, y1=top + _PIN)
            items.append(_highlight([point], first.number, first.height, (box,), pinned=True))
    return Highlights(items=tuple(items))


def _note(point: ReviewPoint) -> str:
    """All that is said of a point, then its programs."""
    code = [line for one in point.computations for line in ("", "Program:", *code_lines(one.program))]
    return "\n".join([readable(clean("\n".join([opening(point), *details(point)]))), *code])


def _highlight(
    points: list[ReviewPoint], page: int, height: float, boxes: tuple[Box, ...], *, pinned: bool = False
) -> Highlight:
    notes = [_note(point)[:_NOTE_CHARS] for point in points]
    return Highlight(
        page=page,
        height=height,
        boxes=boxes,
        title=f"{points[0].number}. {tag(points[0])}",
        note="\n\n".join(notes),
        weight=points[0].weight or points[0].heading or "",
        pinned=pinned,
    )
