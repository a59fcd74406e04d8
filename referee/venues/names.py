"""From a conference's name in the data to the form it is: by id, by name and year, or by the platform's id."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from referee.schemas.venue import VenueForm
from referee.venues.registry import list_venues

_NAME_YEAR = re.compile(r"^(?P<name>.*?[A-Za-z].*?)[\s_-]*(?P<year>(?:19|20)\d{2})$")
_PLATFORM_YEAR = re.compile(r"^(?P<name>[^/]+)/(?P<year>(?:19|20)\d{2})/")
_NO_SLUG = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a review was given: the form, or the data's own name where no form is known.

    ``unknown`` is the data's own name where the form is one that was given for all reviews without a known one.
    """

    venue: str | None
    year: int | None
    form: VenueForm | None
    unknown: str = ""


class VenueForms:
    """The known forms, looked up by what data call them. Nothing near is taken: a name fits or it does not.

    Args:
        default: The form of reviews that name no known venue.
    """

    def __init__(self, default: VenueForm | None = None) -> None:
        self._default = default
        self._places: dict[tuple[str, int | None, str], Place] = {}

    @cached_property
    def _by_id(self) -> dict[str, VenueForm]:
        return {form.id: form for form in list_venues()}

    def place(self, conference: object, year: object = None, platform: str = "") -> Place:
        """The place of a review.

        Args:
            conference: The data's name of it: ``ICLR``, ``iclr-2020``, ``NeurIPS 2022``.
            year: The year, as a number or as digits.
            platform: The venue's id on OpenReview, ``ICLR.cc/2026/Conference``; where it is one form's, it decides.
        """
        key = (conference.strip() if isinstance(conference, str) else "", year_of(year), platform)
        if key not in self._places:
            found, default = self._find(*key), self._default
            if found.form is None and default is not None:
                found = Place(default.id, found.year or default.year, default, found.venue or "")
            self._places[key] = found
        return self._places[key]

    def _find(self, name: str, year: int | None, platform: str) -> Place:
        if platform:
            known = [f for f in self._by_id.values() if f.provenance.venue_id.casefold() == platform.casefold()]
            match = _PLATFORM_YEAR.match(platform)
            year = year or (int(match["year"]) if match else None)
            if len(known) == 1:
                return Place(known[0].id, known[0].year or year, known[0])
            if not name:
                return Place(platform, year, None)
        if year is None and name not in self._by_id and (match := _NAME_YEAR.match(name)):
            name, year = match["name"], int(match["year"])
        slug = _NO_SLUG.sub("-", name.lower()).strip("-")
        form = self._by_id.get(slug) or self._by_id.get(f"{slug}-{year}")
        if form is not None:
            return Place(form.id, form.year or year, form)
        return Place(name or None, year, None)


def year_of(year: object) -> int | None:
    """A year as data hold it, from a number or four digits; None where it is none from 1 to 9999."""
    if isinstance(year, bool):
        return None
    if isinstance(year, int | float):
        return int(year) if 1 <= year <= 9999 else None
    text = year.strip().removesuffix(".0") if isinstance(year, str) else ""
    return int(text) if text.isdecimal() and len(text) == 4 else None
