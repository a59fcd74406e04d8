"""Names for points that do not say who raised them, for those who compare or test them."""

from __future__ import annotations

from collections.abc import Iterable

from referee.schemas.point import ReviewPoint


def neutral_ids(points: Iterable[ReviewPoint]) -> dict[str, ReviewPoint]:
    """``a1``, ``a2``, ... in an order that mixes the readers: by the place a point speaks of, then by its words."""
    ordered = sorted(points, key=lambda point: (_place(point), point.claim, point.id))
    return {f"a{number}": point for number, point in enumerate(ordered, start=1)}


def _place(point: ReviewPoint) -> tuple[int, str]:
    """The first place that it quotes, sections in the order of their ids."""
    name = next((evidence.section_id for evidence in point.evidence), point.section_id or "")
    digits = "".join(filter(str.isdigit, name))
    return int(digits) if digits else 10**6, name
