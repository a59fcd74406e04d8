"""Where a venue's submissions lie on OpenReview, and whether their reviews are public: data beside the forms."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from referee.errors import VenueError
from referee.nearest import nearest
from referee.schemas.base import Frozen
from referee.schemas.venue import FactConfidence

_FILE = Path(__file__).with_name("openreview.toml")


class OpenReviewVenue(Frozen):
    """A venue-year on OpenReview. ``submissions`` are invitations; empty where ``reviews`` is ``none``.

    ``reviews`` says whose are public: those of ``all`` submissions, of ``accepted`` ones, of these and of rejected ones
    whose authors chose so (``opt-in``), or of ``none``.
    """

    id: str
    api: Literal[1, 2] = 2
    submissions: tuple[str, ...] = ()
    reviews: Literal["all", "accepted", "opt-in", "none"]
    confidence: FactConfidence
    note: str = Field(default="", description="one sentence")

    @model_validator(mode="after")
    def _check(self) -> OpenReviewVenue:
        if bool(self.submissions) == (self.reviews == "none"):
            raise ValueError(f"{self.id!r} names invitations of submissions exactly where reviews are public")
        return self

    @property
    def conference(self) -> str:
        """The id without the year."""
        return self.id.rsplit("-", 1)[0] if self.id[-4:].isdecimal() else self.id


@cache
def openreview_venues() -> dict[str, OpenReviewVenue]:
    """All that are known, by id, those without public reviews among them."""
    data = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {name: OpenReviewVenue.model_validate({"id": name, **entry}) for name, entry in data.items()}


def load_openreview_venue(venue_id: str) -> OpenReviewVenue:
    """The venue of that id, whose reviews are public.

    Raises:
        VenueError: It is unknown on OpenReview, with the nearest ids; or its reviews are not public, with the years of
            which they are.
    """
    known = openreview_venues()
    if venue_id not in known:
        raise _unknown(venue_id)
    venue = known[venue_id]
    if venue.reviews == "none":
        raise VenueError(
            f"the reviews of {venue_id!r} are not public: {venue.note[:1].lower()}{venue.note[1:]}",
            hint=_instead(venue),
            ids={"venue": venue_id},
        )
    return venue


def _instead(venue: OpenReviewVenue) -> str:
    public = sorted(one.id for one in openreview_venues().values() if one.reviews != "none")
    same = [name for name in public if openreview_venues()[name].conference == venue.conference]
    if same:
        return f"Public reviews of {venue.conference} are those of {', '.join(same)}."
    return f"No year of it has public reviews; these do: {', '.join(public)}."


def _unknown(venue_id: str) -> VenueError:
    known, wanted = openreview_venues(), venue_id.strip().lower()
    starts = [name for name in known if wanted and (name.startswith(wanted) or wanted.startswith(name))]
    near = nearest(wanted, known, most=3)
    offer = list(dict.fromkeys([*near, *starts]))[:5] if wanted not in known else [wanted]
    return VenueError(
        f"venue {venue_id!r} is not among those that can be collected from OpenReview.",
        hint=f"Did you mean {' or '.join(map(repr, offer))}?" if offer else f"There are: {', '.join(sorted(known))}.",
        ids={"venue": venue_id},
    )
