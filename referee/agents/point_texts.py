"""A form's text fields from the points that stand in them: form changes, content does not."""

from __future__ import annotations

from collections.abc import Sequence

from referee.schemas.point import PointEvidence, ReviewPoint


def field_text(points: Sequence[ReviewPoint]) -> str:
    """One numbered paragraph a point, in the order given: claim, quotation with its place, what would settle it.

    Only quotations that are in the paper are printed. Empty for no points.
    """
    return "\n\n".join(f"{number}. {_paragraph(point)}" for number, point in enumerate(points, start=1))


def correction_text(point: ReviewPoint) -> str:
    """A correction in one line, as the check left it."""
    return " ".join(point.statement.split()) + ("" if _is_checked(point) else " (unchecked)")


def _paragraph(point: ReviewPoint) -> str:
    weight = f"[{point.severity}] " if point.polarity == "weakness" else ""
    said = [f"{weight}{_worded(point)}", point.argument]
    said += [_quoted(e) for e in point.evidence if e.status != "not_found"]
    said += ["(No quotation was found for this.)"] if point.unverified else []
    said += ["(The authors concede it.)"] if point.check is not None and point.check.conceded else []
    said += [f"Would be settled by: {point.fix.what}"] if point.fix.what and point.fix.kind != "none" else []
    return " ".join(filter(None, said))


def _worded(point: ReviewPoint) -> str:
    """The statement; as a question where it is one."""
    statement = point.statement
    if point.polarity != "question" or statement.rstrip().endswith("?"):
        return statement
    return f"Could the authors say whether this holds: {statement.rstrip().rstrip('.')}?"


def _is_checked(point: ReviewPoint) -> bool:
    return point.source == "rule" or (point.check is not None and point.check.verdict != "unchecked")


def _quoted(evidence: PointEvidence) -> str:
    page = f", p. {evidence.page}" if evidence.page else ""
    return f"“{evidence.quote}” ({evidence.section}{page})"
