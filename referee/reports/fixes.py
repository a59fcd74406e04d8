"""``fixes.md``: what an author works off, by weight, from the points of a review and without another call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from referee.reports.deciding import by_weight
from referee.reports.formulas import readable
from referee.reports.markdown_text import block, inline
from referee.reports.values import is_empty, title_of
from referee.schemas.paper_cut import cut_line
from referee.schemas.point import ReviewPoint
from referee.schemas.review import Review
from referee.schemas.venue import VenueForm

_GROUPS = {
    "Must": "Fatal and major weaknesses, the gravest first.",
    "Should": "Smaller weaknesses, and questions whose answers belong into the paper.",
    "Could": "Remarks, and what the form has no field for.",
}
_AGAINST = ("weak", "question", "limitation", "concern", "comment", "suggest", "cons")


def render_fixes(review: Review, form: VenueForm) -> str:
    """A Markdown list of boxes to tick; struck, dropped and merged points are not in it, and no strengths.

    A review that was written on the form directly, as by ``single``, has few points of its own or none: the form's
    texts that speak against the paper are listed too.
    """
    lines = [f"# What to mend: {inline(readable(review.paper_title)) or 'untitled paper'}", "", *_head(review, form)]
    if not review.points:
        return "\n".join([*lines, *_from_form(review, form)]) + "\n"
    for name, meaning in _GROUPS.items():
        chosen = by_weight(point for point in review.points if _group(point) == name)
        lines += ["", f"## {name} ({len(chosen)})", "", meaning if chosen else "Nothing.", *_items(chosen)]
    if _written_on_form(review):
        lines += _from_form(review, form)
    return "\n".join(lines) + "\n"


def _written_on_form(review: Review) -> bool:
    """Whether the form's texts were written directly: points then are corrections and remarks on figures only."""
    single = review.provenance is not None and review.provenance.strategy == "single"
    return review.trial is None and (single or bool(review.evidence))


def _head(review: Review, form: VenueForm) -> Iterator[str]:
    if review.provenance is not None and review.provenance.cut is not None:
        yield f"**{inline(cut_line(review.provenance.cut))}**"
        yield ""
    yield f"From the review for {inline(form.name)} by {inline(review.source)}. Where a point is wrong, leave it;"
    yield "`referee show` and report.html have each point's quotations and check by its name."


def _group(point: ReviewPoint) -> str:
    """None where a point asks for nothing, or did not stand."""
    if point.polarity == "strength" or point.outcome not in ("printed", "listed"):
        return ""
    if point.outcome == "listed" or point.severity == "note":
        return "Could"
    return "Must" if point.polarity == "weakness" and point.severity in ("fatal", "major") else "Should"


def _items(points: Iterable[ReviewPoint]) -> Iterator[str]:
    for point in points:
        yield ""
        yield f"- [ ] {inline(readable(point.statement))} `{inline(point.id)}`"
        if place := _places(point):
            yield f"  - Where: {place}"
        if settled := _settled(point):
            yield f"  - {settled}"


def _places(point: ReviewPoint) -> str:
    places = [
        f"{inline(e.section) or inline(e.section_id)}{f', p. {e.page}' if e.page is not None else ''}"
        for e in point.evidence
        if e.status != "not_found"
    ]
    return "; ".join(dict.fromkeys(places))


def _settled(point: ReviewPoint) -> str:
    if point.correction is not None:
        printed, should_be = (inline(readable(text)) for text in (point.correction.printed, point.correction.should_be))
        return f"“{printed}” should be “{should_be}”" if point.correction.should_be not in point.statement else ""
    return f"Would settle it: {inline(readable(point.fix.what))}" if point.fix.what else ""


def _from_form(review: Review, form: VenueForm) -> Iterator[str]:
    yield ""
    apart = "few" if review.points else "no"
    yield f"This review keeps {apart} points apart from its form. What the form says against the paper:"
    found = False
    for field in form.fields:
        value = review.fields.get(field.name)
        against = any(word in f"{field.name} {title_of(field)}".lower() for word in _AGAINST)
        if field.kind == "text" and against and isinstance(value, str) and not is_empty(value):
            found = True
            yield from ("", f"## {inline(title_of(field))}", "", block(readable(value)))
    if not found:
        yield from ("", "Nothing.")
