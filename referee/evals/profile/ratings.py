"""Ratings and confidences as they come by: how each group's are spread over its form, and which can be averaged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from referee.evals.agreement import Scale, free_scale, histogram, scale_of
from referee.evals.agreement.scales import MOST_OUTSIDE, outside_share
from referee.evals.forms import Forms
from referee.evals.grouping import Group
from referee.evals.profile.result import Shares
from referee.schemas.case import ReviewCase
from referee.schemas.venue import VenueForm

What = Literal["rating", "confidence"]
WHATS: tuple[What, ...] = ("rating", "confidence")
NO_FORM = "no form"
SEVERAL = "several scales"
WRONG_FORM = "too many of people's numbers are no values of the form"
# One number off the form is a slip; a few are another form.
_SLIPS = 1


@dataclass(frozen=True, slots=True)
class NoScale:
    """Why a group's numbers have no mean and are compared with no other group's."""

    reason: str
    group: Group


class RatingBook:
    """Counts of ratings by group and form; nothing of a review is kept but its number.

    Args:
        rated_on: The form that AI reviews rated on, where the data do not say.
        venue: The form of reviews that name no known venue.
    """

    def __init__(self, *, rated_on: VenueForm | None = None, venue: VenueForm | None = None) -> None:
        self._rated_on = form_scale(rated_on, "rating") if rated_on is not None else None
        self._forms = Forms(venue)
        self._scales: dict[tuple[str, What], Scale | None] = {}
        self._counts: dict[tuple[Group, What, str], Counter[float | None]] = {}
        self._people: dict[tuple[str, What], Counter[float]] = {}
        self._human: set[tuple[Group, What, str]] = set()

    def add(self, group: Group, case: ReviewCase) -> None:
        """Count a review's rating and confidence."""
        form = case.venue or NO_FORM
        for what, value in (("rating", case.rating), ("confidence", case.confidence)):
            kind: What = "rating" if what == "rating" else "confidence"
            if (form, kind) not in self._scales:
                self._scales[form, kind] = self._scale(case, kind)
            if value is not None and case.kind == "human":
                self._people.setdefault((form, kind), Counter())[value] += 1
                self._human.add((group, kind, form))
            self._counts.setdefault((group, kind, form), Counter())[value] += 1

    @property
    def free(self) -> list[str]:
        """Forms that are unknown and have ratings: their scale is what was seen."""
        return sorted(
            {
                form
                for (_, what, form), counts in self._counts.items()
                if what == "rating" and self._scales[form, what] is None and any(v is not None for v in counts)
            }
        )

    def wrong(self) -> Iterator[tuple[str, What, str]]:
        """Forms of which more than one in a hundred of people's numbers, and more than one, are no values."""
        for (form, what), counts in sorted(self._people.items()):
            scale = self._scales[form, what]
            off = sum(count for value, count in counts.items() if scale is not None and not scale.offers(value))
            share = outside_share(scale, list(counts.elements())) if scale is not None and scale.known else None
            if share is not None and share > MOST_OUTSIDE and off > _SLIPS:
                yield form, what, f"{off:,} of {counts.total():,} of people's {what}s are no values of {form!r}"

    def scale(self, form: str, what: What = "rating") -> Scale | None:
        """The scale of a form: its own values, or those that were seen; None without any."""
        known = self._scales.get((form, what))
        if known is not None:
            return known
        seen = [value for (_, own, name), c in self._counts.items() if (own, name) == (what, form) for value in c]
        return free_scale(form, seen, what)

    def scales(self) -> Mapping[tuple[Group, str], object]:
        """What each group's numbers were given on, equal where two groups can be compared.

        Numbers without a venue may be on any form: each group of them stands alone. A group with numbers of two
        scales, or with people's numbers that are not of their form, has a ``NoScale``.
        """
        found: dict[tuple[Group, str], object] = {}
        wrong = {(form, what) for form, what, _ in self.wrong()}
        for group, what, form in self._counts:
            scale = self._scales[form, what]
            unknown: object = (form, group) if form == NO_FORM else form
            own = scale.allowed if scale is not None else unknown
            if any(value is not None for value in self._counts[group, what, form]):
                first = found.setdefault((group, what), own)
                if (group, what, form) in self._human and (form, what) in wrong:
                    found[group, what] = NoScale(WRONG_FORM, group)
                elif first != own and not isinstance(first, NoScale):
                    found[group, what] = NoScale(SEVERAL, group)
        return found

    def rank(self, case: ReviewCase) -> float | None:
        """Where a review's rating stands among its form's values, 0 to 1; None on an unknown form or outside it."""
        scale = self._scales.get((case.venue or NO_FORM, "rating"))
        if case.kind == "ai" and self._rated_on is not None:
            scale = self._rated_on
        return scale.rank(case.rating) if scale is not None and case.rating is not None else None

    def shares(self) -> Iterator[Shares]:
        """The distributions, by group, kind and form; a group without a number on a form has only its ``missing``."""
        for (group, what, form), counts in sorted(self._counts.items(), key=lambda one: (one[0][0].values, one[0][1:])):
            scale = self.scale(form, what)
            if scale is None:
                continue
            found = histogram((scale, value) for value in counts.elements())
            numbers = [value for value in counts.elements() if value is not None]
            yield Shares(
                group=group.label,
                what=what,
                form=form,
                known=scale.known,
                allowed=scale.allowed,
                counts=found.counts,
                off_scale={f"{value:g}": count for value, count in found.off_scale},
                off_scale_share=found.off_scale_share,
                missing=found.missing,
                mean=sum(numbers) / len(numbers) if numbers else None,
            )

    def _scale(self, case: ReviewCase, what: What) -> Scale | None:
        form = self._forms.of(case)
        return None if form is None else form_scale(form, what)


def form_scale(form: VenueForm, what: What) -> Scale | None:
    """The values a form offers for its rating or confidence; None where it asks for none."""
    if what == "rating":
        return scale_of(form)
    field = next((one for one in form.fields if one.aspect == "confidence" and one.kind == "score"), None)
    scale = scale_of(form, field.name) if field is not None else None
    return scale if scale is not None and scale.allowed else None
