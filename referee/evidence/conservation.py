"""Every point that was raised is accounted for: printed, listed, merged, struck or dropped, once, with its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from pydantic import Field

from referee.errors import RefereeError
from referee.schemas.base import Frozen
from referee.schemas.point import ReviewPoint


class PointsLost(RefereeError):
    """The points of a review do not add up: a fault of the program, never of the paper or of a model."""


class Conservation(Frozen):
    """How many points were raised and what became of them; the five outcomes add up to ``raised``."""

    raised: int = Field(ge=0)
    printed: int = Field(ge=0)
    listed: int = Field(ge=0)
    merged_into: int = Field(ge=0)
    struck: int = Field(ge=0)
    dropped: int = Field(ge=0)


def check_conservation(
    raised_ids: Sequence[str], points: Sequence[ReviewPoint], *, fields: Mapping[str, Sequence[str]] | None = None
) -> Conservation:
    """Assert that no point was lost, doubled or left without a reason.

    Args:
        raised_ids: The id of every point that any section, pass or rule raised.
        points: The points at the end of the run.
        fields: Where given, the ids that the composed text of each form field carries.

    Returns:
        The counts, which add up.

    Raises:
        PointsLost: An id is missing, new or there twice; a printed point stands in no field or in several, another one
            in any; a merged one's evidence is not with the point that took it over; an outcome has no reason.
    """
    problems = [
        *_ids_differ(raised_ids, points),
        *(problem for point in points for problem in _outcome_unclear(point)),
        *_merges_lost(points),
        *(_fields_differ(fields, points) if fields is not None else ()),
    ]
    if problems:
        shown = "; ".join(problems[:5]) + (f"; and {len(problems) - 5} more" if len(problems) > 5 else "")
        raise PointsLost(f"the points of the review do not add up: {shown}", hint="This is a fault of the program.")
    counts = Counter(point.outcome for point in points)
    return Conservation(
        raised=len(raised_ids),
        printed=counts["printed"],
        listed=counts["listed"],
        merged_into=counts["merged_into"],
        struck=counts["struck"],
        dropped=counts["dropped"],
    )


def _ids_differ(raised_ids: Sequence[str], points: Sequence[ReviewPoint]) -> Iterator[str]:
    raised, kept = Counter(raised_ids), Counter(point.id for point in points)
    yield from (f"{key!r} was raised {n} times" for key, n in raised.items() if n > 1)
    yield from (f"{key!r} is there {n} times" for key, n in kept.items() if n > 1)
    yield from (f"{key!r} was raised and is gone" for key in raised if key not in kept)
    yield from (f"{key!r} was never raised" for key in kept if key not in raised)


def _outcome_unclear(point: ReviewPoint) -> Iterator[str]:
    if (point.outcome == "printed") != (point.field is not None):
        yield f"{point.id!r} is {point.outcome} with field {point.field!r}"
    if (point.outcome == "merged_into") != (point.merged_into is not None):
        yield f"{point.id!r} is {point.outcome} with merged_into {point.merged_into!r}"
    if point.outcome != "printed" and not point.reason:
        yield f"{point.id!r} is {point.outcome} without a reason"


def _merges_lost(points: Sequence[ReviewPoint]) -> Iterator[str]:
    known = {point.id: point for point in points}
    for point in points:
        if point.merged_into is None:
            continue
        target = known.get(point.merged_into)
        if target is None:
            yield f"{point.id!r} was merged into the unknown {point.merged_into!r}"
            continue
        if point.id not in target.merged_from:
            yield f"{target.id!r} does not name {point.id!r}, which was merged into it"
        if not {(e.quote, e.role) for e in point.evidence} <= {(e.quote, e.role) for e in target.evidence}:
            yield f"{target.id!r} lacks evidence of {point.id!r}, which was merged into it"
        if _in_cycle(point, known):
            yield f"{point.id!r} was merged in a circle"


def _in_cycle(point: ReviewPoint, known: Mapping[str, ReviewPoint]) -> bool:
    seen: set[str] = set()
    at: ReviewPoint | None = point
    while at is not None and at.merged_into is not None:
        if at.id in seen:
            return True
        seen.add(at.id)
        at = known.get(at.merged_into)
    return False


def _fields_differ(fields: Mapping[str, Sequence[str]], points: Sequence[ReviewPoint]) -> Iterator[str]:
    printed = {point.id: point.field for point in points if point.outcome == "printed"}
    places = Counter(key for ids in fields.values() for key in ids)
    yield from (f"{key!r} is printed {n} times" for key, n in places.items() if n > 1)
    yield from (f"{key!r} stands in a field and is not printed" for key in places if key not in printed)
    yield from (
        f"{key!r} is missing from {name!r}" for key, name in printed.items() if key not in fields.get(name or "", ())
    )
