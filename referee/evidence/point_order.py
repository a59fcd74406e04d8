"""The order of points and what of them the form shows: severity, then what the check said, then how much is quoted.

The first rank of a model's own list holds few of its finds, so the order in which points were raised never counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from referee.evidence.point_changes import is_live, noted
from referee.evidence.point_fields import SIDE_ROLES, field_for, field_roles
from referee.schemas.point import SEVERITIES, ReviewPoint
from referee.schemas.venue import VenueForm

LESSER_LIMIT = 5
"""Points below major that a field shows of each side, praise and criticism: a limit of display, not a quota."""

_VERDICTS = ("stands", "weakened", "unchecked", "undecidable", "refuted")


def order_points(points: Iterable[ReviewPoint]) -> list[ReviewPoint]:
    """Points by severity, check verdict (unchecked after weakened), number of verified quotations (most first), id."""
    return sorted(points, key=_rank)


def check_order(points: Iterable[ReviewPoint]) -> list[ReviewPoint]:
    """Points that no check has settled, in the order in which checks are spent: fatal, major, absences, the rest."""
    open_points = [point for point in points if is_live(point) and point.check is None]
    return sorted(open_points, key=lambda point: (_check_class(point), _rank(point)))


def place_points(
    points: Iterable[ReviewPoint], form: VenueForm, *, lesser_limit: int | None = LESSER_LIMIT
) -> list[ReviewPoint]:
    """Give every point that is still in play its one field, or list it among the smaller points.

    A field shows all its fatal and major points and at most ``lesser_limit`` of the others, praise and criticism
    counted apart, so that neither crowds the other out of a shared box. Notes are shown only in boxes for remarks,
    requested changes or presentation.

    Args:
        points: All points; merged, struck and dropped ones pass through.
        form: The venue's form.
        lesser_limit: Null shows everything.

    Returns:
        All points in ``order_points`` order, those in play ``printed`` with a field or ``listed`` with the reason.
    """
    roles = {field.name: field_roles(field) for field in form.reviewer_fields}
    side = {name for name, found in roles.items() if found and found <= SIDE_ROLES}
    shown: Counter[tuple[str, bool]] = Counter()
    placed: list[ReviewPoint] = []
    for point in order_points(points):
        name = field_for(point, form) if is_live(point) else None
        if not is_live(point):
            placed.append(point)
        elif name is None:
            placed.append(_listed(point, "the form has no text field for it"))
        elif point.severity in ("fatal", "major") or lesser_limit is None:
            placed.append(_printed(point, name))
        elif point.severity == "note" and name not in side:
            placed.append(_listed(point, "a note, listed among the smaller points"))
        elif shown[name, point.polarity == "strength"] >= lesser_limit:
            placed.append(_listed(point, f"{name!r} shows {lesser_limit} smaller points, this is a further one"))
        else:
            shown[name, point.polarity == "strength"] += 1
            placed.append(_printed(point, name))
    return placed


def _rank(point: ReviewPoint) -> tuple[int, int, int, str]:
    verdict = point.check.verdict if point.check is not None else "unchecked"
    return SEVERITIES.index(point.severity), _VERDICTS.index(verdict), -point.verified_quotes, point.id


def _check_class(point: ReviewPoint) -> int:
    if point.severity in ("fatal", "major"):
        return SEVERITIES.index(point.severity)
    return 2 if point.absence is not None else 3


def _printed(point: ReviewPoint, name: str) -> ReviewPoint:
    return point.model_copy(update={"outcome": "printed", "field": name})


def _listed(point: ReviewPoint, reason: str) -> ReviewPoint:
    return noted(point.model_copy(update={"outcome": "listed", "field": None}), reason)
