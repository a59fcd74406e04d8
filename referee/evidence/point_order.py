"""The order of points and what of them the form shows: severity, then what the check said, then how much is quoted.

The first rank of a model's own list holds few of its finds, so the order in which points were raised never counts.
"""

from __future__ import annotations

from collections.abc import Iterable

from referee.evidence.point_changes import is_live, noted
from referee.evidence.point_fields import field_for
from referee.schemas.point import SEVERITIES, ReviewPoint
from referee.schemas.venue import VenueForm

_VERDICTS = ("stands", "weakened", "unchecked", "undecidable", "refuted")


def order_points(points: Iterable[ReviewPoint]) -> list[ReviewPoint]:
    """Points by severity, check verdict (unchecked after weakened), number of verified quotations (most first), id."""
    return sorted(points, key=_rank)


def check_order(points: Iterable[ReviewPoint]) -> list[ReviewPoint]:
    """Points that no check has settled, in the order in which checks are spent: fatal, major, absences, the rest.

    Merits are not among them: they need a place, not a refutation.
    """
    open_points = [p for p in points if is_live(p) and p.check is None and p.polarity != "strength"]
    return sorted(open_points, key=lambda point: (_check_class(point), _rank(point)))


def place_points(points: Iterable[ReviewPoint], form: VenueForm) -> list[ReviewPoint]:
    """Give every point that is still in play its one field: all that stands is printed.

    Args:
        points: All points; merged, struck and dropped ones pass through.
        form: The venue's form.

    Returns:
        All points in ``order_points`` order, those in play ``printed`` with a field, or ``listed`` with the reason
        where the form has no text field for them.
    """
    return [_placed(point, form) if is_live(point) else point for point in order_points(points)]


def _placed(point: ReviewPoint, form: VenueForm) -> ReviewPoint:
    name = field_for(point, form)
    if name is None:
        listed = point.model_copy(update={"outcome": "listed", "field": None})
        return noted(listed, "the form has no text field for it")
    return point.model_copy(update={"outcome": "printed", "field": name})


def _rank(point: ReviewPoint) -> tuple[int, int, int, str]:
    verdict = point.check.verdict if point.check is not None else "unchecked"
    return SEVERITIES.index(point.severity), _VERDICTS.index(verdict), -point.verified_quotes, point.id


def _check_class(point: ReviewPoint) -> int:
    if point.severity in ("fatal", "major"):
        return SEVERITIES.index(point.severity)
    return 2 if point.absence is not None else 3
