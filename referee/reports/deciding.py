"""What decides a review: its gravest weaknesses, the same wherever they are named."""

from __future__ import annotations

from collections.abc import Iterable

from referee.schemas.point import SEVERITIES, ReviewPoint

MOST_DECIDING = 5
_POLARITIES = ("weakness", "question", "strength")


def by_weight(points: Iterable[ReviewPoint]) -> list[ReviewPoint]:
    """Weaknesses by weight, then questions, then strengths; else as they were raised."""
    return sorted(points, key=lambda point: (_POLARITIES.index(point.polarity), SEVERITIES.index(point.severity)))


def deciding(points: Iterable[ReviewPoint]) -> list[ReviewPoint]:
    """The fatal and major weaknesses that the form prints, the gravest first, five at most."""
    printed = (point for point in points if point.outcome == "printed" and point.polarity == "weakness")
    return by_weight(point for point in printed if point.severity in ("fatal", "major"))[:MOST_DECIDING]
