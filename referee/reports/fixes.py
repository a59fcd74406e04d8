"""``fixes.md``: what an author works off: the list of a review's points as boxes to tick, without its merits."""

from __future__ import annotations

from collections.abc import Iterator

from referee.evidence.listing import BY_RULES, details, how_tested, in_list, numbers, opening
from referee.reports.formulas import readable
from referee.reports.markdown_text import inline
from referee.reports.values import on_form
from referee.schemas.paper_cut import cut_line
from referee.schemas.point import ReviewPoint
from referee.schemas.review import Review
from referee.schemas.venue import VenueForm

_GROUPS = {
    "Must": "The main reasons of the review.",
    "Should": "Material weaknesses, and those whose weight nobody named.",
    "Could": "Small weaknesses, corrections and questions.",
    BY_RULES: "Look these up first: rules read the paper literally.",
}


def render_fixes(review: Review, form: VenueForm) -> str:
    """A Markdown list of boxes to tick, with the numbers and words that the points have in every output.

    Raises:
        DataError: The review is not on this form.
    """
    review = on_form(review, form)
    lines = [f"# What to mend: {inline(readable(review.paper_title)) or 'untitled paper'}", "", *_head(review, form)]
    points = in_list(review)
    for name, meaning in _GROUPS.items():
        chosen = [point for point in points if _group(point, review) == name]
        if name == BY_RULES and not chosen:
            continue
        lines += ["", f"## {name} ({len(chosen)})", "", meaning if chosen else "Nothing."]
        for point in chosen:
            lines += ["", f"- [ ] {inline(readable(opening(point)))}"]
            lines += [f"  - {inline(readable(line))}" for line in details(point)]
    if text := how_tested(review):
        lines += ["", text]
    if merits := numbers(point.number for point in points if point.heading == "merit"):
        lines += ["", f"Merits ask for nothing and are not in this list: {merits}."]
    return "\n".join(lines) + "\n"


def _head(review: Review, form: VenueForm) -> Iterator[str]:
    if review.provenance is not None and review.provenance.cut is not None:
        yield f"**{inline(cut_line(review.provenance.cut))}**"
        yield ""
    yield f"From the review for {inline(form.name)} by {inline(review.source)}. Where a point is wrong, leave it;"
    yield "`referee show` and report.html have each point's quotations and check by its number."


def _group(point: ReviewPoint, review: Review) -> str:
    """Empty for a merit, which asks for nothing."""
    if point.heading == "merit":
        return ""
    if review.trial is not None and point.source == "rule":
        return BY_RULES
    if point.heading == "main reason":
        return "Must"
    return "Should" if point.heading == "weakness" and point.weight != "small" else "Could"
