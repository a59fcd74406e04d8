"""A correction in one line, for prompts and as the claim of its point."""

from __future__ import annotations

from referee.schemas.point import Correction, ReviewPoint


def correction_line(correction: Correction) -> str:
    """A correction in one line: place, what is printed, what it should be, why."""
    place = f"{correction.place.strip()}: " if correction.place.strip() else ""
    why = f" ({correction.why.strip().rstrip('.')})" if correction.why.strip() else ""
    return f"{place}“{correction.printed.strip()}” should be “{correction.should_be.strip()}”{why}"


def correction_head(point: ReviewPoint) -> str:
    """A correction without its reason: place, what is printed, what it should be."""
    if point.correction is None or point.statement != point.claim:
        return " ".join(point.statement.split())
    return correction_line(point.correction.model_copy(update={"why": ""}))
