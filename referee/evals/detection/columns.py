"""Scores of many reviews as columns of numbers: all that stays in memory of a hundred thousand reviews.

A name (of a review, a paper, a model, a day) is kept once and stands in the columns as its place among all names in
their order, so that what is sorted by number is sorted by name, in whatever order files held it.

These are not the columns of ``evals.store``, which answer for means by group: here each score has to keep what made
it, and each review its form, day and text, since thresholds are held against them.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from referee.errors import EvaluationError
from referee.evals.detection.anchor import IS_ANCHOR
from referee.evals.grouping import year_of
from referee.schemas.case import ReviewCase
from referee.schemas.metric import MetricResult
from referee.stats.values import Floats

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

THE_ANCHOR = "the anchor itself"
"""The status of a review that is one of those it would be compared with: it is in no class of that detector."""

_ABOUT = ("review", "paper", "kind", "source", "form", "date", "text")
_MISSING = math.nan


@dataclass(frozen=True, slots=True)
class ScoredReview:
    """One review's score by one detector, with all that decides what it may be compared with.

    Attributes:
        review_id: Unique among reviews; rows that repeat one count once.
        paper_id: Its paper.
        kind: Who wrote it, as the data say.
        score: Oriented, higher is more likely AI; None where there is none.
        status: ``scored``, or why there is no score.
        made_by: Identity of the detector's models, text rule and settings, one string.
        form: The form it was written for; empty where unknown.
        source: ``human``, or the model that wrote it.
        date: ISO date or year of the review, as far as known.
        text_digest: Of its canonical text, to find one text under two labels.
        features: The numbers of detectors that need a classifier.
        cosines: By anchor model, of Anchor.
    """

    review_id: str
    paper_id: str
    kind: Literal["human", "ai", "unknown"]
    score: float | None
    status: str = "scored"
    made_by: str = ""
    form: str = ""
    source: str = ""
    date: str = ""
    text_digest: str = ""
    features: tuple[float, ...] = ()
    cosines: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Reviews:
    """What is known of reviews, a place each; columns hold places among ``names``.

    Attributes:
        names: All names, sorted; the first is the empty one.
        review: Ids; a review of two runs has two places and one id.
        paper: Papers.
        kind: ``human``, ``ai`` or ``unknown``.
        source: Who wrote it.
        form: The form it was written for.
        date: When, as far as known.
        text: Digest of the canonical text.
        labels: Columns of the data that were asked for, empty where a review has none.
        numbers: Ratings and such, NaN where there is none.
        columns: All columns that any review has.
    """

    names: Sequence[str]
    review: Ints
    paper: Ints
    kind: Ints
    source: Ints
    form: Ints
    date: Ints
    text: Ints
    labels: Mapping[str, Ints] = field(default_factory=dict)
    numbers: Mapping[str, Floats] = field(default_factory=dict)
    columns: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.review)

    def code(self, name: str) -> int:
        """The place of a name; -1 where nothing is called so."""
        at = bisect_left(self.names, name)
        return at if at < len(self.names) and self.names[at] == name else -1

    def named(self, codes: Ints) -> list[str]:
        """The different names in a column, sorted."""
        return [self.names[code] for code in np.unique(codes).tolist()]

    def is_kind(self, kind: str) -> Mask:
        """Whether each review is of this kind."""
        return np.asarray(self.kind == self.code(kind))

    def label(self, column: str) -> Ints:
        """A column of the data; all empty where it was not asked for."""
        return self.labels.get(column, np.zeros(len(self), dtype=np.int64))

    def once(self) -> Mask:
        """Whether each place is the first of its review."""
        first = np.zeros(len(self), dtype=bool)
        first[np.unique(self.review, return_index=True)[1]] = True
        return first


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """The scores of some reviews by one detector, a row each.

    Attributes:
        reviews: What is known of the reviews.
        at: The place of each row's review.
        score: NaN where there is none.
        status: Why, as a place among the names.
        made_by: Likewise, what made the score.
        features: (rows x numbers) of detectors with several, NaN where there are none; else no columns.
        cosines: (rows x anchors) of Anchor, NaN where an anchor is absent.
        anchors: The anchor models.
    """

    reviews: Reviews
    at: Ints
    score: Floats
    status: Ints
    made_by: Ints
    features: Floats
    cosines: Floats
    anchors: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.at)

    @property
    def scored(self) -> Mask:
        """Whether each row has a score."""
        return ~np.isnan(self.score)

    @property
    def featured(self) -> Mask:
        """Whether each row has the numbers of a detector with several."""
        missing = np.isnan(self.features).any(axis=1)
        return np.asarray(~missing & (self.features.shape[1] > 0))

    @property
    def papers(self) -> Ints:
        """The paper of each row."""
        return self.reviews.paper[self.at]

    @property
    def is_anchor(self) -> Mask:
        """Whether each row is of a review that is itself one of the anchors."""
        return np.asarray(self.status == self.reviews.code(THE_ANCHOR))

    def is_kind(self, kind: str) -> Mask:
        """Whether each row is of a review of this kind."""
        return self.reviews.is_kind(kind)[self.at]

    def where(self, wanted: Mask | Ints) -> ScoredRows:
        """These rows alone."""
        kept = {
            name: getattr(self, name)[wanted] for name in ("at", "score", "status", "made_by", "features", "cosines")
        }
        return replace(self, **kept)

    def of(self, reviews: Mask) -> ScoredRows:
        """The rows of these reviews, which are given by place."""
        return self.where(reviews[self.at])

    def review(self, row: int) -> str:
        """The id of a row's review."""
        return str(self.reviews.names[self.reviews.review[self.at[row]]])

    def once(self) -> ScoredRows:
        """Each review once: data sets repeat a human review for every model it is compared with.

        Raises:
            EvaluationError: One review has different scores.
        """
        ids = self.reviews.review[self.at]
        _, first, back = np.unique(ids, return_index=True, return_inverse=True)
        own = self.score[first][back.reshape(-1)]
        unlike = np.flatnonzero((own != self.score) & ~(np.isnan(own) & np.isnan(self.score)))
        if len(unlike):
            name, count = self.review(int(unlike[0])), int((ids == ids[unlike[0]]).sum())
            raise EvaluationError(
                f"review {name!r} has {count} rows with different scores.",
                hint="One id stands for several texts, or a score changed; score the set anew.",
                ids={"review": name},
            )
        return self.where(np.sort(first))


class ScoreTable:
    """Takes reviews and scores one by one, and gives them back as columns.

    Args:
        labels: Columns of the data that are kept.
        numbers: Numbers of reviews that are kept.
    """

    def __init__(self, labels: Iterable[str] = (), numbers: Iterable[str] = ()) -> None:
        self._codes = {"": 0}
        self._about = {name: array("i") for name in _ABOUT}
        self._labels = {name: array("i") for name in labels}
        self._numbers = {name: array("d") for name in numbers}
        self._scores: dict[str, _Scores] = {}
        self._columns: dict[str, None] = {}

    def __len__(self) -> int:
        return len(self._about["review"])

    def add(self, case: ReviewCase, digest: str = "", numbers: Mapping[str, float | None] | None = None) -> int:
        """Append a review; its place."""
        return self._add(
            (case.case_id, case.paper_id, case.kind, case.source, case.venue or "", date_of(case), digest),
            {name: str(value).strip() for name, value in case.extra.items() if value is not None},
            numbers or {},
        )

    def add_scored(self, row: ScoredReview, detector: str = "") -> None:
        """Append a review with its score."""
        about = (row.review_id, row.paper_id, row.kind, row.source, row.form, row.date, row.text_digest)
        self.put(self._add(about, {}, {}), detector, row)

    def put(self, place: int, detector: str, row: ScoredReview, *, final: bool = True) -> None:
        """Note the score of a review; of the row nothing else counts. The first final one stands, else the last.

        Raises:
            EvaluationError: A number of it is not finite.
        """
        for number in (row.score, *row.features, *row.cosines.values()):
            if number is not None and not math.isfinite(number):
                raise EvaluationError(
                    f"the score of review {row.review_id!r} is {number!r}, which is no finite number.",
                    hint="A score that could not be had is None with a status; mend the detector.",
                    ids={"review": row.review_id},
                )
        scores = self._scores.setdefault(detector, _Scores())
        scores.grow(len(self))
        if not scores.final[place]:
            scores.final[place] = final
            scores.set(place, row, self._code(row.status), self._code(row.made_by))

    def finished(self) -> tuple[Reviews, dict[str, ScoredRows]]:
        """The reviews, and the rows of each detector in the order of reviews."""
        names = sorted(self._codes)
        rank = np.empty(len(names), dtype=np.int64)
        rank[[self._codes[name] for name in names]] = np.arange(len(names))
        about = {name: rank[np.frombuffer(column, dtype=np.int32)] for name, column in self._about.items()}
        reviews = Reviews(
            names,
            **about,
            labels={name: rank[np.frombuffer(column, dtype=np.int32)] for name, column in self._labels.items()},
            numbers={name: np.frombuffer(column) for name, column in self._numbers.items()},
            columns=tuple(sorted(self._columns)),
        )
        return reviews, {name: scores.rows(reviews, rank) for name, scores in self._scores.items()}

    def _add(self, about: Sequence[str], labels: Mapping[str, str], numbers: Mapping[str, float | None]) -> int:
        for column, value in zip(self._about.values(), about, strict=True):
            column.append(self._code(value))
        self._columns.update(dict.fromkeys(labels))
        for name, label in self._labels.items():
            label.append(self._code(labels.get(name, "")))
        for name, values in self._numbers.items():
            held = numbers.get(name)
            values.append(_MISSING if held is None else held)
        return len(self) - 1

    def _code(self, name: str) -> int:
        return self._codes.setdefault(name, len(self._codes))


def rows_of(rows: Iterable[ScoredReview]) -> ScoredRows:
    """The rows of one detector as columns.

    Raises:
        EvaluationError: A score is not finite.
    """
    table = ScoreTable()
    for row in rows:
        table.add_scored(row)
    reviews, found = table.finished()
    return found.get("") or _Scores().rows(reviews, np.zeros(1, dtype=np.int64))


def scored_review(case: ReviewCase, result: MetricResult) -> ScoredReview:
    """The row of a detector's result on a review."""
    return replace(
        score_of(result),
        review_id=case.case_id,
        paper_id=case.paper_id,
        kind=case.kind,
        form=case.venue or "",
        source=case.source,
        date=date_of(case),
    )


def score_of(result: MetricResult) -> ScoredReview:
    """What a result alone says of a review: its score, and what made it."""
    details = result.details
    status = "scored" if result.value is not None else str(details.get("status", result.status))
    return ScoredReview(
        review_id=result.case_id,
        paper_id=result.paper_id,
        kind="unknown",
        score=result.value,
        status=THE_ANCHOR if result.reason == IS_ANCHOR else status,
        made_by=str(details.get("made_by", "")),
        text_digest=str(details.get("text_digest", "")),
        features=tuple(details.get("features", ())),
        cosines=details.get("cosines", {}),
    )


def date_of(case: ReviewCase) -> str:
    """ISO date of a review, else its year or that in its venue's name; empty where none is known."""
    year = year_of(case)
    return case.date or (str(year) if year is not None else "")


class _Scores:
    """The columns of one detector while they are filled; a status of -1 is no row."""

    def __init__(self) -> None:
        self.final = bytearray()
        self._score, self._status, self._made_by = array("d"), array("i"), array("i")
        self._features: list[array[float]] = []
        self._cosines: dict[str, array[float]] = {}

    def grow(self, size: int) -> None:
        """Have room for so many reviews."""
        more = size - len(self.final)
        self.final.extend(bytes(more))
        for column in (self._status, self._made_by):
            column.extend(array("i", [-1]) * more)
        for values in (self._score, *self._features, *self._cosines.values()):
            values.extend(array("d", [_MISSING]) * more)

    def set(self, place: int, row: ScoredReview, status: int, made_by: int) -> None:
        """Write a row over what is there."""
        self._status[place], self._made_by[place] = status, made_by
        self._score[place] = _MISSING if row.score is None else row.score
        while len(self._features) < len(row.features):
            self._features.append(self._empty())
        for at, number in enumerate(row.features):
            self._features[at][place] = number
        for name, cosine in row.cosines.items():
            self._cosines.setdefault(name, self._empty())[place] = cosine

    def rows(self, reviews: Reviews, rank: Ints) -> ScoredRows:
        """The rows that there are."""
        status, made_by = (np.frombuffer(c, dtype=np.int32).astype(np.int64) for c in (self._status, self._made_by))
        at = np.flatnonzero(status >= 0)
        anchors = tuple(sorted(self._cosines))
        return ScoredRows(
            reviews=reviews,
            at=at,
            score=np.frombuffer(self._score)[at],
            status=rank[status[at]],
            made_by=rank[made_by[at]],
            features=_side_by_side(self._features, at),
            cosines=_side_by_side([self._cosines[name] for name in anchors], at),
            anchors=anchors,
        )

    def _empty(self) -> array[float]:
        return array("d", [_MISSING]) * len(self.final)


def _side_by_side(columns: Sequence[array[float]], at: Ints) -> Floats:
    found = [np.frombuffer(column)[at] for column in columns]
    return np.column_stack(found) if found else np.empty((len(at), 0))
