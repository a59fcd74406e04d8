"""What follows from an audit of a review: which points fall, which are narrowed, and how much each weighs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from referee.evidence.points import capped, is_live, noted, removed
from referee.evidence.quotations import NotFound, QuotationIndex
from referee.schemas.point import SEVERITIES, PointCheck, PointEvidence, ReviewPoint, Severity

MOST_REFUTED = 0.5
"""A reader that strikes more than this share of the criticism is not believed; of fewer than four points it may."""
_FEW = 4


What = Literal["refute", "narrow", "weigh", "omit"]


@dataclass(frozen=True)
class Change:
    """What a reader would do to one point.

    ``argument`` is that of a narrowed claim, null where it stays. ``only_less``: the reader may take away and not raise
    a severity.
    """

    id: str
    what: What
    claim: str = ""
    argument: str | None = None
    quote: str = ""
    repeats: str = ""
    against: str = ""
    severity: Severity = "minor"
    reason: str = ""
    only_less: bool = False


def settle_audit(
    points: Sequence[ReviewPoint], changes: Iterable[Change], index: QuotationIndex, by: str
) -> tuple[list[ReviewPoint], tuple[str, ...]]:
    """The points after their audit, and what was not believed of it.

    A point falls with the passage that refutes it, with the point that says the same, or with one that says the
    opposite and stands; with reasons alone, however often they are given, it becomes undecided and stays, and says so.
    A point that the reader would not change was checked. Only what weighs little is omitted. A reader who refutes more
    than half of what is criticised is believed in nothing that it refutes.

    Args:
        points: All of the review's points.
        changes: What the reader would change.
        index: The paper, in which passages are looked up.
        by: Who read: the model.
    """
    own: dict[str, list[Change]] = {}
    changes = list(changes)
    live = {point.id for point in points if is_live(point)}
    criticism = [point for point in points if point.id in live and point.polarity != "strength"]
    struck = {change.id for change in changes if change.what == "refute" and not change.repeats} & live
    unbelieved = len(criticism) >= _FEW and len(struck) > MOST_REFUTED * len(criticism)
    for change in changes:
        if not (unbelieved and change.what == "refute" and not change.repeats):
            own.setdefault(change.id, []).append(change)
    standing = live - struck
    settled = {point.id: _settled(point, own.get(point.id, []), standing, index, by) for point in points}
    for change in changes:  # of two points that repeat each other one stays
        repeated, repeating = settled.get(change.repeats), settled.get(change.id)
        if repeated and repeating and change.id != change.repeats and is_live(repeated) and is_live(repeating):
            settled |= {point.id: point for point in _joined(repeated, repeating)}
    notes = (f"{len(struck)} of {len(criticism)} points were refuted by one reading, which was not believed",)
    return list(settled.values()), notes if unbelieved else ()


def ranked(points: Sequence[ReviewPoint], first: Sequence[str]) -> list[ReviewPoint]:
    """The points with those first that a reader names by id, in its order; the rest as they were."""
    places = {id: place for place, id in enumerate(first)}
    return sorted(points, key=lambda point: places.get(point.id, len(first)))


def _joined(kept: ReviewPoint, repeating: ReviewPoint) -> tuple[ReviewPoint, ReviewPoint]:
    """Both, of which the first takes over what the second rests on."""
    taken = {
        "evidence": tuple(dict.fromkeys([*kept.evidence, *repeating.evidence])),
        "merged_from": tuple(sorted({*kept.merged_from, repeating.id, *repeating.merged_from})),
    }
    gone = repeating.model_copy(update={"outcome": "merged_into", "merged_into": kept.id, "field": None})
    return kept.model_copy(update=taken), noted(gone, f"says the same as {kept.id}")


def _settled(
    point: ReviewPoint, changes: Sequence[Change], standing: Collection[str], index: QuotationIndex, by: str
) -> ReviewPoint:
    changes = [change for change in changes if not change.repeats]
    if not is_live(point):
        return point
    if not changes:
        return point if point.check is not None else _checked(point, PointCheck(verdict="stands", by=by))
    refuted = [change for change in changes if change.what == "refute"]
    passages = tuple(filter(None, (_passage(change, index) for change in refuted)))
    if passages or any(change.against in standing for change in refuted):
        check = PointCheck(verdict="refuted", by=by, reason=refuted[0].reason, passages=passages)
        return removed(_checked(point, check), "struck", f"refuted: {refuted[0].reason}")
    omitted = next((change for change in changes if change.what == "omit"), None)
    if omitted is not None and point.severity == "minor" and point.correction is None:
        return removed(point, "dropped", f"not worth the reader's time: {omitted.reason}")
    narrowed = next((change for change in changes if change.what == "narrow" and change.claim.strip()), None)
    if narrowed is not None:
        claim = " ".join(narrowed.claim.split())
        if claim == " ".join(point.claim.split()):
            claim = ""
        point = _checked(
            point,
            PointCheck(
                verdict="weakened" if claim else "stands",
                narrowed=claim,
                by=by,
                reason=narrowed.reason,
                passages=tuple(filter(None, [_passage(narrowed, index)])),
            ),
        )
        if narrowed.argument is not None and narrowed.argument.strip() != point.argument:
            was = f"its argument was: “{point.argument}”" if point.argument else ""
            point = noted(point.model_copy(update={"argument": narrowed.argument.strip()}), was)
    elif refuted:
        point = _checked(point, PointCheck(verdict="undecidable", by=by, reason=refuted[0].reason))
        point = capped(point, "minor", "a reading refutes it, without a passage of the paper")
    elif point.check is None:
        point = _checked(point, PointCheck(verdict="stands", by=by))
    weights = [change for change in changes if change.what in ("narrow", "weigh") and change.severity != point.severity]
    return _weighed(point, weights[0]) if weights else point


def _weighed(point: ReviewPoint, change: Change) -> ReviewPoint:
    lower = SEVERITIES.index(change.severity) > SEVERITIES.index(point.severity)
    if change.only_less and not lower:
        return point
    return noted(point.model_copy(update={"severity": change.severity}), change.reason or "weighed anew by the audit")


def _checked(point: ReviewPoint, check: PointCheck) -> ReviewPoint:
    return point.model_copy(update={"check": check})


def _passage(change: Change, index: QuotationIndex) -> PointEvidence | None:
    if not change.quote.strip():
        return None
    found = index.equation(change.quote) or index.unnumbered(change.quote) or index.find(change.quote)
    return None if isinstance(found, NotFound) else PointEvidence(**dict(found), role="contradicts")
