"""The points of a guideline, cut by code, and which of them a reviewer's steps still hold.

A point is one clause of the guideline, known by the stems of its content words. Steps cover it where one step, or two
that follow each other, hold at least half of these stems. The measure knows words and not meanings: a step that says
the same in other words covers nothing, and one that says the opposite covers the point.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from referee.evidence.stems import stem, stems
from referee.schemas.venue import Guideline

MOST_POINTS = 12
_CUT = re.compile(
    r"[.;:!?](?=\s|$)|[()\[\]•]|\n|,\s+(?:and|or|but|not)\b|,\s|\s(?:and|but|or)\s+(?:whether|asks?|says?|that|does|do)\s"
    r"|\s(?:whether|where|rather than)\s"
)
# What every guideline speaks of says nothing about which one it is.
_FILLER_LIST = (
    "review reviews reviewer reviewers reviewing paper papers submission submissions manuscript author authors section "
    "sections say says said state states judge judges ask asks give gives given come comes make makes consider see "
    "sees please whether should must need needs point points thing things well good regard regarded does way"
)
_FILLER = frozenset(stem(word) for word in _FILLER_LIST.split())


@dataclass(frozen=True)
class GuidelinePoint:
    """One clause of a guideline: its words, and the stems that tell it from others."""

    text: str
    stems: frozenset[str]


def guideline_points(guideline: Guideline) -> tuple[GuidelinePoint, ...]:
    """The clauses of a guideline's text, then those of the page's own words that the text does not hold.

    Returns:
        At most ``MOST_POINTS``, in their order, none of them a part of another. A text without any content word has
        none.
    """
    points: list[GuidelinePoint] = []
    for source in (guideline.text, guideline.words):
        known = [point.stems for point in points]
        for point in _without_parts(_clauses(source)):
            if not any(_overlap(point.stems, seen) for seen in known):
                points.append(point)
    return tuple(points[:MOST_POINTS])


def points_covered(steps: Sequence[str], guideline: Guideline) -> tuple[str, ...]:
    """The texts of those points of a guideline that a reviewer's steps hold, in the guideline's order."""
    shown = [frozenset(stems(step)) for step in steps]
    windows = [*shown, *(first | second for first, second in pairwise(shown))]
    return tuple(point.text for point in guideline_points(guideline) if any(_overlap(point.stems, w) for w in windows))


def points_lost(before: Sequence[str], after: Sequence[str], guideline: Guideline) -> tuple[str, ...]:
    """The points that the steps before cover and the steps after do not."""
    kept = points_covered(after, guideline)
    return tuple(point for point in points_covered(before, guideline) if point not in kept)


def _overlap(point: frozenset[str], words: frozenset[str]) -> bool:
    return 2 * len(point & words) >= len(point)


def _clauses(text: str) -> Iterator[GuidelinePoint]:
    for piece in _CUT.split(text):
        found = frozenset(stems(piece))
        if found - _FILLER:
            yield GuidelinePoint(" ".join(piece.split()), found - _FILLER)


def _without_parts(points: Iterable[GuidelinePoint]) -> list[GuidelinePoint]:
    """Without points whose words all stand in another; of equal ones the first stays."""
    kept: list[GuidelinePoint] = []
    for point in points:
        if any(point.stems <= other.stems for other in kept):
            continue
        kept = [other for other in kept if not other.stems < point.stems]
        kept.append(point)
    return kept
