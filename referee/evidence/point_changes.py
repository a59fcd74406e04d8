"""The few things that may happen to a point of a review. Each change leaves its reason."""

from __future__ import annotations

from referee.schemas.point import SEVERITIES, PointEvidence, ReviewPoint, Severity

LIVE = frozenset({"printed", "listed"})
"""Outcomes of points that are still in play; the others are final."""


def is_live(point: ReviewPoint) -> bool:
    """Whether a point is still in play: not merged away, struck or dropped."""
    return point.outcome in LIVE


def noted(point: ReviewPoint, reason: str) -> ReviewPoint:
    """The point with one more reason, each said once, in the order in which they arose."""
    if reason in point.reason:
        return point
    return point.model_copy(update={"reason": f"{point.reason}; {reason}" if point.reason else reason})


def capped(point: ReviewPoint, highest: Severity, reason: str) -> ReviewPoint:
    """The point no more severe than ``highest``; the reason is noted only where that changes something."""
    if SEVERITIES.index(point.severity) >= SEVERITIES.index(highest):
        return point
    return noted(point.model_copy(update={"severity": highest}), reason)


def removed(point: ReviewPoint, outcome: str, reason: str) -> ReviewPoint:
    """The point with a final outcome (``struck`` or ``dropped``); it stands in no field of the form."""
    return noted(point.model_copy(update={"outcome": outcome, "field": None}), reason)


def asked(point: ReviewPoint, reason: str) -> ReviewPoint:
    """The point as a question. Praise cannot be asked, so a strength is dropped instead."""
    if point.polarity == "strength":
        return removed(point, "dropped", reason)
    return noted(point.model_copy(update={"polarity": "question"}), f"asked as a question: {reason}")


def cited(evidence: PointEvidence) -> str:
    """A quotation with its place, for a reason."""
    page = f", p. {evidence.page}" if evidence.page is not None else ""
    return f"“{evidence.quote}” ({evidence.section}{page})"
