"""The form a review was written for: its own venue's, else the one that was given for all."""

from __future__ import annotations

from referee.schemas.case import ReviewCase
from referee.schemas.venue import VenueForm
from referee.venues.names import VenueForms


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
