"""What of a review set was left out, or read otherwise than it stands there, in sentences for whoever reads it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from referee.data.drafts import (
    BOXES_NOT_IN_TEXT,
    CONFIDENCE_UNREAD,
    DATE_UNREAD,
    RATING_UNREAD,
    SAME_COLUMNS,
    SCORES_IN_TEXT,
    SCORES_OFF_FORM,
    UNUSED_LINES,
    VENUE_NAMED,
    YEAR_UNREAD,
)
from referee.data.prose import LABEL_CHARS
from referee.schemas.case import ReviewCase

_MOST_NOTES = 3


class ReadingNotes:
    """Counts what of the reviews of a set was read from their texts, and what is there and could not be used.

    ``read_cases`` counts in ``no_reviews`` the records that are no reviews, by what they are; ``add`` counts a review.
    """

    def __init__(self) -> None:
        self.no_reviews: Counter[str] = Counter()
        self._empty = 0
        self._dates = 0
        self._years = 0
        self._placed: Counter[tuple[str, str]] = Counter()
        self._same_name: Counter[str] = Counter()
        self._unread: Counter[str] = Counter()
        self._confidences = 0
        self._off_form: Counter[str] = Counter()
        self._left_out: Counter[str] = Counter()
        self._from_text: Counter[str] = Counter()
        self._unused: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def add(self, case: ReviewCase) -> None:
        """Count one review."""
        if why := case.extra.get(RATING_UNREAD):
            self._unread[str(why)] += 1
        self._confidences += bool(case.extra.get(CONFIDENCE_UNREAD))
        self._off_form.update(case.extra.get(SCORES_OFF_FORM, ()))
        self._left_out.update(case.extra.get(BOXES_NOT_IN_TEXT, ()))
        self._empty += not case.text.strip()
        self._dates += bool(case.extra.get(DATE_UNREAD))
        self._years += bool(case.extra.get(YEAR_UNREAD))
        if named := case.extra.get(VENUE_NAMED):
            self._placed[str(named), case.venue or ""] += 1
        self._same_name.update(case.extra.get(SAME_COLUMNS, ()))
        self._from_text[case.source] += bool(case.extra.get(SCORES_IN_TEXT))
        for one in case.extra.get(UNUSED_LINES, ()):
            self._unused[case.source][one["reason"]] += 1

    def notes(self) -> Iterator[str]:
        """What was left out or read otherwise than it stands there, a sentence each without its full stop."""
        if self.no_reviews:
            each = ", ".join(f"{what} ({count:,})" for what, count in sorted(self.no_reviews.items()))
            yield f"{self.no_reviews.total():,} record(s) are no reviews and are left out: {each}"
        for (named, venue), count in sorted(self._placed.items()):
            yield f"{count:,} review(s) name the venue {named!r}, which is not known; they are read on {venue!r}"
        for name, count in sorted(self._same_name.items()):
            yield f"the column {name!r} of {count:,} row(s) is not read; another has its name in small letters"
        if self._empty:
            yield (
                f"{self._empty:,} review(s) have no text: their boxes are empty, or have names that are not known and "
                f"at most {LABEL_CHARS} characters"
            )
        if self._dates:
            yield f"{self._dates:,} date(s) cannot be read and count as missing"
        if self._years:
            yield f"{self._years:,} year(s) cannot be read and count as missing"
        for why, count in self._unread.most_common(_MOST_NOTES):
            yield f"{count:,} rating(s) cannot be read and count as missing: {why}"
        if (others := self._unread.total() - sum(count for _, count in self._unread.most_common(_MOST_NOTES))) > 0:
            yield f"{others:,} other rating(s) cannot be read and count as missing"
        if self._confidences:
            yield f"{self._confidences:,} confidence(s) cannot be read and count as missing"
        for name, count in sorted(self._off_form.items()):
            yield f"{count:,} value(s) of the score {name!r} are not on the venue's form and count as missing"
        for name, count in sorted(self._left_out.items()):
            yield f"the box {name!r} of {count:,} review(s) is not on the venue's form and is no part of the text"
        for source, count in sorted(self._from_text.items()):
            if count:
                yield f"{source}: scores of {count:,} review(s) are read from lines of their texts"
        for source, reasons in sorted(self._unused.items()):
            each = "; ".join(f"{why} ({count:,})" for why, count in reasons.most_common())
            yield (
                f"{source}: {reasons.total():,} line(s) of the texts look like scores and are not used: {each}. "
                f"They stand in extra.{UNUSED_LINES} of each review"
            )
