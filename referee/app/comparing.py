"""Two reviews side by side: scores by field, and points with those that quote the same places."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from referee.api.resuming import begun_review
from referee.app.history import Run
from referee.evidence.listing import in_list, listed, tag
from referee.papers.pieces import squeeze
from referee.reports.formulas import readable
from referee.reports.plain import clean
from referee.reports.review_page import anchor, stored_review
from referee.reports.values import is_empty, labelled, title_of
from referee.schemas.point import ReviewPoint
from referee.schemas.review import Review
from referee.schemas.venue import VenueForm
from referee.venues import load_venue

_FEWEST_LETTERS = 20


def compared(two: Sequence[tuple[Run, Path]]) -> dict[str, Any]:
    """What the page of a comparison speaks of.

    A point is said to meet one of the other review where both quote the same words of the paper; whether they say the
    same of it is for the reader.

    Raises:
        RunError: A review is damaged or does not name its venue.
        VenueError: A venue is not known here.
    """
    (one, _), (other, _) = two
    forms = [load_venue(begun_review(folder).venue) for _, folder in two]
    first, second = (
        listed(stored_review(folder), form, stored=True) for (_, folder), form in zip(two, forms, strict=True)
    )
    scores = [_scores(review, form) for review, form in zip((first, second), forms, strict=True)]
    return {
        "runs": [
            (run, f"/runs/{quote(run.name)}/report", form.name) for (run, _), form in zip(two, forms, strict=True)
        ],
        "same_paper": first.paper_id == second.paper_id,
        "scores": [(title, *(score.get(title, "not on this form") for score in scores)) for title in _titles(scores)],
        "points": [_points(first, second), _points(second, first)],
        "costs": [one.cost or "nothing", other.cost or "nothing"],
    }


def _scores(review: Review, form: VenueForm) -> dict[str, str]:
    return {
        title_of(field): "not given" if is_empty(value := review.fields.get(field.name)) else labelled(field, value)
        for field in form.reviewer_fields
        if field.kind != "text"
    }


def _titles(scores: Sequence[dict[str, str]]) -> list[str]:
    return list(dict.fromkeys(title for score in scores for title in score))


def _points(review: Review, other: Review) -> list[tuple[str, str, str, bool]]:
    """Anchor, number with kind, statement and whether the other review quotes the same place; merits are left out."""
    places = [_places(point) for point in in_list(other)]
    return [
        (
            anchor(point),
            f"{point.number}. [{tag(point)}]",
            readable(clean(point.statement)),
            any(_meet(_places(point), theirs) for theirs in places),
        )
        for point in in_list(review)
        if point.heading != "merit"
    ]


def _places(point: ReviewPoint) -> list[str]:
    return [squeeze(evidence.quote) for evidence in point.evidence if evidence.status != "not_found"]


def _meet(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Whether one quotation lies within another; short ones may stand anywhere and say nothing."""
    return any(min(len(a), len(b)) >= _FEWEST_LETTERS and (a in b or b in a) for a in ours for b in theirs)
