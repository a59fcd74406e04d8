"""Ratings and confidences as they come by: how each group's are spread over its form, and guards on two scales."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Literal

from referee.errors import EvaluationError
from referee.evals.agreement import Scale, check_scale, free_scale, histogram, scale_of
from referee.evals.forms import Forms
from referee.evals.profile.grouping import Group
from referee.evals.profile.result import Shares
from referee.schemas.case import ReviewCase
from referee.schemas.venue import VenueForm

What = Literal["rating", "confidence"]
WHATS: tuple[What, ...] = ("rating", "confidence")
NO_FORM = "no form"
SEVERAL = "several scales"


class RatingBook:
    """Counts of ratings by group and form; nothing of a review is kept but its number.

    Args:
        compare_scales: Let one group hold ratings of several scales; each form is then counted on its own.
        rated_on: The form that AI reviews rated on, where the data do not say.
        venue: The form of reviews that name no known venue.
    """

    def __init__(
        self, *, compare_scales: bool = False, rated_on: VenueForm | None = None, venue: VenueForm | None = None
    ) -> None:
        self._rated_on = form_scale(rated_on, "rating") if rated_on is not None else None
        self._forms = Forms(venue)
        self._across = compare_scales
        self._scales: dict[tuple[str, What], Scale | None] = {}
        self._counts: dict[tuple[Group, What, str], Counter[float | None]] = {}
        self._people: dict[tuple[str, What], Counter[float]] = {}
        self._first: dict[tuple[Group, What], str] = {}

    def add(self, group: Group, case: ReviewCase) -> None:
        """Count a review's rating and confidence.

        Raises:
            EvaluationError: Its group holds ratings of another scale; the message names both forms.
        """
        form = case.venue or NO_FORM
        for what, value in (("rating", case.rating), ("confidence", case.confidence)):
            kind: What = "rating" if what == "rating" else "confidence"
            if (form, kind) not in self._scales:
                self._scales[form, kind] = self._scale(case, kind)
            if value is not None:
                self._require_one_scale(group, form, kind)
                if case.kind == "human":
                    self._people.setdefault((form, kind), Counter())[value] += 1
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

    def check(self) -> None:
        """See that people's ratings are values of their form.

        Raises:
            DataError: More than one in a hundred is none: they were given on another form.
        """
        for (form, what), counts in self._people.items():
            scale = self._scales[form, what]
            if what == "rating" and scale is not None:
                check_scale(scale, list(counts.elements()))

    def scale(self, form: str, what: What = "rating") -> Scale | None:
        """The scale of a form: its own values, or those that were seen; None without any."""
        known = self._scales.get((form, what))
        if known is not None:
            return known
        seen = [value for (_, own, name), c in self._counts.items() if (own, name) == (what, form) for value in c]
        return free_scale(form, seen, what)

    def scales(self) -> Mapping[tuple[Group, str], object]:
        """What each group's numbers were given on, equal where two groups can be compared.

        Numbers without a venue may be on any form: each group of them stands alone.
        """
        found: dict[tuple[Group, str], object] = {}
        for group, what, form in self._counts:
            scale = self._scales[form, what]
            unknown: object = (form, group) if form == NO_FORM else form
            own = scale.allowed if scale is not None else unknown
            if any(value is not None for value in self._counts[group, what, form]):
                found[group, what] = own if found.setdefault((group, what), own) == own else (SEVERAL, group)
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

    def _require_one_scale(self, group: Group, form: str, what: What) -> None:
        first = self._first.setdefault((group, what), form)
        if self._across or first == form:
            return
        one, other = self._scales[first, what], self._scales[form, what]
        if one is not None and other is not None and one.allowed == other.allowed:
            return
        raise EvaluationError(
            f"the group {group.label!r} holds {what}s on two scales: {_named(first, one)} and {_named(form, other)}.",
            hint="Group by venue too (--by source,venue,year), or ask for ranks within each form (--compare-scales).",
            ids={"venues": f"{first}, {form}"},
        )


def form_scale(form: VenueForm, what: What) -> Scale | None:
    """The values a form offers for its rating or confidence; None where it asks for none."""
    if what == "rating":
        return scale_of(form)
    field = next((one for one in form.fields if one.aspect == "confidence" and one.kind == "score"), None)
    scale = scale_of(form, field.name) if field is not None else None
    return scale if scale is not None and scale.allowed else None


def _named(form: str, scale: Scale | None) -> str:
    values = ", ".join(f"{value:g}" for value in scale.allowed) if scale is not None else "an unknown form's values"
    return f"{form!r} ({values})"
