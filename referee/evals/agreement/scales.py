"""The scale a rating was given on: the values a form offers, and guards against taking two scales for one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from referee.errors import DataError, EvaluationError
from referee.schemas.venue import FormField, VenueForm

# So many ratings may lie outside a form's values before the scale itself is doubted: typing errors, late changes.
MOST_OUTSIDE = 0.01


@dataclass(frozen=True, slots=True)
class Scale:
    """The values one field of a form offers, in rising order.

    ``known`` is False for a free scale: the form is unknown, and ``allowed`` are the values that were seen.
    """

    form: str
    field: str
    allowed: tuple[float, ...]
    accept_at: float | None = None
    known: bool = True

    @property
    def low(self) -> float:
        """The lowest value."""
        return self.allowed[0]

    @property
    def high(self) -> float:
        """The highest value."""
        return self.allowed[-1]

    @property
    def span(self) -> float:
        """Highest less lowest; 0 for a scale of one value."""
        return self.high - self.low

    @property
    def midpoint(self) -> float:
        """Halfway between the lowest and the highest value; the form need not offer it."""
        return (self.low + self.high) / 2

    def offers(self, value: float) -> bool:
        """Whether it is one of the values."""
        return value in self.allowed

    def spans(self, value: float) -> bool:
        """Whether it lies between the lowest and the highest value."""
        return self.low <= value <= self.high

    def rank(self, value: float) -> float | None:
        """Where it stands among the values, from 0 (the lowest) to 1; between two values in between; None outside."""
        if not self.spans(value) or len(self.allowed) < 2:
            return None
        below = max(i for i, allowed in enumerate(self.allowed) if allowed <= value)
        if below == len(self.allowed) - 1:
            return 1.0
        step = (value - self.allowed[below]) / (self.allowed[below + 1] - self.allowed[below])
        return (below + step) / (len(self.allowed) - 1)


def scale_of(form: VenueForm, field: str | None = None) -> Scale | None:
    """The scale of a score field, by default of the overall rating; None for a form without one.

    Raises:
        EvaluationError: The form has no score field of that name.
    """
    name = field or form.overall
    if name is None:
        return None
    known = next((f for f in form.fields if f.name == name and f.kind == "score"), None)
    if known is None:
        raise EvaluationError(
            f"the form {form.id!r} has no score field {name!r}.",
            hint=f"It has {', '.join(f.name for f in form.fields if f.kind == 'score') or 'none'}.",
            ids={"venue": form.id, "field": name},
        )
    return Scale(form.id, name, _values(known), form.accept_at if name == form.overall else None)


def free_scale(name: str, values: Iterable[float | None], field: str = "rating") -> Scale | None:
    """The scale of an unknown form: the values that were seen; None where there are none."""
    seen = sorted({float(value) for value in values if value is not None})
    return Scale(name, field, tuple(seen), known=False) if seen else None


def one_scale(scales: Iterable[Scale]) -> Scale:
    """The one scale that all of them are; forms of several years share one where they offer the same values.

    Raises:
        EvaluationError: There is none, or there are two; the message names the forms.
    """
    by_values: dict[tuple[float, ...], Scale] = {}
    for scale in scales:
        by_values.setdefault(scale.allowed, scale)
    if not by_values:
        raise EvaluationError("there is no rating scale to count on.", hint="Give ratings with a venue.")
    if len(by_values) > 1:
        named = ", ".join(f"{s.form!r} ({_shown(s.allowed)})" for s in by_values.values())
        raise EvaluationError(
            f"ratings on different scales cannot be counted together: {named}.",
            hint="Group by venue and year, or ask for ranks within each form (--compare-scales).",
            ids={"venues": ", ".join(s.form for s in by_values.values())},
        )
    return next(iter(by_values.values()))


def outside_share(scale: Scale, values: Sequence[float]) -> float | None:
    """The share of values that the form does not offer; None without values."""
    return sum(not scale.offers(value) for value in values) / len(values) if values else None


def check_scale(scale: Scale, values: Sequence[float], most: float = MOST_OUTSIDE) -> float | None:
    """``outside_share``, if it is small: more says that the ratings were given on another scale.

    Raises:
        DataError: More than ``most`` of the values are outside the form's.
    """
    share = outside_share(scale, values)
    if share is not None and scale.known and share > most:
        strange = sorted({value for value in values if not scale.offers(value)})
        raise DataError(
            f"{share:.1%} of {len(values)} ratings are no values of {scale.field!r} of the form {scale.form!r} "
            f"({_shown(scale.allowed)}): {_shown(strange[:6])}.",
            hint="They were given on another form: name the right venue and year.",
            ids={"venue": scale.form, "field": scale.field},
        )
    return share


def _values(field: FormField) -> tuple[float, ...]:
    return tuple(sorted(float(o.value) for o in field.options if not isinstance(o.value, str)))


def _shown(values: Sequence[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)
