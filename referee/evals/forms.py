"""The form a review was written for: its own venue's, else the one that was given for all."""

from __future__ import annotations

from referee.errors import VenueError
from referee.schemas.case import ReviewCase
from referee.schemas.venue import VenueForm
from referee.venues import load_venue
from referee.venues.files import SUFFIXES


class Forms:
    """Forms by the venue that reviews name; each is read once.

    Names come from data, so they are only ever looked up as ids, never opened as files.
    """

    def __init__(self, default: VenueForm | None = None) -> None:
        self._default = default
        self._known: dict[str, VenueForm | None] = {}

    def of(self, case: ReviewCase) -> VenueForm | None:
        """The form; None where the review names no known venue and none was given."""
        return self._named(case.venue) or self._default

    def why_none(self, case: ReviewCase) -> str:
        """Why there is none, and what helps."""
        named = f"names the venue {case.venue!r}, which is unknown" if case.venue else "names no venue"
        return f"the review {named}; give its form with --venue"

    def _named(self, venue: str | None) -> VenueForm | None:
        if not venue:
            return None
        if venue not in self._known:
            self._known[venue] = _by_id(venue)
        return self._known[venue]


def _by_id(name: str) -> VenueForm | None:
    venue = name.strip().lower()
    if "/" in venue or "\\" in venue or venue.endswith(SUFFIXES):
        return None
    try:
        return load_venue(venue)
    except VenueError:
        return None
