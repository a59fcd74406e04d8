"""What a review states in numbers: rating and confidence, on the form's own values."""

from __future__ import annotations

from referee.evals.reading import Reading, ReadMetric

NO_RANK = "the form is unknown, or the rating lies outside of its values"
NO_RATING = "the review states no number"


def _stated_none(read: Reading) -> str:
    return NO_RATING


METRICS = (
    ReadMetric(
        "rating",
        "the overall rating, on the form's own values",
        unit="the form's values",
        range=(None, None),
        of=lambda read: read.case.rating,
        why=_stated_none,
        part="scores",
        scaled=True,
    ),
    ReadMetric(
        "confidence",
        "the reviewer's confidence, on the form's own values",
        unit="the form's values",
        range=(None, None),
        of=lambda read: read.case.confidence,
        why=_stated_none,
        part="scores",
        scaled=True,
    ),
    ReadMetric(
        "rating_rank",
        "the rating's rank among its form's values, 0 to 1",
        unit="fraction",
        range=(0.0, 1.0),
        of=lambda read: read.rank,
        why=lambda read: NO_RATING if read.case.rating is None else NO_RANK,
        part="ranks",
        variant_of="rating",
    ),
)
