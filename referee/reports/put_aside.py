"""What a review put aside: points that do not stand and quotations that are not in the paper, each with its reason."""

from __future__ import annotations

from collections.abc import Iterator

from referee.reports.plain import one_line
from referee.schemas.point import ReviewPoint
from referee.schemas.review import Review

_TITLES = {"merged_into": "Joined with others", "struck": "Struck by the check", "dropped": "Dropped"}


def put_aside(review: Review) -> Iterator[tuple[str, list[ReviewPoint]]]:
    """Points that are not in the list, under what became of them; a heading without points is left out."""
    for outcome, title in _TITLES.items():
        if chosen := [point for point in review.points if point.outcome == outcome]:
            yield title, chosen


def why(point: ReviewPoint, review: Review) -> str:
    """The reason why a point is not in the list; for a joined one also which point took it over."""
    target = next((other.number for other in review.points if other.id == point.merged_into), 0)
    joined = f"see point {target}" if target else ""
    return "; ".join(filter(None, (one_line(point.reason), joined))) or "no reason recorded"


def counted(review: Review) -> str:
    """How many points and quotations were put aside, in one line; empty for none."""
    counts = [f"{len(points)} {title.lower()}" for title, points in put_aside(review)]
    lost = len(review.dropped) + sum(e.status == "not_found" for p in review.points if p.number for e in p.evidence)
    counts += [f"{lost} quotation{'s' if lost > 1 else ''} not found in the paper"] if lost else []
    return f"Put aside: {'; '.join(counts)}. `referee show RUN --dropped` names each with its reason." if counts else ""
