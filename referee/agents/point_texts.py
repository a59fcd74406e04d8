"""A correction in one line, as the claim of its point."""

from __future__ import annotations

from referee.schemas.point import Correction


def correction_line(correction: Correction) -> str:
    """A correction in one line: place, what is printed, what it should be, why."""
    place = f"{correction.place.strip()}: " if correction.place.strip() else ""
    why = f" ({correction.why.strip().rstrip('.')})" if correction.why.strip() else ""
    return f"{place}“{correction.printed.strip()}” should be “{correction.should_be.strip()}”{why}"
