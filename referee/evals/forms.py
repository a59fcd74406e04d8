"""The form that each review of a set was written for, and its boxes that AI and human reviews both fill."""

from __future__ import annotations

from collections import defaultdict

from referee.schemas.case import ReviewCase
from referee.schemas.venue import VenueForm
from referee.venues.names import VenueForms

_NOTHING = frozenset({"", "none", "n/a", "na", "nil", "nothing", "no", "not applicable", "see above", "same as above"})


def says_nothing(text: str) -> bool:
    """Whether a box's text is a placeholder such as ``N/A``."""
    return text.strip(" \t\n.-*_").casefold() in _NOTHING


class FilledBoxes:
    """Gathers what is filled in, by venue and side."""

    def __init__(self) -> None:
        self._filled: dict[tuple[str | None, str], set[str]] = defaultdict(set)

    def add(self, case: ReviewCase) -> None:
        """Note a review's boxes; its rating and confidence count under these names."""
        held = {"rating": case.rating, "confidence": case.confidence, **case.fields}
        # A 0 stands for "not given" in systems that fill in a recommendation only.
        self._filled[case.venue, case.kind] |= {
            name for name, value in held.items() if value and not says_nothing(str(value))
        }

    def common(self, venue: str | None) -> frozenset[str] | None:
        """The boxes that both sides fill in some review of the venue; None where one side has no review."""
        sides = [self._filled.get((venue, kind)) for kind in ("human", "ai")]
        if sides[0] is None or sides[1] is None:
            return None
        return frozenset(sides[0] & sides[1])


class Forms:
    """Forms by the venue that reviews name, as ``VenueForms`` finds them."""

    def __init__(self, default: VenueForm | None = None) -> None:
        self._known = VenueForms(default)

    def of(self, case: ReviewCase) -> VenueForm | None:
        """The form; None where the review names no known venue and none was given."""
        return self._known.place(case.venue, case.year).form

    def why_none(self, case: ReviewCase) -> str:
        """Why there is none, and what helps."""
        named = f"names the venue {case.venue!r}, which is unknown" if case.venue else "names no venue"
        return f"the review {named}; give its form with --venue"
