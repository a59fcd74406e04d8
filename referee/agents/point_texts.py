"""A form's text fields from the points that stand in them: form changes, content does not."""

from __future__ import annotations

from collections.abc import Sequence

from referee.schemas.point import PointEvidence, ReviewPoint


def field_text(points: Sequence[ReviewPoint]) -> str:
    """One numbered paragraph a point, in the order given: claim, quotation with its place, what would settle it.

    Only quotations that are in the paper are printed. Empty for no points.
    """
    return "\n\n".join(f"{number}. {_paragraph(point)}" for number, point in enumerate(points, start=1))


def _paragraph(point: ReviewPoint) -> str:
    weight = f"[{point.severity}] " if point.polarity == "weakness" else ""
    doubt = " (No quotation was found for this.)" if point.unverified else ""
    quotes = "".join(f" {_quoted(e)}" for e in point.evidence if e.status != "not_found")
    settle = f" Would be settled by: {point.fix.what}" if point.fix.what and point.fix.kind != "none" else ""
    return f"{weight}{point.claim}{quotes}{doubt}{settle}"


def _quoted(evidence: PointEvidence) -> str:
    page = f", p. {evidence.page}" if evidence.page else ""
    return f"“{evidence.quote}” ({evidence.section}{page})"
