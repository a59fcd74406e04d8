"""Points that say the same become one, and every point that was raised is accounted for.

Points that say the same become one: evidence is moved, no claim is rewritten, nothing is lost.

Models that merge lose finds and reword what they keep; so code merges, by rules that do not depend on the order in
which points came in.

Every point that was raised is accounted for: printed, listed, merged, struck or dropped, once, with its reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from pydantic import Field

from referee.errors import RefereeError
from referee.evidence.points import is_live, noted
from referee.evidence.rules.labels import labels_in
from referee.schemas.base import Frozen
from referee.schemas.point import SEVERITIES, ReviewPoint

SIMILAR = 0.85
"""Similarity of two claims from which on they say the same."""


def merge_points(
    points: Sequence[ReviewPoint],
    *,
    similar: Callable[[str, str], float],
    duplicates: Sequence[tuple[str, str]] = (),
) -> list[ReviewPoint]:
    """Merge points of one polarity that say the same.

    Two points are the same where their claims are similar or they are named as duplicates, and they come from two
    replies: who raises two points in one breath means two. Similar claims about different tables, figures or sections
    are not the same, nor are two hits of rules. That they quote the same sentence says nothing: several
    defects of one key sentence are what a good reviewer raises. Groups are closed under this relation. The member with
    the most verified quotations (then the most severe one, then the first id) keeps its words and takes over all
    evidence and criteria. It is as severe as the most severe member that has as much right to it: one with a verified
    quotation, or any where none has.

    Args:
        points: With unique ids; only points that are still in play take part.
        similar: Similarity of two claims in [0, 1].
        duplicates: Pairs of ids that a reader of all points calls the same; unknown ids are ignored.

    Returns:
        All points sorted by id. Those merged away have ``merged_into`` and the outcome of that name. A second call
        with the same arguments changes nothing.

    Raises:
        ValueError: Two points share an id.
    """
    known = {point.id: point for point in sorted(points, key=lambda point: point.id)}
    if len(known) != len(points):
        raise ValueError("two points share an id")
    relation = _Relation(similar, duplicates)
    while True:
        groups = _groups(known, relation)
        if not groups:
            return list(known.values())
        for group in groups:
            known.update((point.id, point) for point in _merged(group))


class _Relation:
    """Whether two points say the same; similarities are asked for once."""

    def __init__(self, similar: Callable[[str, str], float], duplicates: Iterable[tuple[str, str]]) -> None:
        self._similar = similar
        self._pairs = tuple(duplicates)
        self._known: dict[tuple[str, str], bool] = {}

    def named(self, points: dict[str, ReviewPoint]) -> frozenset[frozenset[str]]:
        """The duplicate pairs, each id replaced by the point that took its evidence over."""
        return frozenset(
            frozenset((_survivor(a, points), _survivor(b, points)))
            for a, b in self._pairs
            if a in points and b in points
        )

    def same(self, a: ReviewPoint, b: ReviewPoint, named: bool) -> bool:
        return a.polarity == b.polarity and (named or self._alike(a, b))

    def _alike(self, a: ReviewPoint, b: ReviewPoint) -> bool:
        if a.source == b.source == "rule" or labels_in(a.claim) != labels_in(b.claim):
            return False  # each hit of a rule is its own, and claims about different tables differ in a number alone
        pair = (a.id, b.id)
        if pair not in self._known:
            self._known[pair] = self._similar(a.claim, b.claim) >= SIMILAR
        return self._known[pair]


def _survivor(point_id: str, points: dict[str, ReviewPoint]) -> str:
    seen = {point_id}
    while (target := points[point_id].merged_into) is not None and target in points and target not in seen:
        seen.add(target)
        point_id = target
    return point_id


def _groups(points: dict[str, ReviewPoint], relation: _Relation) -> list[list[ReviewPoint]]:
    """Connected components of more than one point, in the order of their first ids; none holds a reply twice."""
    live = [point for point in points.values() if is_live(point)]
    named = relation.named(points)
    root = {point.id: point.id for point in live}
    replies = {point.id: {point.call_id} - {""} for point in live}
    for a, b in combinations(live, 2):
        first, second = root[a.id], root[b.id]
        if first == second or replies[first] & replies[second]:
            continue
        if relation.same(a, b, frozenset((a.id, b.id)) in named):
            root = {key: first if value == second else value for key, value in root.items()}
            replies[first] |= replies[second]
    groups: dict[str, list[ReviewPoint]] = {}
    for point in live:
        groups.setdefault(root[point.id], []).append(point)
    return [group for group in groups.values() if len(group) > 1]


def _merged(group: list[ReviewPoint]) -> list[ReviewPoint]:
    """The members, of which the best-evidenced one takes over what the others bring."""
    best, *others = sorted(group, key=lambda p: (-p.verified_quotes, SEVERITIES.index(p.severity), p.id))
    entitled = [p for p in group if p.verified_quotes] or group
    worst = min(entitled, key=lambda p: (SEVERITIES.index(p.severity), SEVERITIES.index(p.raised_severity), p.id))
    raised = min(best.raised_severity, worst.raised_severity, key=SEVERITIES.index)
    taken = {
        "evidence": tuple(dict.fromkeys(e for member in (best, *others) for e in member.evidence)),
        "criterion": tuple(dict.fromkeys(c for member in (best, *others) for c in member.criterion)),
        "merged_from": tuple(sorted({*best.merged_from, *(i for p in others for i in (p.id, *p.merged_from))})),
        "severity": worst.severity,
        "raised_severity": raised,
    }
    kept = best.model_copy(update=taken)
    if worst.severity != best.severity:
        kept = noted(kept, f"as severe as {worst.id}, which says the same")
    gone = {"outcome": "merged_into", "merged_into": best.id, "field": None}
    return [kept, *(noted(p.model_copy(update=gone), f"says the same as {best.id}") for p in others)]


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


def check_conservation(raised_ids: Sequence[str], points: Sequence[ReviewPoint]) -> Conservation:
    """Assert that no point was lost, doubled or left without a reason.

    Args:
        raised_ids: The id of every point that any section, pass or rule raised.
        points: The points at the end of the run.

    Returns:
        The counts, which add up.

    Raises:
        PointsLost: An id is missing, new or there twice; a printed point stands in no field, another one in any; a
            merged one's evidence is not with the point that took it over; an outcome has no reason.
    """
    problems = [
        *_ids_differ(raised_ids, points),
        *(problem for point in points for problem in _outcome_unclear(point)),
        *_merges_lost(points),
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
